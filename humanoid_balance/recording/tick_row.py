"""A tick of the loop and the truth beside it as one row of numbers, the same for every tick of a robot."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_balance.layout import Layout
from humanoid_balance.loop import Tick
from humanoid_balance.plants.truth import Truth
from humanoid_balance.recording.body_columns import as_body
from humanoid_balance.types import Array, BodyReference, FootReference, RobotState, SensorFrame, TorqueCommand
from humanoid_balance.wholebody.solution import Solution

Columns = dict[str, NDArray[np.int64]]  # name of a quantity -> its columns in the row

PARTS: dict[str, type] = {
    "frame": SensorFrame, "state": RobotState, "wanted": TorqueCommand, "sent": TorqueCommand, "truth": Truth,
}  # fmt: skip
NOWHERE = np.full(3, np.nan), np.full((3, 3), np.nan)


class TickRow:
    """``columns`` are named after the box and the field: ``state.com``, ``sent.torque``, ``reference.posture``."""

    def __init__(self, n: int) -> None:
        self._layouts: dict[str, Layout[Any]] = {name: Layout(kind, n) for name, kind in PARTS.items()}
        self.columns: Columns = {}
        self.width = 0
        for part, layout in self._layouts.items():
            for path, place in layout.places.items():
                self._reserve(f"{part}.{path}", math.prod(place.shape))
        for name, size in (*reference_sizes(n), *VERDICT):
            self._reserve(name, size)

    def _reserve(self, name: str, size: int) -> None:
        self.columns[name] = np.arange(self.width, self.width + size)
        self.width += size

    def put(self, tick: Tick, truth: Truth, row: Array) -> None:
        """Fill a row (width,)."""
        start = 0
        for layout, data in zip(
            self._layouts.values(), (tick.frame, tick.state, tick.wanted, tick.sent, truth), strict=True
        ):
            layout.put(data, row[start : start + layout.width])
            start += layout.width
        rest = (*reference_values(as_body(tick.reference)), *verdict(tick.solution))
        np.concatenate(rest, axis=None, out=row[start:])


# ---- what the mode wants: a BodyReference without its stack and its footholds ----


def reference_sizes(n: int) -> Iterator[tuple[str, int]]:
    sizes = {"contact": 2, "load_max": 2, "com_acceleration": 3, "com_weight": 3, "angular_momentum_rate": 3,
             "momentum_weight": 3, "torso_rotation": 9, "torso_velocity": 3, "posture": n, "posture_velocity": n,
             "posture_acceleration": n, "zmp_margin": 1, "left.position": 3, "left.rotation": 9, "right.position": 3,
             "right.rotation": 9}  # fmt: skip
    return ((f"reference.{name}", size) for name, size in sizes.items())


def reference_values(wanted: BodyReference) -> tuple[Any, ...]:
    """In the order of ``reference_sizes``."""
    return (
        wanted.contact, wanted.load_max, wanted.com_acceleration, wanted.com_weight, wanted.angular_momentum_rate,
        wanted.momentum_weight, wanted.torso_rotation, wanted.torso_velocity, wanted.posture, wanted.posture_velocity,
        wanted.posture_acceleration, wanted.zmp_margin, *_pose(wanted.feet[0]), *_pose(wanted.feet[1]),
    )  # fmt: skip


def _pose(foot: FootReference | None) -> tuple[Array, Array]:
    return NOWHERE if foot is None else (foot.position, foot.rotation)


# ---- the verdict of the whole-body QP ----

VERDICT = (
    ("solution.residuals", 3),
    ("solution.iterations", 1),
    ("solution.com_residual", 3),
    ("solution.wrenches", 12),
)
NO_VERDICT = (np.full(sum(size for _, size in VERDICT), np.nan),)


def verdict(solution: Solution | None) -> tuple[Any, ...]:
    """In the order of ``VERDICT``; NaN where the QP was not asked."""
    if solution is None:
        return NO_VERDICT
    found = solution.residuals
    return found.primal, found.dual, found.gap, solution.iterations, solution.com_residual, solution.wrenches


def verdict_words(solution: Solution | None) -> dict[str, str]:
    """Topic -> text: how the QP ended, and which constraints held its optimum back."""
    if solution is None:
        return {"/solution/status": "not asked", "/solution/active": ""}
    return {"/solution/status": solution.status.value, "/solution/active": ", ".join(solution.active)}
