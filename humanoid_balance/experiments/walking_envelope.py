"""The envelope of a walk: the largest push it survives in each direction, at several phases of the step.

A push is survived when the walk goes on at the commanded velocity afterwards; each run is the one that
``humanoid-balance walk --push ... --push-phase P`` makes of the same numbers.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from typing import Any

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import envelope, walk
from humanoid_balance.experiments.envelope import Check, EnvelopeSettings, Progress

PUSHED = 2.4  # the step after this time is the one that is pushed [s]: the walk has its speed
AFTER = 5.0  # a run ends so long after the push [s]: ten steps
MOST = 64  # phases of a step


@dataclass(frozen=True)
class WalkingSettings:
    search: EnvelopeSettings
    velocity: float  # forward [m/s]
    phases: tuple[float, ...]  # shares of the step at which pushes begin


def phases(count: int) -> tuple[float, ...]:
    """Evenly over the step, from the landing on."""
    if not 1 <= count <= MOST:
        raise InputError(f"phases is {count}; allowed: 1 to {MOST}")
    return tuple(k / count for k in range(count))


def explore(settings: WalkingSettings, progress: Progress | None = None) -> dict[str, Any]:
    """The JSON object of ``humanoid-balance envelope --walking``."""
    search = settings.search
    mass, spec = (body := envelope.pushed(search)).mass, body.spec
    pushes = [WalkingPush(settings, angle, phase) for angle in search.angles for phase in settings.phases]
    found = envelope.search_all(pushes, mass, search.resolution, search.workers, progress)
    dv, count = [impulse / mass for impulse, _ in found], len(settings.phases)
    rows = []
    for k, angle in enumerate(search.angles):
        mine = dv[k * count : (k + 1) * count]
        rows.append(
            {"direction": angle, "dv_min": min(mine), "dv_median": statistics.median(mine), "phases": mine}
        )  # fmt: skip
    return {
        "robot": spec,
        "mass": mass,
        "strategy": search.world.strategy,
        "velocity": settings.velocity,
        "duration": search.duration,
        **envelope.place(search, body),
        "phase": list(settings.phases),
        "directions": rows,
    }


@dataclass(frozen=True)
class WalkingPush:
    settings: WalkingSettings
    direction: float  # [deg]
    phase: float

    def attempt(self, impulse: float, check: Check) -> int | None:
        """The steps that it took to be as fast as commanded again; None if it fell or never was."""
        search = self.settings.search
        script = walk.Itinerary(((walk.BEGIN, (self.settings.velocity, 0.0, 0.0)),))
        push = search.push(impulse, self.direction, PUSHED)
        world = replace(search.world, time=PUSHED + search.duration + AFTER)
        steps: int | None = walk.run(world, script, [push], self.phase, check).result["steps_to_recover"]
        return steps
