"""What a walk looked like, from its record: landings, strides, speed, heading, cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from humanoid_balance.experiments import metrics
from humanoid_balance.recording.run import Run
from humanoid_balance.types import GRAVITY, Array

SETTLED = 3.0  # speeds are measured from this time on [s]
AIRBORNE = 0.06  # a shorter time without load is no step [s]
BACK_TO_IT = 0.1  # a walk is recovered when the speed of its strides is this near to the command for good [m/s]


@dataclass(frozen=True)
class Footfall:
    row: int  # of the record
    foot: int


class Way:
    """The way of the CoM and of the feet, as they really were."""

    def __init__(self, run: Run, landings: list[Footfall]) -> None:
        self.run, self.record, self.landings = run, run.record, landings
        self.time = run.record["time"]
        assert run.commanded is not None
        self.commanded = run.commanded

    @staticmethod
    def of(run: Run) -> Way:
        record = run.record
        standing, shortest = metrics.loaded(record), max(1, round(AIRBORNE / run.dt))
        found = [
            Footfall(end, foot)
            for foot in range(2)
            for _, end in metrics.phases(~standing[:, foot], shortest)
            if end < record.length
        ]
        return Way(run, sorted(found, key=lambda landing: landing.row))

    @cached_property
    def heading(self) -> Array:
        """Mean of the two soles, without jumps [rad]."""
        rotation = self.record["true_sole_rotation"]
        angles = np.unwrap(np.arctan2(rotation[:, :, 1, 0], rotation[:, :, 0, 0]), axis=0)
        mean: Array = angles.mean(axis=1)
        return mean - mean[0]

    @cached_property
    def wanted_heading(self) -> Array:
        """What the commanded turn adds up to [rad]."""
        total: Array = np.cumsum(self.commanded[:, 2]) * self.run.dt
        return total

    @cached_property
    def _own_velocity(self) -> Array:
        """Of the CoM along and across the heading (k, 2) [m/s]."""
        v, c, s = self.record["true_com_velocity"], np.cos(self.heading), np.sin(self.heading)
        return np.stack([c * v[:, 0] + s * v[:, 1], c * v[:, 1] - s * v[:, 0]], axis=1)

    @property
    def speeds(self) -> Array:
        """Forward, left [m/s] and turn [rad/s], tick by tick (k, 3)."""
        turn = np.gradient(self.heading, self.run.dt) if len(self.heading) > 1 else np.zeros(len(self.heading))
        return np.column_stack([self._own_velocity, turn])

    @property
    def distance(self) -> float:
        """Of the CoM, from the start [m]."""
        com = self.record["true_com"]
        return float(np.linalg.norm((com[-1] - com[0])[:2]))

    @property
    def step_time(self) -> float | None:
        """Median from landing to landing [s]."""
        return float(np.median(np.diff(self.time[self._rows]))) if len(self.landings) > 1 else None

    @property
    def step_length(self) -> float | None:
        """Median distance of a landed foot from the other one, along the heading [m]."""
        if len(self.landings) < 2:
            return None
        sole, lengths = self.record["true_sole_position"], []
        for landing in self.landings:
            k, foot = landing.row, landing.foot
            dx, dy = (sole[k, foot] - sole[k, 1 - foot])[:2]
            lengths.append(math.cos(self.heading[k]) * dx + math.sin(self.heading[k]) * dy)
        return float(np.median(lengths))

    @property
    def _rows(self) -> list[int]:
        return [landing.row for landing in self.landings]

    def _window(self) -> tuple[int, int]:
        """Rows from the first landing after SETTLED to the last one of the same foot; whole strides have no sway."""
        settled = [landing for landing in self.landings if self.time[landing.row] >= SETTLED]
        same = [landing.row for landing in settled if landing.foot == settled[0].foot]
        if len(same) > 1:
            return same[0], same[-1]
        last = self.record.length - 1
        return min(int(np.searchsorted(self.time, SETTLED)), last // 2), last

    def velocity(self) -> tuple[list[float], float | None]:
        """Measured mean (forward, left, turn) and the largest relative error of what was commanded."""
        a, b = self._window()
        seconds = max(float(self.time[b] - self.time[a]), self.run.dt)
        turn = float(self.heading[b] - self.heading[a]) / seconds
        found = [*self._own_velocity[a:b].mean(axis=0).tolist(), turn]
        wanted = self.commanded[a:b].mean(axis=0)
        errors = [abs(f - w) / abs(w) for f, w in zip(found, wanted.tolist(), strict=True) if abs(w) > 1e-3]
        return found, max(errors, default=None)

    def heading_error(self) -> float:
        """Difference of heading and commanded heading over the last two steps [rad]."""
        rows = self._rows
        a, b = (rows[-3], rows[-1]) if len(rows) > 2 else (0, self.record.length)
        return abs(float((self.heading[a:b] - self.wanted_heading[a:b]).mean()))

    def phase(self, stamp: float) -> float | None:
        """Share of its step at which something happened, from one landing to the next."""
        times = self.time[self._rows]
        k = int(np.searchsorted(times, stamp, side="right"))
        if k == 0 or k == len(times):
            return None
        return round(float((stamp - times[k - 1]) / (times[k] - times[k - 1])), 3)

    def steps_to_recover(self, end: float) -> int | None:
        """Steps from the end of the last push until strides are as fast as commanded, for good; None if not."""
        if math.isnan(end) or self.record["true_fell"].any():
            return None
        after = [landing for landing in self.landings if self.time[landing.row] > end]
        off = 0
        for count, (before, landing) in enumerate(zip(after, after[2:], strict=False), start=3):
            a, b = before.row, landing.row
            error = self._own_velocity[a:b].mean(axis=0) - self.commanded[a:b, :2].mean(axis=0)
            if np.linalg.norm(error) > BACK_TO_IT:
                off = count
        return off if len(after) > off else None

    def cost_of_transport(self) -> float | None:
        """Positive mechanical work of the joints over weight and distance of the CoM's path."""
        q = self.record["true_q"][:, 7:]
        speed = np.gradient(q, self.run.dt, axis=0) if len(q) > 1 else np.zeros_like(q)
        work = float(np.clip(self.record["true_torque"] * speed, 0.0, None).sum() * self.run.dt)
        path = float(np.linalg.norm(self.record["true_com_velocity"][:, :2], axis=1).sum() * self.run.dt)
        return work / (self.run.robot.mass * GRAVITY * path) if path > 0.1 else None

    def odometry(self) -> dict[str, Any]:
        """How far the estimate is off at the end: share of the way, and heading [deg]."""
        com, true = self.record["com"], self.record["true_com"]
        off = float(np.linalg.norm(((com[-1] - com[0]) - (true[-1] - true[0]))[:2]))
        path = float(np.linalg.norm(self.record["true_com_velocity"][:, :2], axis=1).sum() * self.run.dt)
        yaw = [_yaw(self.record[key][-1]) - _yaw(self.record[key][0]) for key in ("q", "true_q")]
        return {
            "odometry_drift": off / path if path > 0.1 else None,
            "yaw_drift_deg": math.degrees(math.remainder(yaw[0] - yaw[1], math.tau)),
        }


def _yaw(q: Array) -> float:
    x, y, z, w = q[3:7].tolist()
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
