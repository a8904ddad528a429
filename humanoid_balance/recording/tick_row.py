"""A tick of the loop and the truth beside it as one row of numbers, the same for every tick of a robot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from humanoid_balance.layout import Layout
from humanoid_balance.loop import Tick
from humanoid_balance.plants.truth import Truth
from humanoid_balance.types import (
    Array,
    BodyReference,
    JointReference,
    RobotState,
    SensorFrame,
    TorqueCommand,
    Vector,
)
from humanoid_balance.wholebody.solution import Residuals, Solution

Columns = dict[str, NDArray[np.int64]]  # name of a quantity -> its columns in the row


@dataclass(frozen=True, slots=True)
class Verdict:
    """The numbers of a ``Solution``: what the whole-body QP says of its own answer."""

    residuals: Residuals
    iterations: int
    com_residual: Vector  # CoM acceleration reached less wanted [m/s²]
    wrenches: Annotated[Array, 2, 6]  # planned, of the soles, in and about the sole frame [N, N m]

    @staticmethod
    def of(solution: Solution | None) -> Verdict | None:
        if solution is None:
            return None
        return Verdict(solution.residuals, solution.iterations, solution.com_residual, solution.wrenches)


# A mode answers with one of the two references; the other one is NaN, as the verdict is where the QP was not asked.
PARTS: dict[str, type] = {
    "frame": SensorFrame, "state": RobotState, "wanted": TorqueCommand, "sent": TorqueCommand, "truth": Truth,
    "reference": BodyReference, "joint_reference": JointReference, "solution": Verdict,
}  # fmt: skip


class TickRow:
    """``columns`` are named after the box and the field: ``state.com``, ``sent.torque``, ``reference.posture``."""

    def __init__(self, n: int) -> None:
        self._layouts: dict[str, Layout[Any]] = {name: Layout(kind, n) for name, kind in PARTS.items()}
        self.columns: Columns = {}
        self.width = 0
        for part, layout in self._layouts.items():
            for path, place in layout.places.items():
                columns = np.arange(self.width, self.width + math.prod(place.shape))
                self.columns[f"{part}.{path}"] = columns
                self.width += columns.size

    def put(self, tick: Tick, truth: Truth, row: Array) -> None:
        """Fill a row (width,)."""
        wanted, joints = tick.reference, isinstance(tick.reference, JointReference)
        parts = (
            tick.frame, tick.state, tick.wanted, tick.sent, truth,
            None if joints else wanted, wanted if joints else None, Verdict.of(tick.solution),
        )  # fmt: skip
        start = 0
        for layout, data in zip(self._layouts.values(), parts, strict=True):
            here = row[start : start + layout.width]
            if data is None:
                here[:] = np.nan
            else:
                layout.put(data, here)
            start += layout.width


def verdict_words(solution: Solution | None) -> dict[str, str]:
    """Topic -> text: how the QP ended, and which constraints held its optimum back."""
    if solution is None:
        return {"/solution/status": "not asked", "/solution/active": ""}
    return {"/solution/status": solution.status.value, "/solution/active": ", ".join(solution.active)}
