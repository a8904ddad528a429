"""Parameters of a node: declared with description, unit and range, refused with their name when they are wrong.

A bad value in a parameter file does not stop the node from starting: it is refused when the node is configured, and can
be put right with ``ros2 param set`` before the next try.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from humanoid_balance.errors import InputError
from humanoid_balance.nodes.executables import NODES

Value = bool | int | float | str | list[Any]


@dataclass(frozen=True)
class Entry:
    """One parameter. The description carries the unit in brackets."""

    name: str
    default: Value
    description: str
    low: float | None = None
    high: float | None = None
    or_else: float | None = None  # allowed beside the range, as a word of its own
    choices: tuple[str, ...] = ()
    of: type = str  # entries of a list
    live: bool = False  # may change while the node is active

    @property
    def allowed(self) -> str:
        """What may be given, in words."""
        if self.choices:
            return ", ".join(self.choices)
        if isinstance(self.default, list):
            return "a list of names" if self.of is str else "a list of whole numbers"
        kind = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[type(self.default)]
        if self.low is None:
            return kind
        return f"{kind} from {self.low:g} to {self.high:g}" + (
            f", or {self.or_else:g}" if self.or_else is not None else ""
        )

    def wrong(self, value: Any) -> str:
        """Why a value cannot be used; empty when it can."""
        return "" if self._fits(value) else f"parameter '{self.name}' is {value!r}; allowed: {self.allowed}"

    def _fits(self, value: Any) -> bool:
        if isinstance(self.default, list):
            return not isinstance(value, str | bytes) and isinstance(value, Sequence) and self._fit_all(value)
        if isinstance(self.default, bool) or isinstance(value, bool):
            return isinstance(self.default, bool) and isinstance(value, bool)
        if isinstance(self.default, str):
            return isinstance(value, str) and (not self.choices or value in self.choices)
        whole = isinstance(self.default, int)
        if not isinstance(value, int if whole else int | float) or not math.isfinite(value):
            return False
        if self.or_else is not None and value == self.or_else:
            return True
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def _fit_all(self, values: Sequence[Any]) -> bool:
        return all(isinstance(v, self.of) and not isinstance(v, bool) for v in values)

    def descriptor(self) -> ParameterDescriptor:
        """What ``ros2 param describe`` shows."""
        told = ParameterDescriptor(
            name=self.name,
            description=self.description,
            additional_constraints=f"allowed: {self.allowed}" + ("; may change while active" if self.live else ""),
            dynamic_typing=True,  # 500 is as good as 500.0; types are checked here
        )
        if self.low is not None and self.high is not None:
            low = self.low if self.or_else is None else min(self.low, self.or_else)  # rclpy knows one interval only
            if isinstance(self.default, int):
                told.integer_range = [IntegerRange(from_value=int(low), to_value=int(self.high))]
            else:
                told.floating_point_range = [FloatingPointRange(from_value=float(low), to_value=float(self.high))]
        return told


class Parameters:
    """The declared parameters of a node; ``changed`` is called with each live value that was set while it runs."""

    def __init__(self, node: Node, entries: Iterable[Entry], frozen: Callable[[], bool]) -> None:
        self._node, self._frozen = node, frozen
        self._entries = {entry.name: entry for entry in entries}
        self._refused: dict[str, str] = {}
        self.changed: Callable[[str, Any], None] = lambda name, value: None
        for entry in self._entries.values():
            self._declare(entry)
        node.add_on_set_parameters_callback(self._may_set)
        node.add_post_set_parameters_callback(self._was_set)

    def _declare(self, entry: Entry) -> None:
        given = self._node._parameter_overrides.get(entry.name)  # rclpy does not tell which value it refuses
        try:
            self._node.declare_parameter(entry.name, entry.default, entry.descriptor())
        except (InvalidParameterValueException, InvalidParameterTypeException):
            self._node.declare_parameter(entry.name, entry.default, entry.descriptor(), ignore_override=True)
            self._refused[entry.name] = entry.wrong(given.value if given is not None else None)

    def check(self) -> None:
        """Raise what is wrong with the present values, if anything; a name that nobody knows is one, too."""
        for name in self._node._parameter_overrides:
            if not self._node.has_parameter(name) and name not in _of_all_nodes():  # a file may be for all of them
                near = difflib.get_close_matches(name, self._entries, 1)
                hint = f"did you mean '{near[0]}'?" if near else f"allowed: {', '.join(self._entries)}"
                raise InputError(f"parameter '{name}' does not exist; {hint}")
        for name, entry in self._entries.items():
            wrong = self._refused.get(name) or entry.wrong(self._node.get_parameter(name).value)
            if wrong:
                raise InputError(wrong)

    def __getitem__(self, name: str) -> Any:
        value = self._node.get_parameter(name).value
        entry = self._entries[name]
        if isinstance(entry.default, list):
            return list(value)
        return float(value) if isinstance(entry.default, float) else value

    def _may_set(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            entry = self._entries.get(parameter.name)
            if entry is None:
                continue  # one of rclpy's own
            wrong = entry.wrong(parameter.value)
            if not wrong and self._frozen() and not entry.live:
                wrong = f"parameter '{entry.name}' cannot change while the node is active; deactivate it first"
            if wrong:
                return SetParametersResult(successful=False, reason=wrong)
        return SetParametersResult(successful=True)

    def _was_set(self, parameters: list[Parameter]) -> None:
        for parameter in parameters:
            if parameter.name in self._entries:
                self._refused.pop(parameter.name, None)
                self.changed(parameter.name, self[parameter.name])


@cache
def _of_all_nodes() -> frozenset[str]:
    """Names of the parameters of every node; loaded only when a name is not this node's."""
    modules = (import_module(f"humanoid_balance.nodes.{name}") for name in NODES)
    return frozenset(entry.name for module in modules for entry in module.ENTRIES)
