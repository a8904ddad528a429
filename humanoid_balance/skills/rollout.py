"""Bare physics for the optimiser: MuJoCo, joint feedback within the torque limits, no sensors, no loop.

2 ms a step, about fifteen times real time on one core. What it finds is verified by the whole loop at 1 ms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import mujoco
import numpy as np
import pinocchio as pin

from humanoid_balance.geometry import Polygon
from humanoid_balance.plants.mujoco import model as mujoco_model
from humanoid_balance.plants.world import World
from humanoid_balance.robot.model import SOLE_NAMES, Robot
from humanoid_balance.skills.handover import STEADY, on_feet
from humanoid_balance.skills.player import Player
from humanoid_balance.skills.script import FEET, Script
from humanoid_balance.skills.side import LEFT_SIDE, PRONE, RIGHT_SIDE, SUPINE, TrunkAxes, side_of
from humanoid_balance.types import GRAVITY, Array

STEP = 0.002  # physics and feedback [s]
WATCH = 10  # steps between two looks at the body for figures and conditions: 20 ms
HANDED = 1 + math.ceil(STEADY / (WATCH * STEP))  # looks that a body stands before it is handed over
SETTLE = 1.5  # time that a dropped body is given to come to rest [s]
DROP = 0.05  # it is let go this far above the ground [m]
LIMP = 0.02  # stiffness of a body at rest, and damping, as shares of the torque limit [1/rad, s/rad]
# Base rotations: turn about the world's y or x from the upright stance.
LAID = {SUPINE: (0.0, -math.pi / 2), PRONE: (0.0, math.pi / 2), LEFT_SIDE: (-math.pi / 2, 0.0),
        RIGHT_SIDE: (math.pi / 2, 0.0)}  # fmt: skip


@dataclass
class Watched:
    """Figures of a rollout, one entry per look."""

    time: list[float] = field(default_factory=list)
    axes: list[Array] = field(default_factory=list)  # of the trunk
    com: list[Array] = field(default_factory=list)
    effort: list[float] = field(default_factory=list)  # mean of |torque| / limit
    soles: list[Array] = field(default_factory=list)  # positions (2, 3)
    sole_up: list[Array] = field(default_factory=list)  # z of each sole's normal (2,)
    load: list[Array] = field(default_factory=list)  # normal force of each sole / weight (2,)
    speed: list[float] = field(default_factory=list)  # of the CoM [m/s]
    margin: list[float] = field(default_factory=list)  # of the capture point from the edge of the soles [m]
    on_feet: list[bool] = field(default_factory=list)  # the QP could take over

    def handed_over(self) -> bool:
        """It has stood long enough for the QP to take over."""
        return len(self.on_feet) >= HANDED and all(self.on_feet[-HANDED:])


class Bench:
    """One robot in one world; rollouts of scripts on it."""

    def __init__(self, robot: Robot, friction: float = 0.8) -> None:
        self.robot = robot
        self.model = mujoco_model.build(robot, World(friction=friction, timestep=STEP))
        self.data = mujoco.MjData(self.model)
        self.axes = TrunkAxes(robot)
        model = self.model
        # Where the joints are in qpos and qvel, and the velocity of the CoM in sensordata.
        self.qpos = np.array([model.joint(name).qposadr[0] for name in robot.joint_names])
        self.qvel = np.array([model.joint(name).dofadr[0] for name in robot.joint_names])
        self._soles = np.array([model.site(name).id for name in SOLE_NAMES])
        first = 3 * robot.n + 6
        self._sole_force = np.array([first + 2, first + 8])
        self.velocity = slice(first + 12, first + 15)

    # ---- poses ----

    @property
    def q(self) -> Array:
        """Pinocchio configuration."""
        d = self.data.qpos
        return np.concatenate((d[:3], d[[4, 5, 6, 3]], d[self.qpos]))

    def place(self, q: Array) -> None:
        data = self.data
        mujoco.mj_resetData(self.model, data)
        data.qpos[:3], data.qpos[3:7], data.qpos[self.qpos] = q[:3], q[[6, 3, 4, 5]], q[7:]
        mujoco.mj_forward(self.model, data)

    def lay(self, side: str, rng: np.random.Generator | None = None, pose: Array | None = None) -> Array:
        """Lay the body down and let it come to rest; perturbed by ±0.1 rad and ±10 deg with ``rng``."""
        robot = self.robot
        roll, pitch = LAID[side]
        turn = pin.rpy.rpyToMatrix(roll, pitch, 0.0)
        joints = np.clip(np.zeros(robot.n) if pose is None else pose, robot.lower, robot.upper)
        if rng is not None:
            joints = np.clip(joints + rng.uniform(-0.1, 0.1, robot.n), robot.lower, robot.upper)
            turn = pin.rpy.rpyToMatrix(*np.radians(rng.uniform(-10, 10, 3))) @ turn
        upright = pin.Quaternion(robot.q_nominal[3:7]).toRotationMatrix()
        quaternion = pin.Quaternion(turn @ upright)
        q = np.concatenate(([0.0, 0.0, 2.0], quaternion.coeffs(), joints))
        self.place(q)
        q[2] += DROP - self._lowest()
        self.place(q)
        self._relax(joints)
        return self.q

    def _lowest(self) -> float:
        """Height of the lowest point of the body, by its geoms' bounding spheres refined by contact distance [m]."""
        ground = self.model.geom("ground").id
        best, fromto = 10.0, np.zeros(6)
        for geom in range(self.model.ngeom):
            if geom != ground and self.model.geom_contype[geom]:
                best = min(best, mujoco.mj_geomDistance(self.model, self.data, ground, geom, 10.0, fromto))
        return best

    def _relax(self, joints: Array) -> None:
        robot, data, model = self.robot, self.data, self.model
        k = 5 * LIMP * robot.torque_limit
        for _ in range(round(SETTLE / STEP)):
            torque = k * (joints - data.qpos[self.qpos]) - LIMP * robot.torque_limit * data.qvel[self.qvel]
            data.ctrl[:] = np.clip(torque, -robot.torque_limit, robot.torque_limit)
            mujoco.mj_step(model, data)

    # ---- rollouts ----

    def load(self) -> Array:
        """Normal force on each sole as a share of the weight (2,)."""
        return -self.data.sensordata[self._sole_force] / self.robot.weight

    def play(self, script: Script, q: Array, after: float = 0.5) -> tuple[Player, Watched]:
        """From rest in a configuration, until ``after`` seconds past the end of the script, or giving up.

        Getting up ends where the loop would hand the body over to the QP.
        """
        robot, data, model = self.robot, self.data, self.model
        self.place(q)
        player, seen = Player(robot, script), Watched()
        player.begin(q[7:])
        stiffness, damping, limit = script.stiffness, script.damping, robot.torque_limit
        side, load, tail, k = side_of(self.axes.of(q)), 0.0, after, 0
        while tail > 0.0:
            here = self.q
            if k % WATCH == 0:
                axes = self.axes.of(here)
                side = side_of(axes)
                loads = self.load()
                load = float(loads.sum())
                self._look(seen, k * STEP, axes, loads)
                if script.ends == FEET and player.last and seen.handed_over():
                    break
            position, velocity = player.update(STEP, here, side, load)
            torque = stiffness * (position - here[7:]) + damping * (velocity - data.qvel[self.qvel])
            data.ctrl[:] = np.clip(torque, -limit, limit)
            mujoco.mj_step(model, data)
            k += 1
            if player.gave_up or not math.isfinite(data.qvel[0]):
                break
            if player.done:
                tail -= STEP
        self._look(seen, k * STEP, self.axes.of(self.q), self.load())
        return player, seen

    def _look(self, seen: Watched, time: float, axes: Array, load: Array) -> None:
        data = self.data
        seen.time.append(time)
        seen.axes.append(axes)
        seen.com.append(data.subtree_com[1].copy())
        seen.effort.append(float(np.mean(np.abs(data.ctrl) / self.robot.torque_limit)))
        seen.soles.append(data.site_xpos[self._soles].copy())
        seen.sole_up.append(data.site_xmat[self._soles, 8].copy())
        seen.load.append(load.copy())
        velocity = data.sensordata[self.velocity]
        speed = float(np.linalg.norm(velocity))
        com = seen.com[-1]
        place, rotation = data.site_xpos[self._soles], data.site_xmat[self._soles].reshape(2, 3, 3)
        corners = place[:, None] + self.robot.soles @ rotation.transpose(0, 2, 1)
        polygon = Polygon([(float(x), float(y)) for x, y in corners.reshape(-1, 3)[:, :2]])
        omega = math.sqrt(GRAVITY / max(com[2] - place[:, 2].mean(), 0.1))
        dcm = com[:2] + velocity[:2] / omega
        margin = polygon.margin(float(dcm[0]), float(dcm[1]))
        over, flat = polygon.margin(float(com[0]), float(com[1])), float(seen.sole_up[-1].min())
        seen.speed.append(speed)
        seen.margin.append(margin)
        seen.on_feet.append(on_feet(float(load.sum()), flat, speed, over, margin))
