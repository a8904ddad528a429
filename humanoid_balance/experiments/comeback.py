"""The whole loop: walk, fall, get up, walk on. When a robot that fell stood again, and when it walked on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from humanoid_balance.recording.run import Run
from humanoid_balance.types import Array, Flags

STANDS = 0.9  # of the standing CoM height: so tall, and upright, it has got up
NEAR = 0.6  # a trunk that leans less stands [rad]
GOING = 2.0  # it walks on when it has gone so long without a fall, to the end of the run [s] ...
OBEYS = 0.3  # ... and its speed over that time is so near to the commanded one, as a share of it
WALKING = "walking"


def standing(run: Run) -> Flags:
    """Ticks in which the body is as tall as it stands, and upright (k,)."""
    record = run.record
    flags: Flags = (record["true_com"][:, 2] > STANDS * run.robot.com_height) & (record["true_lean"] < NEAR)
    return flags


def since(times: Array, flags: Flags) -> float:
    """Since when a flag has been set without a break, to the end; not a number where it is not [s]."""
    down = np.flatnonzero(~flags)
    if len(down) == 0:
        return float(times[0])
    return float(times[down[-1] + 1]) if down[-1] + 1 < len(times) else math.nan


def figures(run: Run) -> dict[str, Any]:
    """``fell_at``, ``upright_at`` (for good), ``walking_at`` (for good, and as fast as commanded): seconds or None."""
    record = run.record
    times, fell = record["time"], record["true_fell"]
    if not fell.any():
        return {"fell_at": None, "upright_at": None, "walking_at": None}
    upright = since(times, standing(run))
    changes = [(t, name) for t, name in record.mode_changes if t <= times[-1]]
    walking = changes[-1][0] if changes and changes[-1][1] == WALKING else math.nan
    if math.isnan(upright) or math.isnan(walking) or walking > times[-1] - GOING or not _obeys(run):
        walking = math.nan
    return {"fell_at": _told(float(times[np.argmax(fell)])), "upright_at": _told(upright), "walking_at": _told(walking)}


def _obeys(run: Run) -> bool:
    """The speed over the last seconds is the commanded one."""
    times, com = run.record["time"], run.record["true_com"][:, :2]
    last = times > times[-1] - GOING
    speed = float(np.linalg.norm(com[last][-1] - com[last][0])) / GOING
    wanted = 0.0 if run.commanded is None else float(np.linalg.norm(run.commanded[-1][:2]))
    return wanted > 0.0 and abs(speed - wanted) < OBEYS * wanted


def _told(time: float) -> float | None:
    return None if math.isnan(time) else round(time, 3)


def story(result: dict[str, Any]) -> str:
    """What followed a fall, in a line."""
    if result["upright_at"] is None:
        return f"down after {result['fell_at']:.2f} s, does not stand again"
    on = "does not walk on" if result["walking_at"] is None else f"walks on after {result['walking_at']:.2f} s"
    return f"down after {result['fell_at']:.2f} s, stands after {result['upright_at']:.2f} s, {on}"
