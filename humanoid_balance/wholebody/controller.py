"""The whole-body controller: a Reference in, joint torques out, once a tick."""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Reference, RobotState, TorqueCommand
from humanoid_balance.wholebody.fallback import fallback
from humanoid_balance.wholebody.hierarchy import Hierarchy
from humanoid_balance.wholebody.least_distance import Outcome
from humanoid_balance.wholebody.limits import JointLimits
from humanoid_balance.wholebody.shape import Shape
from humanoid_balance.wholebody.solution import Solution, Status
from humanoid_balance.wholebody.terms import Terms

PERIOD = 0.001  # assumed until two stamps are known [s]


class WholeBody:
    """Finds the torques that follow a Reference as well as dynamics, contact and limits allow."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.terms = Terms(robot)
        self.limits = JointLimits(robot)
        self.solution: Solution | None = None
        self._problems: dict[Shape, Hierarchy] = {}
        self._impedance = bool(np.any(robot.drive_stiffness) or np.any(robot.drive_damping))
        self._zero = np.zeros(robot.n)
        self._stamp = np.nan

    def update(self, state: RobotState, reference: Reference) -> TorqueCommand:
        terms, robot = self.terms, self.robot
        terms.update(state.q, state.v)
        shape = Shape.of(state, reference)
        problem = self._problems.get(shape)
        if problem is None:
            problem = self._problems[shape] = Hierarchy(robot, shape, self.limits)
        optimum = problem.solve(terms, reference)
        pushing = shape.pushing
        if optimum.outcome is Outcome.SOLVED:
            status = Status.SOLVED if optimum.met else Status.RELAXED
            acceleration, torque, wrench = optimum.acceleration, optimum.torque, optimum.wrench
        else:
            status = Status.INFEASIBLE if optimum.outcome is Outcome.INFEASIBLE else Status.NOT_CONVERGED
            torque, acceleration, wrench = fallback(robot, terms, pushing)
        wrenches = np.zeros((2, 6))
        wrenches[pushing] = wrench.reshape(-1, 6)
        rate = terms.Ag.dot(acceleration)
        rate[:3] /= robot.mass
        rate += terms.drift
        self.solution = Solution(
            status=status, optimum=optimum, robot=robot, names=problem.constraints.names,
            wanted_com_acceleration=reference.com_acceleration, com_weight=reference.com_weight,
            acceleration=acceleration, torque=torque, wrenches=wrenches, com_acceleration=rate[:3],
            angular_momentum_rate=rate[3:], sole_position=state.sole_position, sole_rotation=state.sole_rotation,
        )  # fmt: skip
        return self._command(state, torque, acceleration[6:])

    def _command(self, state: RobotState, torque: Array, acceleration: Array) -> TorqueCommand:
        """Torque, and for drives with their own PD the state one tick ahead.

        The drive adds stiffness (position - q) + damping (velocity - q_d); the feed-forward is lowered by just that at
        the measured state, so the sum is the torque that was found.
        """
        zero = self._zero
        dt = state.stamp - self._stamp
        self._stamp = state.stamp
        if not self._impedance:
            return TorqueCommand(state.stamp, torque, zero, zero, zero, zero)
        if not 0 < dt < 0.05:
            dt = PERIOD
        robot, q, v = self.robot, state.q[7:], state.v[6:]
        velocity = v + acceleration * dt
        position = q + (v + velocity) * (dt / 2)
        torque = torque - robot.drive_stiffness * (position - q) - robot.drive_damping * (velocity - v)
        return TorqueCommand(state.stamp, torque, position, velocity, robot.drive_stiffness, robot.drive_damping)
