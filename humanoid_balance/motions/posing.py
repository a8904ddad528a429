"""One pose of a robot from wishes of unequal weight: damped Gauss-Newton within bounds of position and speed.

    minimise    |W (J dq - e)|² + |w_p (q + dq - posture)|² + d |dq|²
    subject to  low <= q + dq <= high,  z + J_z dq >= 0

Soles weigh most: a standing one stays exactly, and pelvis and arms give way. DAQP keeps the bounds, and the parts of
the body that are near the ground above it, which is always possible: the base may rise. Points and their Jacobians
are computed in one piece from Pinocchio's joint Jacobian, v_p = v_o - p x w.
"""

from __future__ import annotations

from dataclasses import dataclass

import daqp
import numpy as np
import pinocchio as pin

from humanoid_balance.motions.limbs_of_robot import RobotLimbs
from humanoid_balance.types import Array

SOLE, SWINGING = 60.0, 5.0  # weight of a standing and of a swinging sole [1/m]
SOLE_TURN, SWINGING_TURN = 60.0, 0.6  # the same of its orientation [1/rad]: feet of a body that lies do not matter
PELVIS, PELVIS_TURN, CHEST, BONES = 1.0, 0.6, 0.6, 0.35  # [1/m], [1/rad], [1/rad], per unit of a bone's direction
POSTURE = 0.02  # of joints that nothing else wants to move [1/rad]
DAMPING = 1e-3  # [1/rad²]
GROUND = 0.15  # parts of the body that are lower may meet the ground in one iteration [m]
BONE_STARTS, BONE_ENDS = [4, 5, 7, 8], [5, 6, 8, 9]  # shoulders, elbows and wrists among the points
IDENTITY = np.eye(3)
FREE = np.full(6, 1e6)  # bounds of the base
SENSE = np.zeros(1000, dtype=np.int32)  # all are inequalities
THICK = {"hips": 0.10, "knees": 0.07, "shoulders": 0.09, "elbows": 0.06, "wrists": 0.05}  # around a joint, of the leg
NEARLY = 2e-3  # a part of the body that is less deep in the ground is not worth an iteration [m]
EXACT = 2e-4  # a standing sole that is so near to its place is there [m, rad]
LONGEST = 0.4  # of a change of a coordinate in one iteration [m, rad]: farther away its Jacobian says nothing
DONE = 1e-4  # largest change of a coordinate that needs no other iteration


@dataclass(frozen=True, slots=True)
class PoseWish:
    """What a frame asks for, world axes."""

    soles: Array  # positions (2, 3)
    sole_rotations: Array  # (2, 3, 3)
    stands: tuple[bool, bool]
    level: Array  # of the ground below each sole (2,)
    hips: Array  # middle of the hips (3,)
    pelvis: Array  # orientation of the base (3, 3)
    chest: Array  # of the torso frame (3, 3)
    bones: Array  # unit vectors: left upper arm, forearm, right (4, 3)
    loose: tuple[bool, bool] = (False, False)  # a standing sole may be elsewhere on the ground, and turned

    def same(self, other: PoseWish) -> bool:
        """Of the same clip, whose contacts and upper body do not change: the same footholds and hips."""
        return bool(
            (self.soles == other.soles).all()
            and (self.sole_rotations == other.sole_rotations).all()
            and (self.hips == other.hips).all()
        )


