"""The rigid-body terms one control tick needs, computed once and shared by tasks, contacts and dynamics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

LOCAL = pin.ReferenceFrame.LOCAL
WORLD = pin.Convention.WORLD


class Frame:
    """A frame of the body: pose, Jacobian, velocity and drift, the last three in the frame's own axes.

    ``drift`` is the classical acceleration at zero joint and base acceleration, so that the frame's point accelerates
    with ``J a + drift``.
    """

    __slots__ = ("J", "drift", "position", "rotation", "velocity")

    def __init__(self, nv: int) -> None:
        self.J = np.zeros((6, nv), order="F")
        self.drift = np.zeros(6)
        self.velocity = np.zeros(6)
        self.position = np.zeros(3)  # from the base
        self.rotation = np.eye(3)  # to world axes


class Terms:
    """Mass matrix, bias, centroidal map and frames at a state.

    Positions are taken from the base, world axes: the absolute place of the robot never enters, so nothing degrades
    far away from the origin.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.model, self.data = robot.model, robot.model.createData()
        nv = robot.model.nv
        self._zero, self._q = np.zeros(nv), np.zeros(robot.model.nq)
        self.q, self.v = np.zeros(robot.n), np.zeros(nv)
        self.base = np.zeros(3)  # world position of the base [m]
        self.M: Array = self.data.M  # views into Pinocchio's memory
        self.Ag: Array = self.data.Ag  # centroidal momentum = Ag v; rows linear, angular, world axes, about the CoM
        self._nle: Array = self.data.nle
        self.h = np.zeros(nv)  # Coriolis, centrifugal, gravity and viscous joint friction [N, N m]
        self.com = np.zeros(3)  # from the base [m]
        self.com_drift = np.zeros(3)  # CoM acceleration = Ag[:3] a / mass + com_drift
        self.momentum = np.zeros(6)  # linear and about the CoM [kg m/s, kg m²/s]
        self.momentum_drift = np.zeros(3)  # rate of angular momentum = Ag[3:] a + momentum_drift [N m]
        self.soles = (Frame(nv), Frame(nv))
        self.torso = Frame(nv)
        self._frames = (*zip(self.soles, robot.sole_frames, strict=True), (self.torso, robot.torso_frame))

    def update(self, q: Array, v: Array) -> None:
        """Compute all terms at configuration ``q`` and velocity ``v`` (Pinocchio's, see RobotState)."""
        model, data = self.model, self.data
        self.base = q[:3]
        self._q[3:] = q[3:]
        self.q, self.v = q[7:], v
        pin.crba(model, data, self._q, WORLD)  # also fills data.J, data.Ag and data.com[0]
        pin.nonLinearEffects(model, data, self._q, v)
        pin.forwardKinematics(model, data, self._q, v, self._zero)
        np.copyto(self.h, self._nle)
        self.h[6:] += self.robot.damping * v[6:]
        self.com = data.com[0]
        self._centroidal()
        for frame, index in self._frames:
            placement = pin.updateFramePlacement(model, data, index)
            frame.position, frame.rotation = placement.translation, placement.rotation
            frame.J = pin.getFrameJacobian(model, data, index, LOCAL)
            frame.drift = pin.getFrameClassicalAcceleration(model, data, index, LOCAL).vector
            frame.velocity = frame.J.dot(v)

    def base_from_sole(self, side: int) -> Array:
        """Inverse of the base columns of a sole's Jacobian (6, 6): base twist from sole twist at rest joints."""
        data = self.data
        return np.asarray(data.oMi[1].actInv(data.oMf[self.robot.sole_frames[side]]).toActionMatrix())

    def _centroidal(self) -> None:
        """Drift of linear and angular momentum, read off the base rows of the bias: no further pass over the tree.

        With a = 0 the base rows of M a + h are the wrench that the outside would have to apply, about the base.
        """
        rotation = self.data.oMi[1].rotation
        force, moment = rotation.dot(self._nle[:3]), rotation.dot(self._nle[3:6])
        np.divide(force, self.robot.mass, out=self.com_drift)
        self.com_drift += self.model.gravity.linear
        x, y, z = self.com
        fx, fy, fz = force
        self.momentum_drift[0] = moment[0] - (y * fz - z * fy)
        self.momentum_drift[1] = moment[1] - (z * fx - x * fz)
        self.momentum_drift[2] = moment[2] - (x * fy - y * fx)
        self.momentum = self.Ag.dot(self.v)
