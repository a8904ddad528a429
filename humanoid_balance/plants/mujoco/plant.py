"""The embedded simulator: a robot in MuJoCo behind the Plant protocol, with the faults of real sensors and motors."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import mujoco
import numpy as np
import pinocchio as pin

from humanoid_balance.errors import InputError
from humanoid_balance.plants.mujoco import model as mujoco_model
from humanoid_balance.plants.push_place import link_of, takes_hold
from humanoid_balance.plants.pushes import ExternalForce, PushProfile
from humanoid_balance.plants.sensing import Sensing
from humanoid_balance.plants.springs import Springs, rounded
from humanoid_balance.plants.terrain import terrain
from humanoid_balance.plants.truth import Truth, has_fallen
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot.model import SOLE_NAMES, Robot
from humanoid_balance.types import Array, SensorFrame, TorqueCommand

SINK = 2e-4  # how deep standing soles press into the ground [m]


def _run(places: Array) -> slice | Array:
    """Places of joints or soles in an array: a slice, which is faster to read, where they follow one another."""
    return slice(int(places[0]), int(places[-1]) + 1) if (np.diff(places) == 1).all() else places


class MujocoPlant:
    """Reads at time t, then ``write`` applies the torques for one control period.

    Accelerations and forces of a frame are those of the physics step that led to it, positions and speeds are of its
    stamp, as a sampled data bus delivers them.
    """

    def __init__(self, robot: Robot, options: PlantOptions | None = None, pushes: Sequence[PushProfile] = ()) -> None:
        self.robot = robot
        self.options = options or PlantOptions()
        self.dt = self.options.dt
        steps = self.dt / self.options.world.step
        self.substeps = round(steps)
        if self.substeps < 1 or abs(steps - self.substeps) > 1e-9:
            raise InputError(f"control period {self.dt:g} s is no multiple of the physics step")
        self.terrain = terrain(self.options.world, robot)
        self.model = mujoco_model.build(robot, self.options.world)
        self.data = mujoco.MjData(self.model)
        self._index()
        self._soft()
        self._pushes: list[tuple[ExternalForce, int, Array | None]] = []
        for push in pushes:
            self.add_push(push)
        self.reset()

    def _index(self) -> None:
        model, robot = self.model, self.robot
        n = robot.n
        self._cart = self.options.world.ground == "cart"
        self._qpos = np.array([model.joint(name).qposadr[0] for name in robot.joint_names])
        self._qvel = np.array([model.joint(name).dofadr[0] for name in robot.joint_names])
        self._truth_sensors = 3 * n + 6 + 12
        self._torso = model.body(robot.config.torso).id
        self._soles = _run(np.array([model.site(name).id for name in SOLE_NAMES]))
        ground = [model.geom(name).id for name in ("ground", *(box.name for box in self.terrain.boxes))]
        feet = [model.geom(name).id for name in SOLE_NAMES]
        feet += np.flatnonzero(model.geom_bodyid >= model.body("cart").id).tolist() if self._cart else []
        self._fallen = np.zeros((model.ngeom, model.ngeom), dtype=bool)  # pairs of geoms whose contact is a fall
        self._fallen[ground, :] = self._fallen[:, ground] = True
        self._fallen[np.ix_(ground, ground + feet)] = self._fallen[np.ix_(ground + feet, ground)] = False
        drives = np.any(robot.drive_stiffness) or np.any(robot.drive_damping)
        self._onboard = bool(drives) and robot.actuation.constant  # ideal drives with feedback of their own
        self._runs = _run(self._qpos), _run(self._qvel)
        self._imu = slice(3 * n, 3 * n + 6)  # gyro and accelerometer in the sensors
        self._felt = np.zeros(6)  # their sum over the physics steps of a period
        self._imu_site = model.site("imu").id
        self._gained = np.zeros((2, 6))  # velocity of the IMU before and after a period, world axes; angular, linear
        self._signs = np.ones(model.nsensordata)
        self._signs[3 * n + 6 : 3 * n + 18] = -1.0  # MuJoCo gives the wrench of the foot on the ground
        self._diverged = self.data.warning[mujoco.mjtWarning.mjWARN_BADQACC]

    def _soft(self) -> None:
        """A ground of springs, if the world has one; ``_sink``: how deep standing soles press into the ground [m]."""
        world, robot = self.options.world, self.robot
        self._springs, self._sink = None, SINK
        if world.ground == "springs":
            self._springs = Springs(world.friction, world.stiffness, self.terrain.slope)
            self._points = [rounded(corners) for corners in robot.soles]
            self._sole_sites = [self.model.site(name).id for name in SOLE_NAMES]
            self._sole_bodies = [self.model.body(name).id for name in SOLE_NAMES]
            self._sink = self._springs.sink(self._points[0], robot.weight / 2)
            self._twist = np.zeros(6)

    def reset(self, q: Array | None = None, time: float = 0.0) -> None:
        """At rest, held by the motors, at a time; in the nominal stance or a Pinocchio configuration ``q``."""
        model, data, robot = self.model, self.data, self.robot
        mujoco.mj_resetData(model, data)
        model.actuator_biastype[:] = mujoco.mjtBias.mjBIAS_NONE
        model.actuator_forcelimited[:] = False
        self._inside = False  # the feedback of the drives is part of the physics
        if q is None:
            q = robot.stance(self.terrain.slope)
        self._place_base(q)
        data.qpos[self._qpos] = q[7:]
        data.ctrl[:] = self._torque = robot.standing_torque(q)
        mujoco.mj_forward(model, data)
        if self._springs is not None:
            self._press(self._springs)
            mujoco.mj_forward(model, data)
        self._up = data.xmat[self._torso].reshape(3, 3).T @ np.array([0.0, 0.0, 1.0])
        self._com_height = self._height()
        self._drive = robot.actuation.drive(self.options.torque_scale)
        self._ticks = round(time / self.dt)
        delay = round(self.options.sensor_latency / self.dt)
        self._sensing = Sensing(robot.n, self.options.noise, self.options.seed, delay)
        idle = TorqueCommand.damp(0.0, np.zeros(robot.n))
        self._commands: deque[TorqueCommand] = deque([idle], maxlen=1 + round(self.options.actuator_latency / self.dt))
        self._sensors = self._signs * data.sensordata
        self._push_force, self._push_point = np.zeros(3), self.data.subtree_com[1].copy()
        self._contacts, self._touching = b"", False

    def lay(self, q: Array) -> None:
        """At rest, without torque, where a body lies still in a Pinocchio configuration ``q``; time begins."""
        self.reset()
        data = self.data
        data.qpos[:3], data.qpos[3:7], data.qpos[self._qpos] = q[:3], q[[6, 3, 4, 5]], q[7:]
        data.ctrl[:] = self._torque = np.zeros(self.robot.n)
        mujoco.mj_forward(self.model, data)
        self.at_rest()

    def _place_base(self, q: Array) -> None:
        """On a boom the base body itself stands there, and its joints are at zero."""
        model, data, planar = self.model, self.data, self.options.world.planar
        position, quaternion = (model.body_pos[1], model.body_quat[1]) if planar else (data.qpos[:3], data.qpos[3:7])
        position[:] = q[:3]
        position[2] -= self._sink
        quaternion[:] = q[[6, 3, 4, 5]]
        if planar:  # joint axes are given in the base body's own axes
            rotation = pin.Quaternion(q[3:7]).toRotationMatrix()
            for name, _, axis in mujoco_model.BOOM:
                model.jnt_axis[model.joint(name).id] = rotation.T @ np.array(axis, dtype=float)

    def at_rest(self) -> None:
        """Sensors as if something held the body where it is: nothing accelerates."""
        self.data.qacc[:] = 0.0
        mujoco.mj_rnePostConstraint(self.model, self.data)
        mujoco.mj_sensorAcc(self.model, self.data)
        self._sensors = self._signs * self.data.sensordata

    def close(self) -> None:
        """Nothing runs outside of this process."""

    def add_push(self, push: ExternalForce) -> None:
        """Schedule an external force."""
        body = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, link_of(self.robot, push))
        self._pushes.append((push, body, None if push.point is None else np.array(push.point)))

    def remove_push(self, push: ExternalForce) -> None:
        """Forget an external force, also one that acts now."""
        for entry in [entry for entry in self._pushes if entry[0] is push]:
            self.data.xfrc_applied[entry[1]] = 0.0
            self._pushes.remove(entry)

    @property
    def time(self) -> float:
        return self._ticks * self.dt

    def read(self) -> SensorFrame:
        return self._sensing.frame(self.time, self._sensors[: self._truth_sensors])

    def write(self, command: TorqueCommand) -> None:
        """Apply a command and move on by one control period."""
        self._commands.append(command)
        self._step(self._commands[0])
        self._ticks += 1

    def hold(self) -> None:
        """Let one control period pass with the body held still, as by a harness."""
        self._ticks += 1

    def _step(self, command: TorqueCommand) -> None:
        model, data = self.model, self.data
        self._apply_pushes()
        impedance = np.count_nonzero(command.stiffness) or np.count_nonzero(command.damping)
        inside = self._onboard and (impedance or self._inside)
        if inside:
            self._close_inside(command)
        torque, step = command.torque, self.dt / self.substeps
        felt, (at_q, at_v) = self._felt, self._runs
        if inside:
            self._imu_velocity(self._gained[0])
        for _ in range(self.substeps):
            if not inside:
                q, v = data.qpos[at_q], data.qvel[at_v]
                if impedance:
                    error, speed = command.position - q, command.velocity - v
                    torque = command.torque + command.stiffness * error + command.damping * speed
                data.ctrl[:] = self._torque = self._drive.torque(torque, q, v, step)
            if self._springs is not None:
                self._press(self._springs)
            mujoco.mj_step2(model, data)
            mujoco.mj_step1(model, data)
            if self.substeps > 1:  # an IMU averages over its sample, no impact is missed
                felt += data.sensordata[self._imu]
        np.multiply(data.sensordata, self._signs, out=self._sensors)
        if self.substeps > 1:
            np.divide(felt, self.substeps, out=self._sensors[self._imu])
            felt[:] = 0.0
        if inside:
            self._feel_gain()
        if self._diverged.number or not math.isfinite(data.qvel[0]):
            raise InputError("the simulation diverged: torques or external forces are beyond the physics step")

    def _press(self, ground: Springs) -> None:
        """Push the soles out of a ground of springs."""
        model, data, twist = self.model, self.data, self._twist
        for side, (site, body) in enumerate(zip(self._sole_sites, self._sole_bodies, strict=True)):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, site, twist, 0)
            place, rotation = data.site_xpos[site], data.site_xmat[site].reshape(3, 3)
            wrench = ground.wrench(self._points[side], place, rotation, twist[3:], twist[:3])
            (x, y, z), (fx, fy, fz) = (place - data.xipos[body]).tolist(), wrench[:3].tolist()
            wrench[3:] += (y * fz - z * fy, z * fx - x * fz, x * fy - y * fx)
            data.xfrc_applied[body] = wrench

    def _imu_velocity(self, found: Array) -> None:
        mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_SITE, self._imu_site, found, 0)

    def _feel_gain(self) -> None:
        """The accelerometer's mean over the period, from the velocity that the IMU gained.

        MuJoCo's own is that of the torques at the beginning of each physics step. A stiff damper in a drive changes
        them within the step: hips above a foot that landed on such an ankle read 50 m/s² for 20 ms, instead of 25.
        """
        before, after = self._gained
        self._imu_velocity(after)
        gained = (after[3:] - before[3:]) / self.dt - self.model.opt.gravity
        rotation = self.data.site_xmat[self._imu_site].reshape(3, 3)
        self._sensors[self._imu.stop - 3 : self._imu.stop] = rotation.T.dot(gained)

    def _close_inside(self, command: TorqueCommand) -> None:
        """Let the physics close the feedback of the drives: they do so at 10 kHz and more, so their damping acts on
        the speed at the end of a step. Explicitly, a stiff damper on a light link would shake it.
        """
        model, data = self.model, self.data
        if not self._inside:
            self._inside = True
            limit = self.options.torque_scale * self.robot.torque_limit
            model.actuator_biastype[:] = mujoco.mjtBias.mjBIAS_AFFINE
            model.actuator_forcelimited[:] = True
            model.actuator_forcerange[:] = np.stack((-limit, limit), axis=1)
        bias = model.actuator_biasprm
        bias[:, 0] = command.stiffness * command.position + command.damping * command.velocity
        np.negative(command.stiffness, out=bias[:, 1])
        np.negative(command.damping, out=bias[:, 2])
        data.ctrl[:] = command.torque
        self._torque = data.actuator_force  # of the last step

    def _apply_pushes(self) -> None:
        """External wrenches for the coming period, about each body's CoM as MuJoCo wants them."""
        data = self.data
        self._push_force[:] = 0.0
        self._push_point = data.subtree_com[1].copy()
        for _, body, _ in self._pushes:
            data.xfrc_applied[body] = 0.0
        for k, (push, body, point) in enumerate(self._pushes):
            size = push.force_at(self.time)
            if size == 0.0:
                continue
            rotation = data.xmat[body].reshape(3, 3)
            if point is None:  # from now on fixed to the link
                com = data.subtree_com[1]
                place = takes_hold(push, data.xpos[body], com, self.ground_below(com))
                point = rotation.T @ (place - data.xpos[body])
                self._pushes[k] = (push, body, point)
            force = size * push.axis
            self._push_point = data.xpos[body] + rotation @ point
            arm = self._push_point - data.xipos[body]
            data.xfrc_applied[body, :3] += force
            data.xfrc_applied[body, 3:] += np.cross(arm, force)
            self._push_force += force

    # ---- ground truth ----

    def _height(self) -> float:
        com = self.data.subtree_com[1]
        return float(com[2] - self.ground_below(com))

    def ground_below(self, point: Array) -> float:
        """Height of the ground below a point, world (3,) [m]."""
        x, y, _ = point.tolist()
        return self.terrain.height(x, y)

    def fell(self) -> bool:
        return has_fallen(self.touching(), float(self._torso_axis()[2]), self._height(), self._com_height)

    def _torso_axis(self) -> Array:
        """World direction that pointed up at the start (3,)."""
        return self.data.xmat[self._torso].reshape(3, 3).dot(self._up)

    def touching(self) -> bool:
        """A part other than the feet touches the ground."""
        pairs = self.data.contact.geom
        contacts = pairs.tobytes()
        if contacts != self._contacts:  # mostly the same from tick to tick
            self._contacts = contacts
            self._touching = bool(self._fallen[pairs[:, 0], pairs[:, 1]].any())
        return self._touching

    def truth(self) -> Truth:
        """What really happened, at the stamp of the next ``read``."""
        data = self.data
        momentum = self._sensors[self._truth_sensors :].copy()
        rotation = data.site_xmat[self._soles].copy().reshape(2, 3, 3)
        axis = self._torso_axis()
        wrench = self._sensors[self._truth_sensors - 12 : self._truth_sensors].reshape(2, 2, 3)
        world = wrench @ rotation.transpose(0, 2, 1)
        return Truth(
            stamp=self.time,
            com=data.subtree_com[1].copy(),
            com_velocity=momentum[:3],
            angular_momentum=momentum[3:],
            base_position=data.xpos[1].copy(),
            base_quaternion=data.xquat[1][[1, 2, 3, 0]],
            joint_position=data.qpos[self._runs[0]].copy(),
            torque=self._torque.copy(),
            torso_axis=axis,
            sole_position=data.site_xpos[self._soles].copy(),
            sole_rotation=rotation,
            sole_force=world[:, 0],
            sole_moment=world[:, 1],
            push=self._push_force.copy(),
            push_point=self._push_point,
            fell=has_fallen(self.touching(), float(axis[2]), self._height(), self._com_height),
        )