class Poser:
    """Keeps the last pose as the start of the next."""

    def __init__(self, limbs: RobotLimbs) -> None:
        robot = limbs.robot
        self.robot, self.limbs = robot, limbs
        self.model, self.data = robot.model, robot.model.createData()
        self.q = robot.q_nominal.copy()
        model = self.model
        frames = [*robot.sole_frames, robot.torso_frame]
        arms = [j for side in range(2) for j in (limbs.shoulders[side], limbs.elbows[side], limbs.wrists[side])]
        self._clear = [j for name in THICK for j in getattr(limbs, name)]
        self._thick = limbs.leg * np.array([t for name, t in THICK.items() for _ in getattr(limbs, name)])
        self._thick = np.append(self._thick, np.zeros(8))  # corners of the soles
        self._points = [*limbs.hips, *arms, *self._clear]
        zero = np.zeros(3)
        ends = dict(zip(limbs.wrists, limbs.wrist_places, strict=True))
        self._off = [ends.get(j, zero) for j in self._points]
        self._frames = [(model.frames[f].parentJoint, model.frames[f].placement) for f in frames]
        self._turn_mask = np.stack([self._mask(joint) for joint, _ in self._frames])  # soles, torso
        corners = [mask for mask in self._turn_mask[:2] for _ in robot.soles[0]]
        self._mask_of = np.stack([*self._turn_mask[:2], *(self._mask(j) for j in self._points), *corners])
        self._rest = POSTURE**2 + DAMPING
        self._skew = np.zeros((len(self._mask_of), 3, 3))
        self._base = self._mask(1)
        ground, upright = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
        self._weights = (  # of the place of a sole and its turn: swinging, standing, standing somewhere
            (np.full(3, SWINGING), np.full(3, SWINGING_TURN)),
            (np.full(3, SOLE), np.full(3, SOLE_TURN)),
            (SWINGING * ground + SOLE * upright, SOLE_TURN * ground + SWINGING_TURN * upright),
        )
        self.under = False  # a part of the body is in the ground
        self.ground = True  # which may be forgotten on the way to the first pose

    def _mask(self, joint: int) -> Array:
        mask = np.zeros(self.model.nv)
        for k in self.model.supports[joint]:
            if k:
                begin = self.model.joints[k].idx_v
                mask[begin : begin + self.model.joints[k].nv] = 1.0
        return mask

    def solve(self, wish: PoseWish, low: Array, high: Array, iterations: int, most: int) -> Array:
        """The pose nearest to the wish with joints in [low, high] (n,); up to ``most`` until standing soles stand."""
        q = self.q
        q[7:] = np.clip(q[7:], low, high)
        for k in range(most):
            rows, errors, lifts, low_by = self._linearised(q, wish)
            off = max((np.abs(errors[6 * s : 6 * s + 6]).max() for s in range(2) if wish.stands[s]), default=0.0)
            if k >= iterations and not self.under and off < SOLE * EXACT:
                break
            H = rows.T @ rows
            g = rows.T @ errors
            g[6:] += POSTURE**2 * (self.robot.posture - q[7:])
            H[np.diag_indices_from(H)] += self._rest
            step = _bounded(H, g, low - q[7:], high - q[7:], lifts, low_by)
            step *= min(1.0, LONGEST / max(float(np.abs(step).max()), LONGEST))
            q = pin.integrate(self.model, q, step)
            if np.abs(step).max() < DONE:
                break
        self.q = q
        return q

    def _linearised(self, q: Array, wish: PoseWish) -> tuple[Array, Array, Array, Array]:
        """Weighted Jacobian and errors; Jacobian and heights of what is near the ground."""
        model, data = self.model, self.data
        pin.computeJointJacobians(model, data, q)
        poses = [data.oMi[joint] * place for joint, place in self._frames]
        joints = [data.oMi[j].act(off) for j, off in zip(self._points, self._off, strict=True)]
        corners = [c @ p.rotation.T + p.translation for c, p in zip(self.robot.soles, poses, strict=False)]
        places = np.vstack([poses[0].translation, poses[1].translation, *joints, *corners])
        x, y, z = places.T
        skew = self._skew
        skew[:, 0, 1], skew[:, 0, 2], skew[:, 1, 0] = -z, y, z
        skew[:, 1, 2], skew[:, 2, 0], skew[:, 2, 1] = -x, -y, x
        J = data.J
        moves = (J[:3] - skew @ J[3:]) * self._mask_of[:, None]
        turns = J[3:] * self._turn_mask[:, None]
        rows, errors = [], []
        for side in range(2):
            w, t = self._weights[0 if not wish.stands[side] else 2 if wish.loose[side] else 1]
            turn = pin.log3(wish.sole_rotations[side] @ poses[side].rotation.T)
            rows += [w[:, None] * moves[side], t[:, None] * turns[side]]
            errors += [w * (wish.soles[side] - places[side]), t * turn]
        rows.append(PELVIS / 2 * (moves[2] + moves[3]))
        errors.append(PELVIS * (wish.hips - (places[2] + places[3]) / 2))
        base = data.oMi[1].rotation
        rows += [PELVIS_TURN * J[3:] * self._base, CHEST * turns[2]]
        errors += [PELVIS_TURN * pin.log3(wish.pelvis @ base.T), CHEST * pin.log3(wish.chest @ poses[2].rotation.T)]
        way = places[BONE_ENDS] - places[BONE_STARTS]
        length = np.sqrt((way * way).sum(axis=1))[:, None]
        way /= length
        along = (IDENTITY - way[:, :, None] * way[:, None]) * (BONES / length[..., None])
        rows.append((along @ (moves[BONE_ENDS] - moves[BONE_STARTS])).reshape(-1, model.nv))
        errors.append(BONES * (wish.bones - way).ravel())
        low = places[10:, 2] - self._thick
        low[-8:-4] -= wish.level[0]
        low[-4:] -= wish.level[1]
        self.under = bool(low.min() < -NEARLY)
        near = np.flatnonzero(low < GROUND) if self.ground else np.zeros(0, dtype=int)
        return np.concatenate(rows), np.concatenate(errors), moves[10:, 2][near], low[near]


def _bounded(H: Array, g: Array, low: Array, high: Array, lifts: Array, height: Array) -> Array:
    """The minimum of x'Hx/2 - g'x with the joints within bounds and nothing in the ground, height + lifts x >= 0: DAQP,
    where the free one leaves them.
    """
    step = np.linalg.solve(H, g)
    if (step[6:] >= low).all() and (step[6:] <= high).all() and (lifts @ step >= -height).all():
        return np.asarray(step)
    upper = np.concatenate([FREE, high, np.full(len(height), 1e6)])
    lower = np.concatenate([-FREE, low, -height])
    found, _, verdict, _ = daqp.solve(H, -g, np.ascontiguousarray(lifts), upper, lower, SENSE[: len(upper)])
    step = found if verdict > 0 else step
    step[6:] = np.clip(step[6:], low, high)
    return np.asarray(step)
