"""The whole-body controller: a Reference in, joint torques out, once a tick."""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Reference, RobotState, TorqueCommand
from humanoid_balance.wholebody.fallback import fallback_torque
from humanoid_balance.wholebody.hierarchy import Hierarchy
from humanoid_balance.wholebody.limits import JointLimits
from humanoid_balance.wholebody.problem import Problem
from humanoid_balance.wholebody.qp import QPStatus
from humanoid_balance.wholebody.shape import Shape
from humanoid_balance.wholebody.solution import Residuals, Solution, Status
from humanoid_balance.wholebody.terms import Terms

PERIOD = 0.001  # assumed until two stamps are known [s]


class WholeBody:
    """Finds the torques that follow a Reference as well as dynamics, contact and limits allow."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.terms = Terms(robot)
        self.limits = JointLimits(robot)
        self.solution: Solution | None = None
        self._problems: dict[Shape, tuple[Problem, Hierarchy]] = {}
        self._impedance = bool(np.any(robot.drive_stiffness) or np.any(robot.drive_damping))
        self._zero = np.zeros(robot.n)
        self._stamp = np.nan

    def update(self, state: RobotState, reference: Reference) -> TorqueCommand:
        terms = self.terms
        terms.update(state.q, state.v)
        shape = Shape.of(state, reference)
        pair = self._problems.get(shape)
        if pair is None:
            problem = Problem(self.robot, shape, self.limits)
            pair = self._problems[shape] = problem, Hierarchy(problem)
        problem, hierarchy = pair
        problem.update(terms, reference)
        optimum = hierarchy.solve()
        if optimum.status is QPStatus.SOLVED:
            status = Status.SOLVED if optimum.met else Status.RELAXED
            one = np.append(optimum.y, 1.0)
            acceleration = optimum.affine.V.dot(one)
            wrenches = np.zeros((2, 6))
            wrenches[problem.pushing] = optimum.affine.wrench.dot(one).reshape(-1, 6)
            n = self.robot.n
            torque = optimum.affine.C[problem.cone_rows : -n].dot(one) * self.robot.torque_limit
        else:
            status = Status.INFEASIBLE if optimum.status is QPStatus.INFEASIBLE else Status.NOT_CONVERGED
            torque, acceleration, wrenches = fallback_torque(self.robot, terms, problem.pushing)
        com_acceleration = terms.Ag[:3].dot(acceleration) / self.robot.mass + terms.com_drift
        result = optimum.result
        self.solution = Solution(
            status=status,
            com_residual=np.where(reference.com_weight > 0, com_acceleration - reference.com_acceleration, 0.0),
            residuals=Residuals(result.primal, result.dual, 0.0),
            acceleration=acceleration,
            torque=torque,
            wrenches=wrenches,
            com_acceleration=com_acceleration,
            angular_momentum_rate=terms.Ag[3:].dot(acceleration) + terms.momentum_drift,
            torque_limit=self.robot.torque_limit,
            active_rows=result.active,
            names=problem.names,
            sole_position=np.array([s.position for s in terms.soles]) + terms.base,
            sole_rotation=np.array([s.rotation for s in terms.soles]),
            soles=self.robot.soles,
            iterations=result.iterations,
        )
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
