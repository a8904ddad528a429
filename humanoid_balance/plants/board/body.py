"""The robot behind the boards: a MuJoCo body that is held until the first torque, then obeys the drives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.protocol import WirePush, WireTruth
from humanoid_balance.plants.push_place import link_of, takes_hold
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.truth import ground_below
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, SensorFrame, TorqueCommand

Law = Callable[[Array, Array], Array]  # joint positions, velocities -> torques of the drives

HOIST_STIFFNESS = 50.0  # of the ropes, in body weights a metre: it sags by 2 cm
HOIST_TURNING = 1.0  # of the ropes against turning, in body weights times metres a radian
LIGHT = 0.2  # damping of the turn, as a share of the base's inertia / physics step: more would chatter


class Body:
    """Simulated time runs in physics steps; until it is let go the robot stays where it is and time passes."""

    def __init__(
        self,
        robot: Robot,
        options: PlantOptions | None = None,
        posture: Array | None = None,
        hoist: float | None = None,
        pushes: Sequence[PushProfile] = (),
    ) -> None:
        """``posture`` (n,) [rad] replaces the nominal one; ``hoist`` [m] hangs the base that high above its stance.

        The times of ``pushes`` count from the moment when the robot is let go, each time anew.
        """
        options = options or PlantOptions()
        self.robot = robot
        self.plant = MujocoPlant(robot, replace(options, dt=options.world.timestep))
        self.timestep = round(1e6 * options.world.timestep)  # [µs]
        self.now = 0  # simulated time [µs]
        self.held = True
        self.hoist = hoist
        self._let_go: int | None = None  # when [µs]
        self._pushes: dict[int, WirePush] = {}  # by body of the MuJoCo model
        self._planned = [(push, self._body(link_of(robot, push))) for push in pushes]
        self._points: dict[int, Array] = {}  # where planned pushes act, in the frame of their body, once they began
        self._zero = np.zeros(robot.n)
        self._qpos = np.array([self.plant.model.joint(name).qposadr[0] for name in robot.joint_names])
        self._qvel = np.array([self.plant.model.joint(name).dofadr[0] for name in robot.joint_names])
        self._start = robot.q_nominal.copy()
        self._start[2] += hoist or 0.0
        self._start[7:] = robot.posture if posture is None else posture
        if posture is not None or hoist is not None:
            self.put_back()
        self._base = np.concatenate([self.plant.data.xpos[1], self.plant.data.xquat[1]])

    def put_back(self) -> None:
        """People lift the robot to where it was in the beginning, and hold it there."""
        self.plant.reset(self._start)
        if self.hoist is not None or (self._start[7:] != self.robot.posture).any():
            self.plant.at_rest()
        self.held, self._let_go = True, None
        self._pushes.clear()
        self._points.clear()

    # ---- what the drives and sensors see ----

    def sense(self) -> SensorFrame:
        """One sample of all sensors, with fresh noise."""
        return replace(self.plant.read(), stamp=1e-6 * self.now)

    def joints(self) -> tuple[Array, Array]:
        """True positions and velocities (n,)."""
        data = self.plant.data
        return data.qpos[self._qpos], data.qvel[self._qvel]

    def step(self, law: Law) -> None:
        """One physics step with the torques of the drives."""
        if not self.held:
            if self._let_go is None:
                self._let_go = self.now
            self._load(1e-6 * (self.now - self._let_go))
            torque = law(*self.joints())
            zero = self._zero
            self.plant.write(TorqueCommand(1e-6 * self.now, torque, zero, zero, zero, zero))
        self.now += self.timestep

    # ---- external forces ----

    def push(self, push: WirePush) -> bool:
        """Take a Push; False if the robot has no such link or a number is not finite."""
        if not all(np.isfinite(v).all() for v in (push.point, push.force, push.moment)):
            return False
        try:
            self._pushes[self._body(push.body)] = push
        except InputError:
            return False
        return True

    def _body(self, link: str) -> int:
        body = int(mujoco.mj_name2id(self.plant.model, mujoco.mjtObj.mjOBJ_BODY, link))
        if body < 0:
            raise InputError(f"push link '{link}': the robot has no such link")
        return body

    def _load(self, since: float) -> None:
        """External wrenches for the coming step, ``since`` [s] after the robot was let go."""
        data = self.plant.data
        data.xfrc_applied[:] = 0.0
        for body, push in list(self._pushes.items()):
            if self.now >= push.until:
                del self._pushes[body]
                continue
            self._apply(body, push.point, push.force)
            data.xfrc_applied[body, 3:] += push.moment
        for k, (profile, body) in enumerate(self._planned):
            size = profile.force_at(since)
            if size == 0.0:
                continue
            if k not in self._points:  # from now on fixed to the link
                com = data.subtree_com[1]
                place = takes_hold(profile, data.xpos[body], com, ground_below(com, self.plant.options.world.slope))
                held = data.xmat[body].reshape(3, 3).T @ (place - data.xpos[body])
                self._points[k] = held if profile.point is None else np.array(profile.point)
            self._apply(body, self._points[k], size * profile.axis)
        if self.hoist is not None:
            data.xfrc_applied[1] += self._ropes()

    def _apply(self, body: int, point: Array, force: Array) -> None:
        """A force [N] at a point of the body's frame, about the body's CoM as MuJoCo wants it."""
        data = self.plant.data
        arm = data.xpos[body] + data.xmat[body].reshape(3, 3) @ point - data.xipos[body]
        data.xfrc_applied[body, :3] += force
        data.xfrc_applied[body, 3:] += np.cross(arm, force)

    def _ropes(self) -> Array:
        """Damped springs that hold the base where it hung at the start (6,), about its CoM."""
        data, robot = self.plant.data, self.robot
        stiffness = HOIST_STIFFNESS * robot.weight
        damping = 2.0 * np.sqrt(stiffness * robot.mass)
        turning = HOIST_TURNING * robot.weight
        turn_damping = LIGHT * self.plant.model.body_inertia[1].min() / (1e-6 * self.timestep)
        velocity = self._base_velocity()
        error = np.zeros(3)
        back = np.zeros(4)
        mujoco.mju_negQuat(back, data.xquat[1])
        turn = np.zeros(4)
        mujoco.mju_mulQuat(turn, self._base[3:7], back)
        mujoco.mju_quat2Vel(error, turn, 1.0)
        force = stiffness * (self._base[:3] - data.xpos[1]) - damping * velocity[3:]
        return np.concatenate([force, turning * error - turn_damping * velocity[:3]])

    def _base_velocity(self) -> Array:
        """Angular, linear, world axes (6,)."""
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(self.plant.model, self.plant.data, mujoco.mjtObj.mjOBJ_XBODY, 1, velocity, 0)
        return velocity

    # ---- for recorders ----

    def truth(self) -> WireTruth:
        """What no robot can measure."""
        data = self.plant.data
        velocity = self._base_velocity()
        mujoco.mj_subtreeVel(self.plant.model, data)
        return WireTruth(
            touching=self.plant.touching(),
            base_position=data.xpos[1].copy(),
            base_quaternion=data.xquat[1][[1, 2, 3, 0]],
            base_velocity=velocity[3:],
            base_angular_velocity=velocity[:3],
            com=data.subtree_com[1].copy(),
            com_velocity=data.subtree_linvel[1].copy(),
        )
