"""The rigid-body terms one control tick needs, computed once and shared by tasks, contacts and dynamics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, Array, HeelReference, PlannedContact
from humanoid_balance.wholebody import rolling
from humanoid_balance.wholebody.touch import Touch, surface_of

LOCAL = pin.ReferenceFrame.LOCAL
WORLD = pin.Convention.WORLD
SEEK_SPEED = 0.15  # of a sole that looks for the ground [m/s]
SEEK_TURN = 5.0  # turning speed of such a sole for each rad that it is not flat [1/s]
CONTACT_DAMPING = 20.0  # of the measured velocity of a sole that should be still [1/s]; Baumgarte


class Frame:
    """A frame of the body: pose, Jacobian, velocity and drift, the last three in the frame's own axes.

    ``drift`` is the classical acceleration at zero joint and base acceleration, so that the frame's point accelerates
    with ``J a + drift``. ``rest`` is the acceleration that a sole should have which is not to move (6,).
    """

    __slots__ = ("J", "drift", "index", "placement", "position", "rest", "rotation", "velocity")

    def __init__(self, model: pin.Model, data: pin.Data, index: int) -> None:
        self.index = index
        self.placement = data.oMf[index]  # live views into Pinocchio's memory
        self.position: Array = self.placement.translation  # from the base, world axes (3,) [m]
        self.rotation: Array = self.placement.rotation  # to world axes (3, 3)
        self.J = np.zeros((6, model.nv), order="F")
        self.velocity, self.drift, self.rest = np.zeros(6), np.zeros(6), np.zeros(6)  # linear, angular


class Terms:
    """Mass matrix, bias, centroidal map and frames at a state.

    Positions are taken from the base, world axes: the absolute place of the robot never enters, so nothing degrades
    far away from the origin.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.model, self.data = robot.model, robot.model.createData()
        data, nv = self.data, robot.model.nv
        self._zero, self._q = np.zeros(nv), np.zeros(robot.model.nq)
        self.q, self.v = np.zeros(robot.n), np.zeros(nv)
        self.base = np.zeros(3)  # world position of the base [m]
        self.M: Array = data.M  # live views into Pinocchio's memory
        self.Ag: Array = data.Ag  # centroidal momentum = Ag v; rows linear, angular, world axes, about the CoM
        self.com: Array = data.com[0]  # from the base [m]
        self._nle: Array = data.nle
        self._base = data.oMi[1]
        self._base_rotation: Array = self._base.rotation
        self._damping = np.concatenate([np.zeros(6), robot.damping])
        self.h = np.zeros(nv)  # Coriolis, centrifugal, gravity and viscous joint friction [N, N m]
        self.drift = np.zeros(6)  # CoM acceleration and rate of angular momentum about the CoM at a = 0 [m/s², N m]
        self.T, self.t = np.zeros((6, robot.n)), np.zeros(6)  # base acceleration = T q_dd + t, set by the contacts
        self.X = np.eye(6)  # base_from the contact that gives T, t
        self.soles = (Frame(self.model, data, robot.sole_frames[0]), Frame(self.model, data, robot.sole_frames[1]))
        self._torso, self._torso_known = Frame(self.model, data, robot.torso_frame), False
        self._toes = [rolling.front_edge(corners) for corners in robot.soles]
        self.contacts: list[Frame | Touch] = [*self.soles]  # soles, then the planned contacts of this tick
        self._touches: dict[tuple[str, bool], Touch] = {}

    def update(self, q: Array, v: Array) -> None:
        """Compute all terms at configuration ``q`` and velocity ``v`` (Pinocchio's, see RobotState)."""
        model, data = self.model, self.data
        self.base, self.q, self.v = q[:3], q[7:], v
        self._q[3:] = q[3:]
        pin.crba(model, data, self._q, WORLD)  # also fills data.J, data.Ag and data.com[0]
        pin.nonLinearEffects(model, data, self._q, v)
        pin.forwardKinematics(model, data, self._q, v, self._zero)
        np.multiply(self._damping, v, out=self.h)
        self.h += self._nle
        self._centroidal_drift()
        self._torso_known = False
        for sole in self.soles:
            self._place(sole)
            sole.rest = sole.velocity * -CONTACT_DAMPING

    def _place(self, frame: Frame) -> None:
        model, data = self.model, self.data
        pin.updateFramePlacement(model, data, frame.index)
        frame.J = pin.getFrameJacobian(model, data, frame.index, LOCAL)
        frame.drift = pin.getFrameClassicalAcceleration(model, data, frame.index, LOCAL).vector
        frame.velocity = frame.J.dot(self.v)

    @property
    def torso(self) -> Frame:
        """Placed when it is asked for: standing without a push does not need it."""
        if not self._torso_known:
            self._place(self._torso)
            self._torso_known = True
        return self._torso

    def touch(self, planned: tuple[PlannedContact, ...]) -> None:
        """Take the planned contacts beside the soles; after ``update``."""
        if not planned:
            if len(self.contacts) > 2:
                self.contacts = [*self.soles]
            return
        self.contacts = [*self.soles]
        for one in planned:
            key = one.name, one.flat
            touch = self._touches.get(key)
            if touch is None:
                touch = self._touches[key] = Touch(surface_of(self.robot, one.name), one, CONTACT_DAMPING)
            touch.update(self.model, self.data, self.v, self.base, one)
            self.contacts.append(touch)

    def add_push(self, force: Array) -> None:
        """Take an outside force (3,) [N] on the torso into the bias; its line of action goes through the CoM."""
        torso = self.torso
        back = torso.rotation.T
        arm = self.com - torso.position
        self.h -= np.concatenate([back.dot(force), back.dot(pin.skew(arm).dot(force))]).dot(torso.J)

    def seek_ground(self, side: int, normal: Array, share: float) -> None:
        """A sole that should stand but carries little comes down along the ground's ``normal`` and lies down flat.

        ``share`` of it, 0 to 1. On the ground already, this loads the sole.
        """
        sole = self.soles[side]
        x, y, z = (normal.dot(sole.rotation) * (share * CONTACT_DAMPING)).tolist()
        down = -SEEK_SPEED
        sole.rest += (down * x, down * y, down * z, -SEEK_TURN * y, SEEK_TURN * x, 0.0)

    def roll(self, side: int, normal: Array, wanted: HeelReference) -> None:
        """A sole that stands on its front edge only; ``normal`` of the ground."""
        sole = self.soles[side]
        tilt = rolling.rise(sole.rotation, normal)
        aside = float(normal.dot(sole.rotation[:, 1]))
        sole.rest = rolling.rest(sole.velocity, tilt, aside, self._toes[side], wanted, CONTACT_DAMPING)

    def base_from(self, contact: int) -> Array:
        """Inverse of the base columns of a flat contact's Jacobian (6, 6): they are a rigid transform, this is back."""
        inverse: Array = self._base.actInv(self.contacts[contact].placement).toActionMatrix()
        return inverse

    def joint_row(self, row: Array) -> Array:
        """A row over the generalised acceleration (nv,) as one over the joint accelerations alone (n,)."""
        return np.asarray(row[6:] + row[:6].dot(self.T))

    def _centroidal_drift(self) -> None:
        """Drift of linear and angular momentum, read off the base rows of the bias: no further pass over the tree.

        With a = 0 the base rows of M a + h are the wrench that the outside would have to apply, about the base.
        """
        fx, fy, fz = self._base_rotation.dot(self._nle[:3]).tolist()
        kx, ky, kz = self._base_rotation.dot(self._nle[3:6]).tolist()
        x, y, z = self.com.tolist()
        mass = self.robot.mass
        self.drift[:] = (
            fx / mass, fy / mass, fz / mass - GRAVITY,
            kx - y * fz + z * fy, ky - z * fx + x * fz, kz - x * fy + y * fx,
        )  # fmt: skip
