"""Time one tick of this package's whole-body controller on the benchmark scene. Prints one JSON line."""

from __future__ import annotations

import argparse
import gc
import json
import time
from dataclasses import replace

import numpy as np
import pinocchio as pin

from benchmarks import scene
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference, Push, RobotState, Stack
from humanoid_balance.wholebody.controller import WholeBody

STACK = Stack("benchmark", (("com",), ("torso", "momentum"), ("posture",)))
BOTH = np.array([True, True])


def state_at(robot: Robot, q: Array, v: Array, stamp: float) -> RobotState:
    """What an ideal estimator would give."""
    model, data = robot.model, robot.data
    pin.ccrba(model, data, q, v)
    com, momentum = data.com[0].copy(), data.hg.vector.copy()
    pin.updateFramePlacements(model, data)
    soles = [data.oMf[frame] for frame in robot.sole_frames]
    none, push = np.full(3, np.nan), Push(False, np.zeros(3), np.nan, 0.0, 0.0, np.nan)
    return RobotState(
        stamp, True, (), q, v, com, momentum[:3] / robot.mass, np.zeros(3), momentum[3:], np.zeros(3), com, robot.omega,
        np.array([s.translation for s in soles]), np.array([s.rotation for s in soles]), np.zeros((2, 6)), BOTH,
        np.ones(2), np.zeros((2, 6)), np.zeros((2, 3)), none, none, none, none, np.zeros((0, 2)),
        np.array([0.0, 0.0, 1.0]), 0.0, push,
    )  # fmt: skip


def first_reference(robot: Robot) -> BodyReference:
    pin.framesForwardKinematics(robot.model, robot.data, robot.q_nominal)
    rotation = robot.data.oMf[robot.torso_frame].rotation.copy()
    return BodyReference(
        stamp=0.0, mode="benchmark", stack=STACK, contact=BOTH, load_max=np.full(2, 1.5),
        com_acceleration=np.zeros(3), com_weight=np.ones(3), angular_momentum_rate=np.zeros(3),
        momentum_weight=np.full(3, 0.1), torso_rotation=rotation, torso_velocity=np.zeros(3), feet=(None, None),
        posture=robot.posture, posture_velocity=np.zeros(robot.n), posture_acceleration=np.zeros(robot.n),
        zmp_margin=0.0,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", default="talos")
    parser.add_argument("--ticks", type=int, default=2000)
    parser.add_argument("--warmup", type=int, default=200)
    args = parser.parse_args()
    robot = registry.load(args.robot)
    wholebody, reference = WholeBody(robot), first_reference(robot)
    omega = robot.omega
    k, d = (scene.COM * omega) ** 2, 2 * scene.COM * omega
    q, v = robot.q_nominal.copy(), np.zeros(robot.model.nv)
    com = robot.com_nominal
    times = []
    gc.collect()
    gc.freeze()
    for i in range(args.warmup + args.ticks):
        t = i * scene.DT
        state = state_at(robot, q, v, t)
        wanted = com + scene.com_offset(t)
        acceleration = k * (wanted - state.com) - d * state.com_velocity
        rate = -scene.MOMENTUM * omega * state.angular_momentum
        reference = replace(reference, stamp=t, com_acceleration=acceleration, angular_momentum_rate=rate)
        start = time.perf_counter_ns()
        command = wholebody.update(state, reference)
        elapsed = time.perf_counter_ns() - start
        solution = wholebody.solution
        if solution is None or solution.status.value != "solved" or not np.isfinite(command.torque).all():
            raise RuntimeError(f"tick {i}: {solution and solution.status}")
        if i >= args.warmup:
            times.append(elapsed)
        a = solution.acceleration
        q = pin.integrate(robot.model, q, v * scene.DT + a * (scene.DT**2 / 2))
        v = v + a * scene.DT
    us = np.array(times) / 1e3
    print(json.dumps({
        "name": "ours", "robot": robot.name, "median_us": round(float(np.median(us)), 1),
        "p99_us": round(float(np.percentile(us, 99)), 1), "max_us": round(float(us.max()), 1), "ticks": len(us),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
