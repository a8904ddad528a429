"""From a JointReference to a TorqueCommand: drives with a feedback loop of their own close it, others get its sum."""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import JointReference, RobotState, TorqueCommand
from humanoid_balance.wholebody.terms import Terms


class JointFeedback:
    """tau = torque + M q_dd + stiffness (position - q) + damping (velocity - q_d), joint by joint.

    An impedance drive gets position, velocity and gains and closes the loop itself, at its own rate. A pure torque
    drive gets the sum at the measured state, once a tick: what is too stiff for the control period rings there.
    """

    def __init__(self, robot: Robot) -> None:
        self._onboard = (robot.drive_stiffness > 0.0) | (robot.drive_damping > 0.0)  # drives with their own feedback
        self._all_onboard = bool(self._onboard.all())

    def update(self, state: RobotState, reference: JointReference, terms: Terms) -> TorqueCommand:
        """The command of this tick; ``terms`` are computed anew if an acceleration is wanted."""
        torque = reference.torque
        if reference.acceleration.any():
            terms.update(state.q, state.v)
            torque = torque + terms.M[6:, 6:].dot(reference.acceleration)
        if self._all_onboard:
            return TorqueCommand(
                state.stamp, torque, reference.position, reference.velocity, reference.stiffness, reference.damping,
                False, reference.yielding,
            )  # fmt: skip
        stiffness = np.where(self._onboard, reference.stiffness, 0.0)
        damping = np.where(self._onboard, reference.damping, 0.0)
        torque = torque + (reference.stiffness - stiffness) * (reference.position - state.q[7:])
        torque += (reference.damping - damping) * (reference.velocity - state.v[6:])
        return TorqueCommand(
            state.stamp, torque, reference.position, reference.velocity, stiffness, damping, False, reference.yielding
        )
