"""Could this robot hold itself on all fours? The least torques of static poses on hands and legs, by sampling.

    python benchmarks/on_all_fours.py talos --poses 20000

A pose is symmetric: the arms anyhow, legs and trunk bent forward, the belly down. It is laid on level ground as it
would come to rest (a minimum of the CoM's height over the pitch of the trunk). Where forearms or hands and legs touch
and nothing else does, a linear program finds the contact forces, within friction, for which the largest torque as a
share of its limit is least. A line per height of the trunk: how many poses, the least share, its joint, and the arms'.
A share above one cannot be held. Below one says only that it can be held there, not that a way leads through it.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

from humanoid_balance.plants.mujoco import model as mujoco_model
from humanoid_balance.plants.world import World
from humanoid_balance.robot import registry
from humanoid_balance.skills.mirror import Mirror
from humanoid_balance.skills.side import TrunkAxes
from humanoid_balance.types import Array

TOUCHING = 0.006  # a point so near the ground touches it [m]
PITCHES = 360  # of the trunk that are tried
AROUND = 12  # points on the rim of a cylinder
LEVEL = (0.05, 0.12, 0.2, 0.3, 0.45)  # the trunk's lowest point above the ground, upper ends of the lines [m]


@dataclass
class Held:
    """A static pose and what it takes."""

    clearance: float  # of the trunk [m]
    share: float  # largest torque / limit
    joint: str
    arms: float  # the same of the arms alone


def surface(model: mujoco.MjModel, geom: int) -> Array:
    """Corners of a geom in its own frame (k, 3)."""
    kind, (a, b, c) = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == int(mujoco.mjtGeom.mjGEOM_MESH):
        mesh = model.geom_dataid[geom]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        points = model.mesh_vert[first : first + count].astype(float)
        return np.asarray(points[ConvexHull(points).vertices])
    if kind == int(mujoco.mjtGeom.mjGEOM_BOX):
        return np.array([(x, y, z) for x in (-a, a) for y in (-b, b) for z in (-c, c)])
    if kind in (int(mujoco.mjtGeom.mjGEOM_CYLINDER), int(mujoco.mjtGeom.mjGEOM_CAPSULE)):
        ring = 2 * np.pi * np.arange(AROUND) / AROUND
        length = b + a * (kind == int(mujoco.mjtGeom.mjGEOM_CAPSULE))
        return np.array([(a * np.cos(t), a * np.sin(t), z) for t in ring for z in (-length, length)])
    raise ValueError(f"geom of type {kind}")


class Floor:
    """A robot and the floor that it may rest on."""

    def __init__(self, spec: str, friction: float) -> None:
        self.robot = registry.load(spec)
        robot = self.robot
        self.model = mujoco_model.build(robot, World(friction=friction))
        self.data = mujoco.MjData(self.model)
        self.friction, self.mirror, self.axes = friction, Mirror(robot), TrunkAxes(robot)
        model = self.model
        ground = model.geom("ground").id
        self.geoms = [g for g in range(model.ngeom) if model.geom_contype[g] and g != ground]
        self.points = {g: surface(model, g) for g in self.geoms}
        self.qpos = np.array([model.joint(name).qposadr[0] for name in robot.joint_names])
        self.dofs = np.array([model.joint(name).dofadr[0] for name in robot.joint_names])
        self.arms, self.legs = self._below("arms"), self._below("legs")
        arms = [*robot.groups["arms"], *robot.groups.get("hands", ())]
        self.is_arm = np.isin(np.arange(robot.n), arms)
        self.free = self._free()

    def _below(self, group: str) -> set[int]:
        """Bodies beyond the first half of a group's joints: hands and forearms, shins and feet."""
        model, robot = self.model, self.robot
        found = set()
        for side in (0, 1):
            joints = [i for i in robot.groups[group] if (self.mirror.partner[i] > i) == bool(side)]
            first = model.jnt_bodyid[model.joint(robot.joint_names[joints[len(joints) // 2]]).id]
            for body in range(model.nbody):
                up = body
                while up > 0:
                    if up == first:
                        found.add(body)
                    up = model.body_parentid[up]
        return found

    def _free(self) -> Array:
        """Joints of the left side and the middle that a symmetric pose may bend."""
        robot, mirror = self.robot, self.mirror
        legs = robot.groups["legs"]
        own = np.arange(robot.n)
        pitch = mirror.sign == 1  # its mirror image turns the same way
        return np.array([
            i for i in own
            if mirror.partner[i] >= i and (mirror.partner[i] != i or pitch[i]) and (i not in legs or pitch[i])
        ])  # fmt: skip

    def pose(self, rng: np.random.Generator) -> Array:
        robot, mirror = self.robot, self.mirror
        pose = np.clip(np.zeros(robot.n), robot.lower, robot.upper)
        for i in self.free:
            pose[i] = rng.uniform(robot.lower[i], robot.upper[i])
            pose[mirror.partner[i]] = pose[i] * mirror.sign[mirror.partner[i]]
        return np.clip(pose, robot.lower, robot.upper)

    def rests(self, pose: Array) -> list[Held]:
        """On all fours, in each pitch in which it would come to rest."""
        model, data = self.model, self.data
        mujoco.mj_resetData(model, data)
        data.qpos[self.qpos] = pose
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        places, owners = [], []
        for g in self.geoms:
            places.append(data.geom_xpos[g] + self.points[g] @ data.geom_xmat[g].reshape(3, 3).T)
            owners += [g] * len(self.points[g])
        points, com, origin = np.concatenate(places), data.subtree_com[1].copy(), data.qpos[:3].copy()
        angles = 2 * np.pi * np.arange(PITCHES) / PITCHES
        low = (np.outer(np.cos(angles), points[:, 2]) - np.outer(np.sin(angles), points[:, 0])).min(axis=1)
        height = np.cos(angles) * com[2] - np.sin(angles) * com[0] - low
        minima = np.flatnonzero((height < np.roll(height, 1)) & (height <= np.roll(height, -1)))
        held = (self._hold(pose, float(angles[k]), points - origin, np.array(owners)) for k in minima)
        return [found for found in held if found is not None]

    def _hold(self, pose: Array, pitch: float, points: Array, owners: Array) -> Held | None:
        c, s = np.cos(pitch), np.sin(pitch)
        turned = points @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
        turned[:, 2] -= turned[:, 2].min()
        touching = np.flatnonzero(turned[:, 2] < TOUCHING)
        bodies = {int(self.model.geom_bodyid[owners[i]]) for i in touching}
        if not (bodies & self.arms and bodies & self.legs and bodies <= self.arms | self.legs):
            return None
        model, data, robot = self.model, self.data, self.robot
        axes = self.axes.of(np.concatenate([[0.0, 0.0, 0.0, 0.0, np.sin(pitch / 2), 0.0, np.cos(pitch / 2)], pose]))
        if axes[2, 0] > 0.0:  # the belly is up
            return None
        data.qpos[:7] = 0.0, 0.0, 0.0, np.cos(pitch / 2), 0.0, np.sin(pitch / 2), 0.0
        data.qpos[self.qpos], data.qvel[:] = pose, 0.0
        mujoco.mj_forward(model, data)
        columns = []  # joint and base forces per force at a point
        raw = points @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
        for i in touching:
            jacobian = np.zeros((3, model.nv))
            mujoco.mj_jac(model, data, jacobian, None, raw[i], int(model.geom_bodyid[owners[i]]))
            columns.append(jacobian.T)
        G, bias = np.concatenate(columns, axis=1), data.qfrc_bias.copy()
        k = G.shape[1]
        base, joints, limit = np.arange(6), self.dofs, robot.torque_limit
        # x = forces, t:  |bias - G f| <= t limit on joints, G f = bias on the base, friction as a pyramid
        upper = np.vstack([
            np.column_stack([-G[joints], -limit]), np.column_stack([G[joints], -limit]), *self._pyramids(k),
        ])  # fmt: skip
        right = np.concatenate([-bias[joints], bias[joints], np.zeros(len(upper) - 2 * robot.n)])
        bounds = [(None, None), (None, None), (0, None)] * (k // 3) + [(0, None)]
        cost = np.zeros(k + 1)
        cost[-1] = 1.0
        found = linprog(cost, upper, right, np.column_stack([G[base], np.zeros(6)]), bias[base], bounds, method="highs")
        if found.status != 0:
            return None
        share = np.abs(bias - G @ found.x[:k])[joints] / limit
        trunk = ~np.isin(self.model.geom_bodyid[owners], list(self.arms | self.legs))
        joint = robot.joint_names[int(np.argmax(share))]
        return Held(float(turned[trunk, 2].min()), float(share.max()), joint, float(share[self.is_arm].max()))

    def _pyramids(self, k: int) -> list[Array]:
        rows, slope = [], self.friction / np.sqrt(2)
        for point in range(k // 3):
            for axis, sign in ((0, 1), (0, -1), (1, 1), (1, -1)):
                row = np.zeros((1, k + 1))
                row[0, 3 * point + axis], row[0, 3 * point + 2] = sign, -slope
                rows.append(row)
        return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robot")
    parser.add_argument("--poses", type=int, default=20000)
    parser.add_argument("--friction", type=float, default=0.8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    floor, rng = Floor(options.robot, options.friction), np.random.default_rng(options.seed)
    held = [found for _ in range(options.poses) for found in floor.rests(floor.pose(rng))]
    print(f"{options.robot}: {len(held)} poses on all fours of {options.poses}")
    for low, high in zip((0.0, *LEVEL), LEVEL, strict=False):
        line = sorted((h for h in held if low <= h.clearance < high), key=lambda h: h.share)
        if line:
            best = line[0]
            possible = sum(h.share <= 1.0 for h in line)
            least = f"least share {best.share:.2f} ({best.joint}; arms {best.arms:.2f})"
            print(f"trunk {low:.2f} to {high:.2f} m up: {possible} of {len(line)} can be held, {least}")


if __name__ == "__main__":
    main()
