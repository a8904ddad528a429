"""A robot: its Pinocchio model, its soles, limits and nominal stance, in the order the controller uses."""

from __future__ import annotations

import copy
import math
import xml.etree.ElementTree as ET
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_balance.actuation.actuation import Actuation
from humanoid_balance.actuation.capped import Capped
from humanoid_balance.actuation.ideal import Ideal
from humanoid_balance.actuation.motor import Motor
from humanoid_balance.errors import ConfigError
from humanoid_balance.robot.config import ContactConfig, FootConfig, JointConfig, RobotConfig
from humanoid_balance.robot.surface import Surface
from humanoid_balance.types import GRAVITY, Array

SOLE_NAMES = ("left_sole_plane", "right_sole_plane")
POSTURE_WEIGHT = 0.02  # of a joint's deviation [rad] against metres and radians of the soles, in the stance search


class Robot:
    """Everything the boxes of the loop need to know about one body. Joint vectors have ``n`` entries."""

    def __init__(
        self, name: str, spec: str, config: RobotConfig, urdf: str, urdf_path: Path | None, mass: float | None = None
    ) -> None:
        self.name, self.spec, self.config = name, spec, config
        self.urdf, self.urdf_path = urdf, urdf_path
        self.model = self._build_model(mass)
        model = self.model
        self.joint_names: tuple[str, ...] = tuple(model.names[2:])
        self.n = model.nv - 6
        self.mass = float(pin.computeTotalMass(model))
        self._check_names()
        self._set_joint_arrays()
        self.soles = np.stack([self._corners(i) for i in range(2)])  # (2, 4, 3), counter-clockwise, sole frame
        self.sole_frames = tuple(self._add_sole_frame(i) for i in range(2))
        self.torso_frame = self._frame("torso", config.torso)
        self.imu_frame = self._frame("imu", config.imu)
        self.groups = {g: self.joints_matching(patterns) for g, patterns in config.groups.items()}
        self.symmetry = np.array(
            [[self.joint_names.index(a), self.joint_names.index(b)] for a, b in config.symmetry], dtype=int
        ).reshape(-1, 2)
        self.data = model.createData()  # scratch for the slow paths; boxes make their own
        self.q_nominal = self.stance()
        self.posture = self.q_nominal[7:].copy()
        pin.centerOfMass(model, self.data, self.q_nominal)
        self.com_nominal = self.data.com[0].copy()  # above the ground, from the middle of the soles
        self.com_height = float(self.com_nominal[2])
        pin.framesForwardKinematics(model, self.data, self.q_nominal)
        self.planar = self._is_planar()
        self.torso_nominal = self.data.oMf[self.torso_frame].rotation.copy()
        self.sole_centres = self.soles.mean(axis=1)  # in the sole frames (2, 3)
        left, right = (self.data.oMf[f].act(c) for f, c in zip(self.sole_frames, self.sole_centres, strict=True))
        self.stance_width = float(left[1] - right[1])
        self.omega = math.sqrt(GRAVITY / self.com_height)
        self.weight = self.mass * GRAVITY
        pin.ccrba(model, self.data, self.q_nominal, np.zeros(model.nv))
        self.inertia = float(np.diag(self.data.Ig.inertia)[:2].mean())  # about the CoM, horizontal axes [kg m²]
        self.contacts = (
            *(self._sole(side) for side in range(2)),
            *(self._surface(name, contact) for name, contact in config.contacts.items()),
        )

    # ---- construction ----

    def _build_model(self, mass: float | None) -> pin.Model:
        try:
            model = pin.buildModelFromXML(self.urdf, pin.JointModelFreeFlyer())
        except Exception as error:
            what = " ".join(str(error).split())
            raise ConfigError(self.config.file, *self.config.source, f"a URDF ({what})") from None
        self.mass_scale = 1.0 if mass is None else mass / pin.computeTotalMass(model)
        if not 0.2 <= self.mass_scale <= 5.0:
            raise ConfigError(self.config.file, "mass", mass, "0.2 to 5 times the mass of the URDF")
        for inertia in model.inertias:
            inertia.mass *= self.mass_scale
            inertia.inertia = inertia.inertia * self.mass_scale
        names = list(model.names[2:])
        for pattern in self.config.locked:
            if not any(fnmatchcase(n, pattern) for n in names):
                raise ConfigError(self.config.file, "locked", pattern, f"joints of the URDF: {', '.join(names)}")
        locked = [n for n in names if any(fnmatchcase(n, p) for p in self.config.locked)]
        for joint in model.joints[2:]:
            if joint.nv != 1 or joint.nq != 1:
                name = model.names[joint.id]
                if name not in locked:
                    raise ConfigError(self.config.file, "locked", name, "included: it is no plain revolute joint")
        if locked:
            reference = pin.neutral(model)
            for name in locked:
                joint = model.joints[model.getJointId(name)]
                if joint.nq == 1:
                    reference[joint.idx_q] = self.config.posture_of(name)
            model = pin.buildReducedModel(model, [model.getJointId(n) for n in locked], reference)
        self.locked = tuple(locked)
        return model

    def _check_names(self) -> None:
        """Patterns and names of the YAML must mean something in this URDF."""
        file, known = self.config.file, ", ".join(self.joint_names)
        patterns: list[tuple[str, str]] = [("posture", p) for p in self.config.posture]
        patterns += [("joints", p) for p in self.config.joints]
        patterns += [(f"groups.{g}", p) for g, ps in self.config.groups.items() for p in ps]
        patterns += [("symmetry", p) for pair in self.config.symmetry for p in pair]
        for key, pattern in patterns:
            if not any(fnmatchcase(n, pattern) for n in (*self.joint_names, *self.locked)):
                raise ConfigError(file, key, pattern, f"joints of the URDF: {known}")

    def capped(self, share: float) -> Robot:
        """The same robot whose motors may give this share of the YAML's torque, as on a robot's first day.

        Capping a capped robot does not add up: the share is always that of the YAML.
        """
        full = self._uncapped or self
        if share == 1.0:
            return full
        robot = copy.copy(full)
        robot._uncapped = full
        robot.torque_limit = share * full.torque_limit
        constant = full.actuation.constant
        robot.actuation = Ideal(robot.torque_limit) if constant else Capped(full.actuation, robot.torque_limit)
        return robot

    def limited(self, torque: float) -> Robot:
        """The same robot with no motor stronger than this [N m]."""
        robot = copy.copy(self)
        robot.torque_limit = np.minimum(self.torque_limit, torque)
        constant = self.actuation.constant
        robot.actuation = Ideal(robot.torque_limit) if constant else Capped(self.actuation, robot.torque_limit)
        return robot

    def joints_matching(self, patterns: tuple[str, ...]) -> np.ndarray:
        """Indices of the joints that match any of the patterns."""
        return np.array([i for i, n in enumerate(self.joint_names) if any(fnmatchcase(n, p) for p in patterns)], int)

    def _joint_config(self, name: str) -> JointConfig:
        values: dict[str, object] = {}
        for pattern, entry in self.config.joints.items():
            if fnmatchcase(name, pattern):
                values |= {k: v for k, v in vars(entry).items() if v is not None}
        return JointConfig(**values)  # type: ignore[arg-type]

    def _set_joint_arrays(self) -> None:
        model = self.model
        entries = [self._joint_config(name) for name in self.joint_names]

        def gather(key: str, default: Array | float) -> Array:
            defaults = np.broadcast_to(np.asarray(default, dtype=float), (self.n,))
            values = [getattr(e, key) for e in entries]
            return np.array([d if v is None else v for v, d in zip(values, defaults, strict=True)])

        self.lower = model.lowerPositionLimit[7:].copy()
        self.upper = model.upperPositionLimit[7:].copy()
        for i, (name, entry) in enumerate(zip(self.joint_names, entries, strict=True)):
            if entry.range is not None:
                low, high = max(entry.range[0], self.lower[i]), min(entry.range[1], self.upper[i])
                if low >= high:
                    allowed = f"inside the URDF's {self.lower[i]:.3f} to {self.upper[i]:.3f}"
                    raise ConfigError(self.config.file, f"joints.{name}.range", list(entry.range), allowed)
                self.lower[i], self.upper[i] = low, high
        self.torque_limit = gather("torque", _limits(model, "EffortLimit")[6:])
        self._uncapped: Robot | None = None  # of a robot with less torque, see ``capped``
        self.velocity_limit = gather("velocity", _limits(model, "VelocityLimit")[6:])
        self.acceleration_limit = gather("acceleration", 200.0)
        self.armature = gather("armature", 0.0)
        self.damping = gather("damping", 0.0)
        self.friction = gather("friction", 0.0)
        self.joint_weight = gather("weight", 1.0)
        self.posture_weight = gather("posture", 1.0)
        self.drive_stiffness = gather("stiffness", 0.0)
        self.drive_damping = gather("drive_damping", 0.0)
        self.brake = 0.05 * self.torque_limit  # viscous damping with which the safety box brakes [N m s/rad]
        for key, values in (("torque", self.torque_limit), ("velocity", self.velocity_limit)):
            for name, value in zip(self.joint_names, values, strict=True):
                if not 0.0 < value < 1e4:
                    raise ConfigError(self.config.file, f"joints.{name}.{key}", float(value), "a limit above 0")
        model.armature[6:] = self.armature
        self.actuation: Actuation = Ideal(self.torque_limit)
        if self.config.actuation == "motor":
            self._set_motors(entries)

    def _set_motors(self, entries: list[JointConfig]) -> None:
        """Torque-speed curves within the torque limits; friction of the rotors is friction of the joints."""
        motors = [entry.motor for entry in entries]
        curves = []
        for i, (name, motor) in enumerate(zip(self.joint_names, motors, strict=True)):
            if motor is None:
                allowed = "a motor with its no_load speed, as actuation is 'motor'"
                raise ConfigError(self.config.file, f"joints.{name}.motor", None, allowed)
            limit = self.torque_limit[i]
            torque = limit if motor.torque is None else min(motor.torque, limit)
            braking = torque if motor.braking is None else min(motor.braking, limit)
            curves.append((torque, braking, motor.corner, motor.no_load))
            self.friction[i] += motor.friction
            self.damping[i] += motor.damping
        self.actuation = Motor(*np.array(curves).T)

    def _is_planar(self) -> bool:
        """All joints turn about the lateral axis: nothing but a push or a boom moves the body out of its plane."""
        pin.computeJointJacobians(self.model, self.data, self.q_nominal)
        return bool(np.abs(self.data.J[[3, 5], 6:]).max() < 1e-6)

    def _frame(self, key: str, name: str) -> int:
        if not self.model.existFrame(name):
            links = ", ".join(f.name for f in self.model.frames if f.type == pin.FrameType.BODY)
            raise ConfigError(self.config.file, key, name, f"links of the URDF: {links}")
        return int(self.model.getFrameId(name))

    def _corners(self, side: int) -> Array:
        foot = self.config.feet[side]
        if foot.x is not None and foot.y is not None:
            (x0, x1), (y0, y1) = foot.x, foot.y
        else:
            (x0, x1), (y0, y1) = self._collision_box(side, foot)
        return np.array([[x1, y1, 0.0], [x0, y1, 0.0], [x0, y0, 0.0], [x1, y0, 0.0]])

    def _collision_box(self, side: int, foot: FootConfig) -> tuple[tuple[float, float], tuple[float, float]]:
        root = ET.fromstring(self.urdf)
        for collision in root.findall(f"./link[@name='{foot.frame}']/collision"):
            box, origin = collision.find("geometry/box"), collision.find("origin")
            if box is not None:
                size = [float(t) for t in box.attrib["size"].split()]
                centre = (
                    [float(t) for t in origin.attrib.get("xyz", "0 0 0").split()] if origin is not None else [0.0] * 3
                )
                (x0, x1), (y0, y1) = ((c - s / 2, c + s / 2) for c, s in zip(centre[:2], size[:2], strict=True))
                return (x0, x1), (y0, y1)
        key = f"feet.{('left', 'right')[side]}.x"
        raise ConfigError(self.config.file, key, None, f"[low, high], as link '{foot.frame}' has no collision box")

    def _add_sole_frame(self, side: int) -> int:
        foot = self.config.feet[side]
        key = f"feet.{('left', 'right')[side]}.frame"
        parent = self.model.frames[self._frame(key, foot.frame)]
        placement = parent.placement * pin.SE3(pin.rpy.rpyToMatrix(*foot.rpy), np.array([0.0, 0.0, foot.z]))
        frame = pin.Frame(
            SOLE_NAMES[side], parent.parentJoint, self.model.getFrameId(foot.frame), placement, pin.FrameType.OP_FRAME
        )
        return int(self.model.addFrame(frame))

    def _sole(self, side: int) -> Surface:
        frame, config = self.model.frames[self.sole_frames[side]], self.config
        name, sensed = ("left sole", "right sole")[side], config.estimation.foot_sensors
        return Surface(name, frame.parentJoint, frame.placement, self.soles[side], config.friction, sensed)

    def _surface(self, name: str, contact: ContactConfig) -> Surface:
        """A named contact beside the soles; the origin of its frame is the middle of its rectangle."""
        (x0, x1), (y0, y1) = contact.x, contact.y
        link = self.model.frames[self._frame(f"contacts.{name}.frame", contact.frame)]
        middle = pin.SE3(np.eye(3), np.array([(x0 + x1) / 2, (y0 + y1) / 2, 0.0]))
        place = link.placement * pin.SE3(pin.rpy.rpyToMatrix(*contact.rpy), np.array(contact.xyz)) * middle
        x, y = (x1 - x0) / 2, (y1 - y0) / 2
        corners = np.array([[x, y, 0.0], [-x, y, 0.0], [-x, -y, 0.0], [x, -y, 0.0]])
        return Surface(name, link.parentJoint, place, corners, contact.friction, False)

    # ---- nominal stance ----

    def stance(self, slope: float = 0.0) -> Array:
        """Feet flat on the ground about the origin, CoM over the soles' centre, joints near the YAML's posture.

        ``slope`` [rad] is how much the ground rises forward. Gauss-Newton on sole poses, CoM and, weakly, the posture;
        the base stays level.
        """
        model, data = self.model, self.data
        posture = np.clip([self.config.posture_of(name) for name in self.joint_names], self.lower, self.upper)
        q = np.concatenate([[0, 0, 0, 0, 0, 0, 1.0], posture])
        pin.framesForwardKinematics(model, data, q)
        toes = sum(data.oMf[f].rotation[:, 0] for f in self.sole_frames)
        upright = pin.rpy.rpyToMatrix(0.0, 0.0, -math.atan2(toes[1], toes[0]))  # some robots' root looks backwards
        q[3:7] = pin.Quaternion(upright).coeffs()
        pin.framesForwardKinematics(model, data, q)
        centres = [data.oMf[f].act(c.mean(axis=0)) for f, c in zip(self.sole_frames, self.soles, strict=True)]
        middle = (centres[0] + centres[1]) / 2
        q[:3] -= middle
        width = self.config.stance.width or float(centres[0][1] - centres[1][1])
        ground = pin.rpy.rpyToMatrix(0.0, -slope, 0.0)
        targets = [
            pin.SE3(ground, np.array([0.0, s * width / 2, 0.0]) - ground @ c.mean(axis=0))
            for s, c in zip((1, -1), self.soles, strict=True)
        ]
        level = np.zeros((3, model.nv))
        level[:, 3:6] = np.eye(3)
        hold = np.zeros((self.n, model.nv))
        hold[:, 6:] = POSTURE_WEIGHT * np.eye(self.n)
        for k in range(60):
            pin.computeJointJacobians(model, data, q)
            pin.framesForwardKinematics(model, data, q)
            jacobian_com = pin.jacobianCenterOfMass(model, data, q)
            rows, errors = [], []
            for frame, target in zip(self.sole_frames, targets, strict=True):
                error = pin.log6(data.oMf[frame].inverse() * target)
                rows.append(
                    pin.Jlog6(data.oMf[frame].inverse() * target)
                    @ pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL)
                )
                errors.append(error.vector)
            rows += [jacobian_com[:2], level]
            rotation = pin.Quaternion(q[3:7]).toRotationMatrix()
            errors += [
                np.array(self.config.stance.com) - data.com[0][:2],
                pin.log3(rotation.T @ upright),
            ]
            if k < 30:  # then the smallest steps that meet soles and CoM exactly
                rows.append(hold)
                errors.append(POSTURE_WEIGHT * (posture - q[7:]))
            step = np.linalg.lstsq(np.vstack(rows), np.concatenate(errors), rcond=None)[0]
            q = pin.integrate(model, q, step)
            q[7:] = np.clip(q[7:], self.lower, self.upper)
            if k > 30 and np.abs(step).max() < 1e-10:
                break
        pin.framesForwardKinematics(model, data, q)
        for side, (frame, target) in enumerate(zip(self.sole_frames, targets, strict=True)):
            miss = np.abs(pin.log6(data.oMf[frame].inverse() * target).vector).max()
            if miss > 2e-3:
                key, foot = "posture", ("left", "right")[side]
                raise ConfigError(
                    self.config.file,
                    key,
                    dict(self.config.posture),
                    f"a posture that can stand flat on both soles ({foot} sole misses by {miss:.3f})",
                )
        return q

    def standing_wrench(self, q: Array) -> Array:
        """Wrenches of the ground on the soles that carry the body at rest, the smallest ones, world axes (2, 6)."""
        gravity, jacobian = self._statics(q)
        wrench = np.linalg.lstsq(jacobian[:, :6].T, gravity[:6], rcond=None)[0]
        return np.asarray(wrench, dtype=float).reshape(2, 6)

    def standing_torque(self, q: Array) -> Array:
        """Joint torques that hold the body still on both soles, with the smallest sole wrenches (n,) [N m]."""
        gravity, jacobian = self._statics(q)
        return gravity[6:] - jacobian[:, 6:].T @ self.standing_wrench(q).reshape(12)

    def _statics(self, q: Array) -> tuple[Array, Array]:
        """Generalised gravity (nv,) and the Jacobian of both soles, world axes (12, nv)."""
        model, data = self.model, self.data
        gravity = pin.computeGeneralizedGravity(model, data, q).copy()
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        return gravity, np.vstack([pin.getFrameJacobian(model, data, f, world) for f in self.sole_frames])


def _limits(model: pin.Model, kind: str) -> Array:
    """Largest effort or velocity of the model; Pinocchio 3 has one value for both directions, 4 has two."""
    limits: Array = getattr(model, f"upper{kind}" if hasattr(model, f"upper{kind}") else kind[0].lower() + kind[1:])
    return limits
