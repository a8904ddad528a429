"""Pushes at the hips, the chest and a shoulder beside those at the CoM: limits, and what a robot keeps of them.

    python benchmarks/places.py [--robot human] [--directions 4] [--duration 0.2] [--share 0.7] [--limits] [--workers 2]

First the largest push at CoM height that is survived, in each direction; then pushes of ``--share`` of it at each place
(or, with ``--limits``, the largest there, too), and by how much the robot has turned about the vertical at the end.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.verdicts import report
from humanoid_balance.experiments import envelope, push
from humanoid_balance.experiments.envelope import EnvelopeSettings
from humanoid_balance.plants.push_place import links
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import Array

SHOULDER = {"human": "l_upper_arm", "talos": "arm_left_2_link", "g1": "left_shoulder_roll_link"}
CHEST = 0.75  # height of the chest, as a share of the way from the CoM to the shoulder
SPUN = math.radians(45.0)  # a robot that has turned by more spun away
RESOLUTION = 0.06  # of the velocity change [m/s]


@dataclass(frozen=True)
class Place:
    name: str
    link: str | None
    height: float | None  # above the ground [m]


def places(robot: Robot, name: str) -> list[Place]:
    """The CoM first. Hips are where the legs begin; all are at the body's middle but the shoulder."""
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, robot.q_nominal)

    def height(link: str) -> float:
        return float(pin.updateFramePlacement(robot.model, data, robot.model.getFrameId(link)).translation[2])

    shoulder = height(SHOULDER[name])
    hips = max(float(data.oMi[joint].translation[2]) for joint in _hips(robot))
    chest = robot.com_height + CHEST * (shoulder - robot.com_height)
    return [
        Place("CoM", None, None),
        Place("hips", links(robot)[0], hips),
        Place("chest", robot.config.torso, chest),
        Place("shoulder", SHOULDER[name], None),
    ]


def _hips(robot: Robot) -> list[int]:
    """The first joints of both legs."""
    found = []
    for frame in robot.sole_frames:
        joint = robot.model.frames[frame].parentJoint
        while robot.model.parents[joint] > 1:
            joint = robot.model.parents[joint]
        found.append(joint)
    return found


@dataclass(frozen=True)
class Episode:
    settings: EnvelopeSettings
    place: str
    direction: float  # [deg]
    impulse: float  # [N s]; zero: the largest is looked for
    mass: float

    @property
    def name(self) -> str:
        wanted = f"dv {self.impulse / self.mass:.2f}" if self.impulse else "limit"
        return f"{self.place:9} {self.direction:5.0f} deg, {wanted}"


def attempt(episode: Episode) -> tuple[bool, str]:
    if not episode.impulse:
        most, steps = limit(episode)
        return most > 0.0, f"dv {most / episode.mass:.2f} m/s, {most:.0f} N s, {steps} steps"
    profile = episode.settings.push(episode.impulse, episode.direction)
    run = push.run(episode.settings.world, [profile])
    turned = abs(float(headings(run.record["true_q"])[-1]))
    result = run.result
    good = not result["fell"] and turned < SPUN
    end = "fell" if result["fell"] else f"up, recovered after {result['recovery_time']} s"
    return good, f"{end}, {result['steps']} steps, turned {math.degrees(turned):.0f} deg"


def limit(episode: Episode) -> tuple[float, int]:
    """The largest impulse that is survived [N s], and its steps."""
    mass = episode.mass

    def survived(impulse: float) -> int | None:
        return envelope.survive(episode.settings, episode.direction, impulse)

    return envelope.largest(survived, envelope.GUESS * mass, RESOLUTION * mass, envelope.BEYOND * mass)


def headings(q: Array) -> Array:
    """How far the base has turned about the vertical since the start [rad]; ``q``: (ticks, nq)."""
    x, y, z, w = q[:, 3:7].T
    turned: Array = np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
    return turned - turned[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", choices=SHOULDER, default="human")
    parser.add_argument("--directions", type=int, default=4)
    parser.add_argument("--duration", type=float, default=0.2, help="of each push [s]")
    parser.add_argument("--share", type=float, default=0.7, help="of the limit at the CoM")
    parser.add_argument("--limits", action="store_true", help="look for the limit at each place")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    robot = registry.load(options.robot)
    world = RunSettings(robot=options.robot, seed=options.seed)
    com, *others = places(robot, options.robot)

    def episode(place: Place, direction: float, impulse: float) -> Episode:
        settings = EnvelopeSettings(
            world, options.directions, options.duration, link=place.link, height=place.height
        )  # fmt: skip
        return Episode(settings, place.name, direction, impulse, robot.mass)

    angles = [360.0 * k / options.directions for k in range(options.directions)]
    print(", ".join(f"{place.name} {place.height or 0.0:.2f} m" for place in others[:2]))
    known = [limit(episode(com, angle, 0.0))[0] for angle in angles]
    for angle, most in zip(angles, known, strict=True):
        print(f"     {com.name:9} {angle:5.0f} deg, limit                  dv {most / robot.mass:.2f} m/s", flush=True)
    episodes = [
        episode(place, angle, 0.0 if options.limits else options.share * most)
        for place in others
        for angle, most in zip(angles, known, strict=True)
    ]
    report(episodes, attempt, options.workers)


if __name__ == "__main__":
    main()
