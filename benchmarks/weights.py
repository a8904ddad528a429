"""A_theta only redistributes the motion (spec K3): shoulder weights 1.5, 0.15 and 0.015 in Kudoh's policy.

    python benchmarks/weights.py [--workers 2]

KE1 for each weight: how far the arms swing, how far the CoM's path is from that of the thesis's weight, and the largest
0.1 s push that is held in place, forward and backward, reacting 0.2 s late.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import yaml

from humanoid_balance.experiments.push import run
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings

import numpy as np  # isort: skip  # after the package, which sees to it that linear algebra takes one thread

WEIGHTS = (1.5, 0.15, 0.015)
SLIP = 0.01  # of a foot that counts as a step [m]
IMPULSES = range(26, 46)  # tried one after the other until one is not held [N s]


def human(weight: float, folder: Path) -> str:
    """Specification of a human whose shoulders have this weight."""
    config = yaml.safe_load((registry.config_folder() / "robots" / "human.yaml").read_text())
    config["joints"]["*_shoulder_*"]["weight"] = weight
    path = folder / f"human_{weight}.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return str(path)


def settings(robot: str) -> RunSettings:
    return RunSettings(robot=robot, strategy="in-place", policy="kudoh", delay=0.2, time=5.0)


def swing(robot: str) -> tuple[float, np.ndarray]:
    """Excursion of the left shoulder in KE1 [rad] and the path of the CoM [m]."""
    record = run(settings(robot), [PushProfile(300, 0.1, 0)]).record
    joint = record.robot.joint_names.index("l_shoulder_pitch")
    angle = record["q"][:, 7 + joint]
    return float(np.abs(angle - angle[0]).max()), record["true_com"]


def limit(robot: str, direction: float) -> int:
    """Largest impulse held [N s]."""
    held = 0
    for impulse in IMPULSES:
        result = run(settings(robot), [PushProfile(impulse / 0.1, 0.1, direction)]).result
        if result["fell"] or result["feet_slip_max"] > SLIP:
            break
        held = impulse
    return held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(options.workers) as pool:
        robots = [human(weight, Path(folder)) for weight in WEIGHTS]
        swings = list(pool.map(swing, robots))
        forward = list(pool.map(limit, robots, [0.0] * 3))
        backward = list(pool.map(limit, robots, [180.0] * 3))
    thesis = swings[1][1]
    print("weight   arm swing [rad]   CoM path apart, rms [mm]   limit at 0 / 180 deg [N s]")
    for weight, (angle, path), *limits in zip(WEIGHTS, swings, forward, backward, strict=True):
        ticks = min(len(path), len(thesis))
        apart = 1e3 * float(np.sqrt(np.mean(np.sum((path[:ticks] - thesis[:ticks]) ** 2, axis=1))))
        print(f"{weight:6g}   {angle:15.2f}   {apart:24.1f}   {limits[0]} / {limits[1]}")


if __name__ == "__main__":
    main()
