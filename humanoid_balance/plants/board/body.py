"""The robot behind the boards: a MuJoCo body that is held until the first torque, then obeys the drives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np

from humanoid_balance.plants.mujoco import MujocoPlant
from humanoid_balance.plants.protocol import Push, Truth
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
    ) -> None:
        """``posture`` (n,) [rad] replaces the nominal one; ``hoist`` [m] hangs the base that high above its stance."""
        options = options or PlantOptions()
        self.robot = robot
        self.plant = MujocoPlant(robot, replace(options, dt=options.world.timestep))
        self.timestep = round(1e6 * options.world.timestep)  # [µs]
        self.now = 0  # simulated time [µs]
        self.held = True
        self.hoist = hoist
        self._pushes: dict[int, Push] = {}  # by body of the MuJoCo model
        self._zero = np.zeros(robot.n)
        self._qpos = np.array([self.plant.model.joint(name).qposadr[0] for name in robot.joint_names])
        self._qvel = np.array([self.plant.model.joint(name).dofadr[0] for name in robot.joint_names])
        if posture is not None or hoist is not None:
            q = robot.q_nominal.copy()
            q[2] += hoist or 0.0
            q[7:] = robot.posture if posture is None else posture
            self.plant.reset(q)
            self.plant.at_rest()
        self._base = self.plant.data.qpos[:7].copy()

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
            self._load()
            torque = law(*self.joints())
            zero = self._zero
            self.plant.write(TorqueCommand(1e-6 * self.now, torque, zero, zero, zero, zero))
        self.now += self.timestep

    # ---- external forces ----

    def push(self, push: Push) -> bool:
        """Take a Push; False if the robot has no such link or a number is not finite."""
        body = mujoco.mj_name2id(self.plant.model, mujoco.mjtObj.mjOBJ_BODY, push.body)
        if body < 0 or not all(np.isfinite(v).all() for v in (push.point, push.force, push.moment)):
            return False
        self._pushes[body] = push
        return True

    def _load(self) -> None:
        """External wrenches for the coming step, about each body's CoM as MuJoCo wants them."""
        data = self.plant.data
        data.xfrc_applied[:] = 0.0
        for body, push in list(self._pushes.items()):
            if self.now >= push.until:
                del self._pushes[body]
                continue
            arm = data.xpos[body] + data.xmat[body].reshape(3, 3) @ push.point - data.xipos[body]
            data.xfrc_applied[body, :3] += push.force
            data.xfrc_applied[body, 3:] += push.moment + np.cross(arm, push.force)
        if self.hoist is not None:
            data.xfrc_applied[1] += self._ropes()

    def _ropes(self) -> Array:
        """Damped springs that hold the base where it hung at the start (6,), about its CoM."""
        data, robot = self.plant.data, self.robot
        stiffness = HOIST_STIFFNESS * robot.weight
        damping = 2.0 * np.sqrt(stiffness * robot.mass)
        turning = HOIST_TURNING * robot.weight
        turn_damping = LIGHT * self.plant.model.body_inertia[1].min() / (1e-6 * self.timestep)
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(self.plant.model, data, mujoco.mjtObj.mjOBJ_XBODY, 1, velocity, 0)
        error = np.zeros(3)
        back = np.zeros(4)
        mujoco.mju_negQuat(back, data.qpos[3:7])
        turn = np.zeros(4)
        mujoco.mju_mulQuat(turn, self._base[3:7], back)
        mujoco.mju_quat2Vel(error, turn, 1.0)
        force = stiffness * (self._base[:3] - data.qpos[:3]) - damping * velocity[3:]
        return np.concatenate([force, turning * error - turn_damping * velocity[:3]])

    # ---- for recorders ----

    def truth(self) -> Truth:
        """What no robot can measure."""
        data = self.plant.data
        rotation = data.xmat[1].reshape(3, 3)
        mujoco.mj_subtreeVel(self.plant.model, data)
        return Truth(
            touching=self.plant.touching(),
            base_position=data.qpos[:3].copy(),
            base_quaternion=data.qpos[[4, 5, 6, 3]].copy(),
            base_velocity=data.qvel[:3].copy(),
            base_angular_velocity=rotation @ data.qvel[3:6],
            com=data.subtree_com[1].copy(),
            com_velocity=data.subtree_linvel[1].copy(),
        )
