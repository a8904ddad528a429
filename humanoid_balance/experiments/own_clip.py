"""Clips that need nobody's data: recorded from the walking mode in simulation, or a normal person's walk, fitted."""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import metrics, walk
from humanoid_balance.experiments.simulation import Progress
from humanoid_balance.experiments.walk import BEGIN, Itinerary
from humanoid_balance.motions import normative
from humanoid_balance.motions.feet import runs
from humanoid_balance.motions.fit import limit_hits
from humanoid_balance.motions.parts import SIDES
from humanoid_balance.motions.retarget import RATE, retarget
from humanoid_balance.motions.robot_clip import RobotClip
from humanoid_balance.recording.run import Run
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import GRAVITY

SPEED = 0.1  # of sqrt(g h): 0.3 m/s for a body whose CoM is 0.95 m high, which all robots walk at
TURN = 0.3  # [rad/s]
LENGTH = 6.0  # of a recorded clip [s]


def _steps(robot: Robot) -> dict[str, Itinerary]:
    ahead = SPEED * math.sqrt(GRAVITY * robot.com_height)
    return {
        "walk": Itinerary(((BEGIN, (ahead, 0.0, 0.0)),)),
        "turn": Itinerary(((BEGIN, (ahead, 0.0, TURN)),)),
        "stop": Itinerary(((BEGIN, (ahead, 0.0, 0.0)), (BEGIN + LENGTH / 2, (0.0, 0.0, 0.0)))),
    }


def make(name: str, spec: str, progress: Progress | None = None) -> RobotClip:
    """A clip by its name, for a robot."""
    robot = registry.load(spec)
    if name == "normative":
        return retarget(normative.walk(), robot)
    run = walk.run(RunSettings(robot=spec, time=BEGIN + LENGTH), _steps(robot)[name], progress=progress)
    record = run.record
    if run.result["fell"]:
        raise InputError(f"robot '{spec}' fell after {run.result['time']:.1f} s; allowed for '{name}': one that walks")
    rows = [round((BEGIN + k / RATE) / run.dt) for k in range(round(LENGTH * RATE))]
    standing = metrics.loaded(record)[rows]
    contacts = {f"{side}_foot": standing[:, k] for k, side in enumerate(SIDES)}
    q = record["true_q"][rows]
    report = {
        "robot": robot.spec, "frames": len(rows), "rate": RATE, "duration": (len(rows) - 1) / RATE,
        "slip_max": metrics.slip(record), "penetration_max": _deepest(run), "limit_hits": limit_hits(q, robot),
        "joint_error_rms": None,
        "contacts": {n: {"share": float(f.mean()), "count": len(runs(f))} for n, f in contacts.items()},
        "slower": 1.0, "scale": 1.0, "seconds": run.wall,
    }  # fmt: skip
    return RobotClip(name, robot.spec, robot.joint_names, RATE, q, contacts, report)


def _deepest(run: Run) -> float:
    """How far a sole's corner was in the ground, which is a little soft [m]."""
    place, turned = run.record["true_sole_position"], run.record["true_sole_rotation"]
    corners = np.einsum("ksij,scj->ksci", turned, np.array(run.robot.soles)) + place[:, :, None]
    return max(0.0, -float(corners[..., 2].min()))
