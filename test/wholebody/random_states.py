"""Random states and references: bodies in motion near their stance, on both feet, the left or the right."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from wholebody.harness import reference_at, state_at

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import BodyReference, FootReference, RobotState, Stack

STACKS = (
    Stack("a", (("feet", "com"), ("torso", "momentum"), ("posture",))),
    Stack("b", (("com",), ("feet", "torso"), ("momentum",), ("posture",))),
    Stack("c", (("feet", "com"), ("kudoh",))),
    Stack("d", (("feet", "com", "momentum"), ("torso", "posture"))),
)


def random_case(robot: Robot, rng: np.random.Generator, effort: float = 1.0) -> tuple[RobotState, BodyReference]:
    """A state and a reference. ``effort`` scales what is asked: about 1 is feasible mostly, 5 is not."""
    model, data = robot.model, robot.data
    feet = [(True, True), (True, False), (False, True)][rng.integers(3)]
    q = robot.q_nominal.copy()
    room = np.minimum(robot.posture - robot.lower, robot.upper - robot.posture)
    q[7:] += rng.normal(size=robot.n) * np.minimum(0.08, 0.4 * room)
    q[7:] = np.clip(q[7:], robot.lower, robot.upper)
    pin.framesForwardKinematics(model, data, q)
    stance = robot.sole_frames[0 if feet[0] else 1]
    tilt = pin.SE3(pin.rpy.rpyToMatrix(*(0.03 * rng.normal(size=2)), rng.uniform(-3, 3)), rng.uniform(-5, 5, size=3))
    base = tilt * data.oMf[stance].inverse() * pin.SE3(pin.Quaternion(q[3:7]).toRotationMatrix(), q[:3])
    q[:7] = pin.SE3ToXYZQUAT(base)
    v = np.concatenate([0.1 * rng.normal(size=6), 0.3 * rng.normal(size=robot.n)])
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    J = np.vstack(
        [pin.getFrameJacobian(model, data, robot.sole_frames[s], pin.ReferenceFrame.LOCAL) for s in range(2) if feet[s]]
    )
    v -= 0.98 * np.linalg.pinv(J) @ (J @ v)
    state = state_at(robot, q, v, contact=feet)
    support = state.support.mean(axis=0)
    away = np.concatenate([state.com[:2] - support, [0.0]])
    swing: list[FootReference | None] = [None, None]
    for side in range(2):
        if not feet[side]:
            swing[side] = FootReference(
                state.sole_position[side] + 0.01 * effort * rng.normal(size=3), state.sole_rotation[side],
                0.1 * effort * rng.normal(size=6), 0.5 * effort * rng.normal(size=6),
            )  # fmt: skip
    reference = reference_at(
        robot, state, stack=STACKS[rng.integers(len(STACKS))],
        contact=np.array(feet), feet=tuple(swing),
        com_acceleration=away * 9.81 / robot.com_height + effort * 0.3 * rng.normal(size=3),
        com_weight=np.where(rng.random(3) < 0.1, 0.0, rng.uniform(0.5, 2.0, size=3)),
        angular_momentum_rate=effort * 0.05 * robot.weight * 0.1 * rng.normal(size=3),
        momentum_weight=np.where(rng.random(3) < 0.1, 0.0, rng.uniform(0.05, 0.5, size=3)),
        torso_rotation=pin.exp3(0.05 * effort * rng.normal(size=3)) @ _torso(robot, q),
        zmp_margin=rng.uniform(0.0, 0.02), load_max=np.array([rng.uniform(0.7, 1.5), rng.uniform(0.7, 1.5)]),
    )  # fmt: skip
    return state, reference


def _torso(robot: Robot, q: np.ndarray) -> np.ndarray:
    pin.framesForwardKinematics(robot.model, robot.data, q)
    return robot.data.oMf[robot.torso_frame].rotation.copy()
