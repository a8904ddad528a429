"""The data on the arrows as rows of numbers, and back. The classes themselves declare how.

A ``float`` or a ``bool`` is one number, ``Annotated[Array, 2, 3]`` an array of that shape, a dataclass its fields, a
tuple of dataclasses or None each of them in turn (``feet.0.position``; None is NaN). What is not a number (texts, lists
of any length) has no column and is given beside the row. Messages, logs and records are built on this, so no field is
listed twice and no offset is written by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass, replace
from operator import attrgetter
from types import NoneType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from humanoid_balance.types import Array, Flags, Joints, UpTo

Data = TypeVar("Data")


@dataclass(frozen=True)
class Place:
    """Where a field stands in the row, and what it is."""

    columns: slice
    shape: tuple[int, ...]  # () is a single number
    flag: bool  # true or false
    open: bool  # of changing size: rows of NaN fill it up

    def filled(self, value: Array) -> Array:
        whole = np.full(self.shape, np.nan)
        whole[: len(value)] = value
        return whole

    def read(self, row: Array) -> Any:
        array = row[self.columns]
        if not self.shape:
            number = array.item()
            return number > 0.5 if self.flag else number
        if len(self.shape) > 1:
            array = array.reshape(self.shape)
            if self.open:
                return array[~np.isnan(array[:, 0])]
        return array > 0.5 if self.flag else array


@dataclass(frozen=True)
class Several:
    """Where a tuple of dataclasses stands, each of which may be None."""

    parts: tuple[tuple[Layout[Any], slice], ...]  # and the columns of each

    def flat(self, values: tuple[Any, ...]) -> Array:
        rows = zip(self.parts, values, strict=True)
        return np.concatenate(
            [layout.nothing if value is None else layout.row(value) for (layout, _), value in rows], axis=None
        )

    def read(self, row: Array) -> tuple[Any, ...]:
        found = ((layout, row[columns]) for layout, columns in self.parts)
        return tuple(None if np.isnan(part).all() else layout.data(part) for layout, part in found)


class Layout(Generic[Data]):
    """Rows of one class, for a robot with ``n`` joints. ``places`` goes by path: ``com``, ``push.force``."""

    def __init__(self, kind: type[Data], n: int) -> None:
        self.kind, self.n = kind, n
        self.places: dict[str, Place] = {}
        self.width = 0
        self._paths: list[str] = []  # of the attributes that fill a row, in order
        self._made: list[tuple[int, Callable[[Any], Array]]] = []  # those that are not put as they are, and how
        self._plan = self._lay_out(kind, "")
        self._get = attrgetter(*self._paths)
        self.nothing = np.full(self.width, np.nan)

    def _lay_out(self, kind: type, prefix: str) -> list[tuple[str, Any]]:
        """Name and place of each field; of one that is a dataclass itself, its class and the same for it."""
        plan: list[tuple[str, Any]] = []
        for name, hint in declared(kind):
            if is_dataclass(hint):
                plan.append((name, (hint, self._lay_out(hint, f"{prefix}{name}."))))  # type: ignore[arg-type]
                continue
            self._paths.append(prefix + name)
            if kinds := parts_of(hint):
                several = self._several(kinds, prefix + name)
                self._made.append((len(self._paths) - 1, several.flat))
                plan.append((name, several))
                continue
            dimensions = getattr(hint, "__metadata__", ())
            shape = tuple(_size(dimension, self.n) for dimension in dimensions)
            flag = hint is bool or getattr(hint, "__origin__", None) == Flags
            columns = slice(self.width, self.width + math.prod(shape))
            place = Place(columns, shape, flag, any(isinstance(d, UpTo) for d in dimensions))
            if place.open:
                self._made.append((len(self._paths) - 1, place.filled))
            self.places[prefix + name] = place
            plan.append((name, place))
            self.width = columns.stop
        return plan

    def _several(self, kinds: tuple[type, ...], path: str) -> Several:
        parts = []
        for k, kind in enumerate(kinds):
            layout: Layout[Any] = Layout(kind, self.n)
            for inner, place in layout.places.items():
                columns = slice(self.width + place.columns.start, self.width + place.columns.stop)
                self.places[f"{path}.{k}.{inner}"] = replace(place, columns=columns)
            parts.append((layout, slice(self.width, self.width + layout.width)))
            self.width += layout.width
        return Several(tuple(parts))

    def put(self, data: Data, row: Array) -> None:
        """Fill a row (width,)."""
        values = list(self._get(data))
        for k, made in self._made:
            values[k] = made(values[k])
        np.concatenate(values, axis=None, out=row)

    def row(self, data: Data) -> Array:
        """A new row (width,)."""
        row = np.empty(self.width)
        self.put(data, row)
        return row

    def data(self, row: Array, **beside: Any) -> Data:
        """The object again; its arrays are views of the row. ``beside``: its fields that have no columns."""
        built: Data = _built(self.kind, self._plan, row, beside)
        return built


def declared(kind: type) -> Iterator[tuple[str, Any]]:
    """Name and declaration of the fields that hold numbers."""
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if hint in (float, int, bool) or hasattr(hint, "__metadata__") or is_dataclass(hint) or parts_of(hint):
            yield name, hint


def parts_of(hint: Any) -> tuple[type, ...]:
    """The dataclasses of a ``tuple[A | None, B | None]``; nothing for any other declaration."""
    if get_origin(hint) is not tuple:
        return ()
    kinds = [set(get_args(part)) - {NoneType} for part in get_args(hint) if NoneType in get_args(part)]
    found: tuple[Any, ...] = tuple(kind for only in kinds if len(only) == 1 for kind in only if is_dataclass(kind))
    return found if len(found) == len(get_args(hint)) else ()


def _built(kind: type, plan: list[tuple[str, Any]], row: Array, beside: dict[str, Any]) -> Any:
    given = dict(beside)
    for name, place in plan:
        if name in beside:
            continue
        if isinstance(place, Place | Several):
            given[name] = place.read(row)
        else:
            of, inner = place
            given[name] = _built(of, inner, row, {})
    return kind(**given)


def _size(dimension: Any, n: int) -> int:
    if isinstance(dimension, Joints):
        return n + dimension.more
    return int(dimension.most if isinstance(dimension, UpTo) else dimension)
