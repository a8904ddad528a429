"""A finished run, seen again: its body posed at any recorded moment, and the true quantities that pictures show."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np

from humanoid_balance.experiments import metrics
from humanoid_balance.plants.mujoco import model as mujoco_model
from humanoid_balance.plants.world import World
from humanoid_balance.recording.run import Run
from humanoid_balance.robot.model import SOLE_NAMES, Robot
from humanoid_balance.types import GRAVITY, Array

VISUAL = 1  # group of the geoms that are seen; MuJoCo puts the collision shapes of a URDF into group 0
POSE, PLACE = 0.03, 0.01  # a body this close to its last pose is back in it [rad], [m]
DIRECTIONS = 160  # in which the extreme points of a shape are kept


class Puppet:
    """A simulated body with its visual shapes, moved by hand instead of by physics."""

    def __init__(self, robot: Robot, world: World) -> None:
        self.slope = float(np.tan(np.radians(world.tilt)))  # metres the ground rises per metre forward
        self.model = mujoco_model.build(robot, replace(world, visual=True, planar=False))
        self.data = mujoco.MjData(self.model)
        self._joints = [self.model.joint(name).qposadr[0] for name in robot.joint_names]
        self._choose_shapes()

    def _choose_shapes(self) -> None:
        """See visual shapes, or, where the URDF has none, the collision shapes; and always the ground."""
        group = self.model.geom_group
        if not (group == VISUAL).any():
            group[:] = VISUAL
        soles = [self.model.geom(name).id for name in SOLE_NAMES]
        still = np.flatnonzero(self.model.geom_bodyid == 0)
        group[still] = VISUAL
        self.shapes = [int(g) for g in np.flatnonzero(group == VISUAL) if g not in (*still, *soles)]

    @staticmethod
    def of(run: Run) -> Puppet:
        """The body of a finished run."""
        return Puppet(run.robot, run.settings.world)

    def pose(self, q: Array) -> None:
        """Take a pose: base position, base quaternion x y z w, joints (7 + n,)."""
        self.data.qpos[:3], self.data.qpos[3:7] = q[:3], q[[6, 3, 4, 5]]
        self.data.qpos[self._joints] = q[7:]
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)

    def ground(self) -> Array:
        """Orientation of the ground, its normal in the last column (3, 3)."""
        ground = self.model.geom("ground").id
        mujoco.mj_kinematics(self.model, self.data)
        return np.array(self.data.geom_xmat[ground]).reshape(3, 3)

    def extreme_points(self, geom: int) -> Array:
        """Points of a shape that are farthest out in some direction, in its frame (k, 3) [m]."""
        points = self._surface(geom)
        k = np.arange(DIRECTIONS) + 0.5  # Fibonacci sphere
        z, turn = 1 - 2 * k / DIRECTIONS, np.pi * (1 + np.sqrt(5)) * k
        out = np.stack([np.sqrt(1 - z**2) * np.cos(turn), np.sqrt(1 - z**2) * np.sin(turn), z])
        return points[np.unique(np.argmax(points @ out, axis=0))]

    def _surface(self, geom: int) -> Array:
        model, kinds = self.model, mujoco.mjtGeom
        kind, size = model.geom_type[geom], model.geom_size[geom]
        if kind == kinds.mjGEOM_MESH:
            mesh = model.geom_dataid[geom]
            start = model.mesh_vertadr[mesh]
            return np.array(model.mesh_vert[start : start + model.mesh_vertnum[mesh]], dtype=float)
        if kind == kinds.mjGEOM_BOX:
            return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size
        turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        ring = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
        if kind == kinds.mjGEOM_CYLINDER:
            return np.vstack([ring * size[0] + [0, 0, z] for z in (-size[1], size[1])])
        half = np.array([0, 0, size[1] if kind == kinds.mjGEOM_CAPSULE else 0.0])
        radii = size if kind == kinds.mjGEOM_ELLIPSOID else size[0]
        dome = np.vstack([ring * np.sin(a) + [0, 0, np.cos(a)] for a in np.linspace(0, np.pi, 13)]) * radii
        return dome + np.sign(dome[:, 2:]) * half


def capture_point(run: Run) -> Array:
    """True divergent component of motion, xi = c + c' / omega, on the ground below the CoM (k, 3) [m]."""
    com, velocity = run.record["true_com"], run.record["true_com_velocity"]
    ground = com[:, 0] * np.tan(np.radians(run.settings.world.tilt))
    omega = np.sqrt(GRAVITY / np.clip(com[:, 2] - ground, 0.05, None))
    point = com + velocity / omega[:, None]
    point[:, 2] = ground
    return point


def sole_corners(run: Run) -> Array:
    """Corners of the true soles in the world (k, 2 feet, 4, 3) [m]."""
    record = run.record
    turned = np.einsum("kfij,fcj->kfci", record["true_sole_rotation"], record.robot.soles)
    return turned + record["true_sole_position"][:, :, None, :]


def settled(run: Run) -> float:
    """When the story is over: the CoM is quiet for good and the body back in its last pose, or the run ends [s]."""
    record, time = run.record, run.record["time"]
    wait = metrics.recovery_time(record, run.pushes)
    if wait is None:
        return float(time[-1])
    joints, com = record["true_q"][:, 7:], record["true_com"]
    away = (np.abs(joints - joints[-1]) > POSE).any(axis=1) | (np.linalg.norm(com - com[-1], axis=1) > PLACE)
    home = time[np.flatnonzero(away)[-1]] if away.any() else time[0]
    return min(float(time[-1]), max(max((p.end for p in run.pushes), default=0.0) + wait, float(home)))
