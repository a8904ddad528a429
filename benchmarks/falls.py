"""Protected falls against limp ones: peak force of the ground and how the head comes down, by the whole loop.

python benchmarks/falls.py human --seeds 5          # 8 directions, both kinds, a line per fall, then the verdict
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from typing import Any

import numpy as np

from humanoid_balance.experiments.simulation import simulate
from humanoid_balance.experiments.skill import HeadWatch, peak_force
from humanoid_balance.loop import Tick
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.simulator import Simulator
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import STILL, Command

PUSH = 0.3  # when the push begins [s]
LASTS = 0.2  # [s]
LENGTH = 2.6  # of a run [s]: a fall takes half a second, and some to roll out
FAST = 1.0  # at which a head must not meet the ground [m/s]
EARLY = 0.2  # a fall shall be noticed so long before anything but the feet meets the ground [s]


class Watch:
    """Whether a mode fell, how fast the head met the ground, and whether it was the first part to do so."""

    def __init__(self) -> None:
        self.head_first = False
        self.head_speed = 0.0
        self.noticed = self.touched = math.nan  # when the mode fell, and when a part beside the feet met the ground [s]
        self._head: HeadWatch | None = None

    def command(self, stamp: float) -> Command:
        return STILL

    def see(self, tick: Tick, plant: Simulator) -> None:
        assert isinstance(plant, MujocoPlant)
        head = self._head = self._head or HeadWatch(plant)
        if tick.reference.mode == "falling" and not self.fell:
            self.noticed = tick.state.stamp
        self.head_speed = max(self.head_speed, head.look())
        if math.isnan(self.touched) and (parts := head.on_ground()):
            self.head_first = parts <= {head.head}
            self.touched = tick.state.stamp

    @property
    def fell(self) -> bool:
        return not math.isnan(self.noticed)

    @property
    def ahead(self) -> float:
        """How long before the first blow the fall was noticed [s]."""
        return self.touched - self.noticed


def fall(robot: str, kind: str, degrees: float, seed: int, dv: float) -> dict[str, Any]:
    """One push that no stance survives."""
    rng = np.random.default_rng(seed)
    push = PushProfile(dv * registry.load(robot).mass / LASTS, LASTS, degrees + rng.uniform(-10, 10), PUSH)
    watch = Watch()
    settings = RunSettings(robot, seed=seed, friction=rng.uniform(0.5, 1.0), fall=kind)
    run = simulate(settings, [push], LENGTH, operator=watch, to_the_end=True)
    return {
        "kind": kind, "degrees": degrees, "seed": seed, "fell": watch.fell, "peak_force": round(peak_force(run)),
        "head_speed": round(watch.head_speed, 2), "head_first": watch.head_first,
        "ahead": round(watch.ahead, 3) if watch.fell else None,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robot")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--dv", type=float, default=2.0, help="change of velocity by the push [m/s]")
    options = parser.parse_args()
    rows = []
    for seed in range(options.first, options.first + options.seeds):
        for degrees in range(0, 360, 45):
            for kind in ("limp", "protect"):
                rows.append(fall(options.robot, kind, degrees, seed, options.dv))
                print(json.dumps(rows[-1]), flush=True)
    for kind in ("limp", "protect"):
        falls = [row for row in rows if row["kind"] == kind and row["fell"]]
        bad = sum(row["head_first"] or row["head_speed"] > FAST for row in falls)
        force = statistics.median(row["peak_force"] for row in falls)
        early = sum(row["ahead"] >= EARLY for row in falls)
        print(
            f"{options.robot}, {kind}: {len(falls)} falls, peak force {force:.0f} N in the median, head {bad}, "
            f"noticed {EARLY:g} s before: {early}"
        )


if __name__ == "__main__":
    main()
