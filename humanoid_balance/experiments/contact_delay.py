"""How long after a foot really left or met the ground the estimator said so.

The truth is the ground's force on the sole: none, or some. A sole that bounces is off the ground for milliseconds; the
estimator may follow that or not, so it is not scored, only changes that last are. A change that is told without any in
truth is chatter.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from humanoid_balance.recording.record import Record
from humanoid_balance.types import Flags

TOUCH = 1e-3  # share of the weight that counts as touching
BOUNCE = 0.015  # a state shorter than this is a bounce or a scuff [s]
LONGEST = 0.06  # a change told later than this was not told [s]


@dataclass(frozen=True)
class ContactDelays:
    """Seconds; negative: told before the force was gone. A change that was never told counts as LONGEST."""

    landings: list[float]
    lift_offs: list[float]
    chatter: int  # changes told that did not happen


def contact_delays(record: Record) -> ContactDelays:
    """Scores both feet of a run, until the robot has fallen."""
    time = record["time"]
    end = int(np.argmax(record["true_fell"])) if record["true_fell"].any() else record.length
    landings: list[float] = []
    lift_offs: list[float] = []
    chatter = 0
    for foot in range(2):
        touching = record["true_sole_force"][:end, foot, 2] > TOUCH * record.robot.weight
        told = _changes(record["contact"][:end, foot] > 0.5)
        raw = np.array([k for k, _ in _changes(touching)])
        for k, down in _changes(_without_bounces(touching, round(BOUNCE / _step(record)))):
            near = [j for j, sense in told if sense == down and abs(time[j] - time[k]) < LONGEST]
            if time[end - 1] - time[k] < LONGEST and not near:
                continue  # the run was over before it could be told
            delay = min((float(time[j] - time[k]) for j in near), key=abs, default=LONGEST)
            (landings if down else lift_offs).append(delay)
        chatter += sum(not (raw.size and np.abs(time[raw] - time[j]).min() < LONGEST) for j, _ in told)
    return ContactDelays(landings, lift_offs, chatter)


def _changes(flags: Flags) -> list[tuple[int, bool]]:
    """Samples at which a flag changes, and to what."""
    return [(int(k) + 1, bool(flags[k + 1])) for k in np.flatnonzero(flags[1:] != flags[:-1])]


def _without_bounces(touching: Flags, shortest: int) -> Flags:
    """Short times in the air are filled; then short touches are taken out."""
    out = touching.copy()
    for kind in (False, True):
        edges = [0, *(k for k, _ in _changes(out)), len(out)]
        for a, b in pairwise(edges[1:-1]):  # the first and the last state are as they are
            if b - a < shortest and bool(out[a]) is kind:
                out[a:b] = not kind
    return out


def _step(record: Record) -> float:
    time = record["time"]
    return float(time[1] - time[0]) if record.length > 1 else 1e-3
