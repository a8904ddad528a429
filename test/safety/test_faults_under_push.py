"""Faults while a push is not reported, really happening, or falsely reported: what is still caught, and how soon.

    python test/safety/test_faults_under_push.py [ROBOT]        # the table of docs/hardware.md

A column must not be worse than the first because of what the estimator says about pushes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import SafetyBox
from humanoid_balance.types import Array, SensorFrame, TorqueCommand
from humanoid_balance.wholebody.controller import WholeBody

ONSET = 0.4  # of the fault [s]
WATCHED = 0.6  # so long after it [s]
PUSHES = ("none", "real", "false")
DV = 0.4  # of the real push, 0.2 s long, from 50 ms before the fault [m/s]


@dataclass
class Fault:
    """What becomes of a frame and a torque from the onset on; ``start`` is the last good frame."""

    sense: Callable[[SensorFrame, SensorFrame, int], SensorFrame] = lambda frame, start, joint: frame
    drive: Callable[[Array, Array, int], Array] = lambda torque, limit, joint: torque


def at(values: Array, joint: int, value: float) -> Array:
    values = values.copy()
    values[joint] = value
    return values


def mirrored(frame: SensorFrame, start: SensorFrame, joint: int) -> SensorFrame:
    position = at(frame.position, joint, 2.0 * start.position[joint] - frame.position[joint])
    return replace(frame, position=position, velocity=at(frame.velocity, joint, -frame.velocity[joint]))


def stuck(frame: SensorFrame, start: SensorFrame, joint: int) -> SensorFrame:
    position = at(frame.position, joint, start.position[joint])
    return replace(frame, position=position, velocity=at(frame.velocity, joint, 0.0))


def silent(frame: SensorFrame, start: SensorFrame, joint: int) -> SensorFrame:
    rows = (at(values, joint, np.nan) for values in (frame.position, frame.velocity, frame.torque))
    return replace(frame, **dict(zip(("position", "velocity", "torque"), rows, strict=True)))


def flipped(torque: Array, limit: Array, joint: int) -> Array:
    return at(torque, joint, -torque[joint])


def flipped_reading(frame: SensorFrame, start: SensorFrame, joint: int) -> SensorFrame:
    return replace(frame, torque=at(frame.torque, joint, -frame.torque[joint]))


FAULTS = {
    "motor turns the wrong way": Fault(drive=flipped),
    "the same, torque from its own current": Fault(flipped_reading, flipped),
    "drive gone mad: full torque": Fault(drive=lambda torque, limit, joint: at(torque, joint, limit[joint])),
    "motor gives nothing": Fault(drive=lambda torque, limit, joint: at(torque, joint, 0.0)),
    "encoder with the wrong sign": Fault(mirrored),
    "encoder stuck": Fault(stuck),
    "joint silent": Fault(silent),
    "IMU not a number": Fault(lambda f, s, j: replace(f, gyro=np.full(3, np.nan), acceleration=np.full(3, np.nan))),
    "IMU frozen": Fault(lambda f, s, j: replace(f, gyro=s.gyro, acceleration=s.acceleration)),
}


@dataclass(frozen=True)
class Outcome:
    """Why and when the box tripped (None: not at all), and how far the joint was from where it began by then."""

    trip: str | None
    where: str
    after: float  # the onset [ms]
    travel: float  # [rad]
    fell: bool

    def __str__(self) -> str:
        if self.trip is None:
            return f"not caught, {'falls' if self.fell else 'stays up'}, {self.travel:.2f} rad"
        return f"{self.trip}, {self.after:.0f} ms, {self.travel:.2f} rad"


def run(robot: Robot, fault: Fault | None, push: str, joint: int) -> Outcome:
    pushes = [PushProfile(DV * robot.mass / 0.2, 0.2, 0.0, ONSET - 0.05)] if push == "real" else []
    plant = MujocoPlant(robot, PlantOptions(noise=1.0), pushes)
    estimator, balance, wholebody, box = Estimator(robot), Supervisor(robot), WholeBody(robot), SafetyBox(robot)
    box.arm()
    box.activate(plant.read().torque)
    start, travel, fell, began = plant.read(), 0.0, False, 0.0
    for _ in range(round((ONSET + WATCHED) / plant.dt)):
        frame = plant.read()
        faulty = fault is not None and frame.stamp >= ONSET
        if not faulty:
            start, began = frame, plant.truth().joint_position[joint]
        elif fault is not None:
            frame = fault.sense(frame, start, joint)
        state = estimator.update(frame)
        if push == "false":
            state = replace(state, push=replace(state.push, active=True, onset=0.0))
        sent = box.update(frame, state, wholebody.update(state, balance.update(state)))
        travel = max(travel, abs(float(plant.truth().joint_position[joint] - began)))
        fell = fell or plant.fell()
        if box.trip is not None:
            return Outcome(box.trip.what, box.trip.where, 1e3 * (frame.stamp - ONSET), travel, fell)
        if faulty and fault is not None:
            sent = replace(sent, torque=fault.drive(made(sent, frame), robot.torque_limit, joint))
        plant.write(sent)
    return Outcome(None, "", np.inf, travel, fell)


def made(sent: TorqueCommand, frame: SensorFrame) -> Array:
    assert not sent.stiffness.any() and not sent.damping.any()  # nothing brakes before the trip
    return sent.torque


def joints(robot: Robot) -> dict[str, int]:
    """The strongest joint, which is in a leg, and one of an arm."""
    arm = int(robot.groups["arms"][len(robot.groups["arms"]) // 4]) if "arms" in robot.groups else robot.n - 3
    return {robot.joint_names[i]: i for i in (int(np.argmax(robot.torque_limit)), arm)}


@pytest.fixture(scope="module")
def robot() -> Robot:
    return registry.load("g1")


CAUGHT = {  # by what, within [ms]
    "drive gone mad: full torque": (("motor gives what", "joint outside", "joint too fast"), 35),
    "joint silent": (("joint does not answer", "no usable sensors"), 22),
    "IMU not a number": (("no usable sensors",), 25),
}


@pytest.mark.parametrize("push", ["real", "false"])
@pytest.mark.parametrize("name", CAUGHT)
def test_a_fault_is_caught_whatever_is_said_about_pushes(robot: Robot, name: str, push: str) -> None:
    whats, within = CAUGHT[name]
    outcome = run(robot, FAULTS[name], push, int(np.argmax(robot.torque_limit)))
    assert outcome.trip is not None and outcome.trip.startswith(whats), outcome
    assert outcome.after <= within


@pytest.mark.slow
@pytest.mark.guard
@pytest.mark.parametrize("spec", ["human", "talos", "g1"])
@pytest.mark.parametrize("push", PUSHES)
def test_without_a_fault_nothing_trips(spec: str, push: str) -> None:
    outcome = run(registry.load(spec), None, push, 3)
    assert outcome.trip is None and not outcome.fell


@pytest.mark.slow
@pytest.mark.guard
@pytest.mark.parametrize("name", FAULTS)
def test_a_false_report_of_a_push_delays_no_trip(robot: Robot, name: str) -> None:
    for joint in joints(robot).values():
        honest, false = (run(robot, FAULTS[name], push, joint) for push in ("none", "false"))
        assert (honest.trip is None) == (false.trip is None), (honest, false)
        if honest.trip is not None:
            assert false.after <= honest.after + 100.0, (honest, false)


def main() -> None:
    robot = registry.load(sys.argv[1] if len(sys.argv) > 1 else "g1")
    print("| fault | joint | " + " | ".join(f"push: {push}" for push in PUSHES) + " |\n|---|---|---|---|---|")
    for name, fault in FAULTS.items():
        for joint, index in joints(robot).items():
            cells = [str(run(robot, fault, push, index)) for push in PUSHES]
            print(f"| {name} | {joint} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
