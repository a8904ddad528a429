"""The whole-body controller: a Reference in, joint torques out, once a tick. The QP answers a BodyReference."""

from __future__ import annotations

import math

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import (
    Array,
    BodyReference,
    JointReference,
    Reference,
    RobotState,
    TorqueCommand,
    TouchWrench,
)
from humanoid_balance.wholebody.fallback import brake
from humanoid_balance.wholebody.hierarchy import Hierarchy
from humanoid_balance.wholebody.joint_feedback import JointFeedback
from humanoid_balance.wholebody.least_distance import Outcome
from humanoid_balance.wholebody.limits import JointLimits
from humanoid_balance.wholebody.shape import COUNTED_ON, Shape
from humanoid_balance.wholebody.solution import Sent, Solution, Status
from humanoid_balance.wholebody.terms import Terms
from humanoid_balance.wholebody.touch import Touch

LIGHT = 0.03  # share of the weight below which a standing sole is about to leave the ground
BOTH_SOLES = [0, 1]
PERIOD = 0.001  # assumed until two stamps are known [s]


class WholeBody:
    """Finds the torques that follow a BodyReference as well as dynamics, contact and limits allow.

    A JointReference is joint feedback already and goes past the QP, to the same drives.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.terms = Terms(robot)
        self.joints = JointFeedback(robot)
        self.limits = JointLimits(robot)
        self.solution: Solution | None = None
        self._problems: dict[Shape, Hierarchy] = {}
        self._by_key: dict[tuple[object, ...], Hierarchy] = {}  # the same, by Shape.key
        self._impedance = bool(np.any(robot.drive_stiffness) or np.any(robot.drive_damping))
        self._zero = np.zeros(robot.n)
        self._stamp = np.nan

    @property
    def feasible(self) -> bool:
        """Whether the last tick's first level could be had; a sole without ground under it is no verdict on that."""
        solution = self.solution
        return solution is None or solution.feasible or bool(solution.missing)

    def update(self, state: RobotState, reference: Reference) -> TorqueCommand:
        """Torques for this tick; what the QP found is in ``solution``, None if it was not asked.

        A state that is not a number is answered by the brake.
        """
        self.solution = None
        if not math.isfinite(state.q.dot(state.q) + state.v.dot(state.v)):
            return TorqueCommand.damp(state.stamp, self.robot.brake)
        if isinstance(reference, JointReference):
            self._stamp = state.stamp
            return self.joints.update(state, reference, self.terms)
        if not reference.stack.levels:  # nothing is wanted: the motors go limp
            return TorqueCommand.damp(state.stamp, self._zero)
        return self._solve(state, reference)

    def rest(self, state: RobotState) -> TorqueCommand:
        """The brake instead of an ``update``, where nothing else would leave anyway."""
        self.solution = None
        return TorqueCommand.damp(state.stamp, self.robot.brake)

    def _solve(self, state: RobotState, reference: BodyReference) -> TorqueCommand:
        """The QP."""
        terms, robot = self.terms, self.robot
        terms.update(state.q, state.v)
        if state.push.active:  # resisted where it acts, before the body has moved
            terms.add_push(state.push.force)
        terms.touch(reference.touches)
        for side, heel in enumerate(reference.heels):
            if heel is not None:
                terms.roll(side, state.ground_normal, heel)
        self._seek_ground(state, reference)
        problem = self._problem(state, reference)
        optimum = problem.solve(terms, reference)
        pushing = problem.pushing
        missing = tuple(s for s in problem.still if s < 2 and reference.load_max[s] >= COUNTED_ON)
        acceleration, torque, wrench = optimum.acceleration, optimum.torque, optimum.wrench
        sent = Sent.OPTIMUM
        if optimum.outcome is Outcome.SOLVED:
            status = Status.SOLVED if optimum.met and not missing else Status.RELAXED
        else:
            status = Status.INFEASIBLE if optimum.outcome is Outcome.INFEASIBLE else Status.NOT_CONVERGED
            sent = Sent.LEAST_EXCESS
            if not optimum.let_go:
                sent = Sent.BRAKE
                torque, acceleration, wrench = brake(robot, terms, pushing)
        touch = None
        if pushing == BOTH_SOLES and not reference.touches:
            wrenches = wrench.reshape(2, 6)
        else:
            wrenches, touch = self._sorted(wrench, pushing, len(reference.touches))
        self.solution = Solution(
            status=status, sent=sent, missing=missing, optimum=optimum, robot=robot, names=problem.constraints.names,
            wanted_com_acceleration=reference.com_acceleration, com_weight=reference.com_weight,
            acceleration=acceleration, torque=torque, wrenches=wrenches, Ag=terms.Ag.copy(), drift=terms.drift.copy(),
            sole_position=state.sole_position, sole_rotation=state.sole_rotation, touch=touch,
        )  # fmt: skip
        return self._command(state, torque, acceleration[6:])

    def _sorted(self, wrench: Array, pushing: list[int], touches: int) -> tuple[Array, TouchWrench | None]:
        """The stacked wrenches of what pushes: of the soles (2, 6), and of the planned contacts."""
        soles, others, first = np.zeros((2, 6)), np.zeros((touches, 6)), 0
        position = np.zeros((touches, 3))
        for index in pushing:
            contact = self.terms.contacts[index]
            part = wrench[first : first + len(contact.J)]
            first += len(part)
            if isinstance(contact, Touch):
                others[index - 2], position[index - 2] = contact.world_wrench(part), contact.position
            else:
                soles[index] = part
        return soles, TouchWrench(others, position) if touches else None

    def _seek_ground(self, state: RobotState, reference: BodyReference) -> None:
        """A sole that should stand beside the other but hardly does is brought down: nothing else would do that."""
        load, light = state.wrench[:, 2].tolist(), LIGHT * self.robot.weight
        if (load[0] < light) == (load[1] < light):
            return
        side = int(load[1] < light)
        if reference.heels[side] is None and reference.contact[side] and reference.load_max[side] >= COUNTED_ON:
            self.terms.seek_ground(side, state.ground_normal, min(1.0, 1.0 - load[side] / light))

    def prepare(self, state: RobotState, reference: BodyReference) -> None:
        """Make the solver for such a problem now, so that no tick has to."""
        self._problem(state, reference)

    def _problem(self, state: RobotState, reference: BodyReference) -> Hierarchy:
        """The solver for the shape of this tick's problem, made when it is new."""
        key = Shape.key(state, reference)
        problem = self._by_key.get(key)
        if problem is None:
            shape = Shape.of(state, reference)
            problem = self._problems.get(shape) or Hierarchy(self.robot, shape, self.limits)
            self._problems[shape] = self._by_key[key] = problem
        return problem

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
