"""What a robot does on the ground, by the whole loop: a line of JSON per run, then how many went well.

python benchmarks/skills.py g1 recover --start fallen --runs 20    # where random falls end
python benchmarks/skills.py human "get up" --runs 20               # starts as the skill begins, perturbed
python benchmarks/skills.py g1 walk --runs 20                      # walks, is knocked over, gets up, walks on

The seed of a run decides its start, its noise and its friction (0.5 to 1.0); a row is the seeds from --seed on.
"""

from __future__ import annotations

import argparse
import json
import statistics
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from humanoid_balance.experiments import skill, walk
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import GRAVITY

WALK = "walk"  # the whole loop
HIT = 3.0  # when the push begins, at the earliest; one second later at the latest [s]
LASTS = 0.2  # [s]
AFTER = 24.0  # time to fall, to get up and to walk on [s]
ENOUGH = 4.0  # it walks on when it has done so for this long; the run is over then [s]


def friction(seed: int) -> float:
    """Evenly spread, however few seeds there are (golden ratio)."""
    return 0.5 + 0.5 * (0.618034 * seed % 1.0)


def play(robot: str, name: str, start: str | None, seed: int) -> dict[str, Any]:
    """One skill."""
    result = skill.run(RunSettings(robot=robot, seed=seed, friction=friction(seed)), name, start).result
    keys = ("success", "time", "peak_force", "head_speed_max", "torque_ratio_max", "ends", "refused")
    return {key: result[key] for key in keys} | {"modes": [name for _, name in result["modes"]]}


def whole(robot: str, velocity: float, seed: int) -> dict[str, Any]:
    """Walks, is knocked over from a random side, gets up by itself, walks on."""
    rng, model = np.random.default_rng(seed), registry.load(robot)
    force = skill.KNOCK * np.sqrt(GRAVITY * model.com_height) * model.mass / LASTS
    push = PushProfile(float(force), LASTS, float(rng.uniform(0, 360)), HIT + float(rng.uniform(0, 1)))
    settings = RunSettings(robot=robot, seed=seed, friction=friction(seed), get_up="auto", time=push.end + AFTER)
    orders = walk.Itinerary(((walk.BEGIN, (velocity, 0.0, 0.0)),))
    result = walk.run(settings, orders, [push], enough=ENOUGH).result
    keys = ("fell", "fell_at", "upright_at", "walking_at")
    found = {key: result.get(key) for key in keys} | {"direction": round(push.direction)}
    return {"success": not found["fell"] or found["walking_at"] is not None, "time": found["walking_at"], **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robot")
    parser.add_argument("name", help="of a skill, recover, or walk")
    parser.add_argument("--start", choices=skill.STARTS)
    parser.add_argument("--velocity", type=float, default=0.4, help="walk: forward [m/s]")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    one = (
        partial(whole, options.robot, options.velocity)
        if options.name == WALK
        else partial(play, options.robot, options.name, options.start)
    )
    rows, seeds = [], range(options.seed, options.seed + options.runs)
    with ProcessPoolExecutor(options.workers) as pool:
        for seed, row in zip(seeds, pool.map(one, seeds), strict=True):
            rows.append(row)
            print(json.dumps({"seed": seed, "friction": round(friction(seed), 2), **row}), flush=True)
    good = [row for row in rows if row["success"]]
    times = [row["time"] for row in good if row["time"] is not None]
    up = sum(row.get("fell") is False for row in rows)
    fell = f", {up} of them did not fall" if up else ""
    took = f", {statistics.median(times):.1f} s in the median, {max(times):.1f} s at most" if times else ""
    print(f"{options.robot}, {options.name}: {len(good)} of {len(rows)}{fell}{took}")


if __name__ == "__main__":
    main()
