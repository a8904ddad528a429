"""Footholds of a person that a robot's legs cannot keep: moved and turned on the ground to where they can.

Hips that do not adduct cannot set one foot before the other, and short ranges of yaw cannot turn on the spot. In the
frames in which such a sole does not stay, it is let loose on the ground; where joint limits then leave it in the worst
of them is where it should be.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_balance.motions.feet import runs
from humanoid_balance.motions.footing import Moves, SoleTrack
from humanoid_balance.motions.limbs_of_robot import RobotLimbs
from humanoid_balance.motions.posing import Poser, PoseWish
from humanoid_balance.types import Array

STAYS = 1.5e-3  # a sole that is so near to its place stays there [m, rad]
LOOSE = 12  # iterations of a pose with a loose sole
SHARE = 1.1  # of the way is gone: a little more than the worst frame needs, since the pelvis gives way less then
FARTHEST = (0.25, 0.8)  # that a foothold is moved in a round [m], and turned [rad]


def relax(moves: Moves, side: int, q: Array, wishes: list[PoseWish], track: SoleTrack, limbs: RobotLimbs) -> bool:
    """Add to the moves of a side what its supports need; whether any does."""
    poser, robot, found = Poser(limbs), limbs.robot, False
    frame, data = robot.sole_frames[side], robot.model.createData()

    def missed(pose: Array, wish: PoseWish) -> Array:
        """Place and turn of the sole, less what was wanted (6,)."""
        pin.framesForwardKinematics(robot.model, data, pose)
        place = data.oMf[frame]
        turn = pin.log3(place.rotation @ wish.sole_rotations[side].T)
        return np.concatenate([place.translation - wish.soles[side], turn])

    for begin, end in runs(track.support):
        off = [k for k in range(begin, end) if np.abs(missed(q[k], wishes[k])).max() > STAYS]
        worst = np.zeros(3)
        for k in off[:: max(1, len(off) // 6)]:
            poser.q = q[k].copy()
            loose = replace(wishes[k], loose=(side == 0, side == 1))
            away = missed(poser.solve(loose, robot.lower, robot.upper, LOOSE, LOOSE), loose)[[0, 1, 5]]
            worst = np.where(np.abs(away) > np.abs(worst), away, worst)
        if np.abs(worst).max() > STAYS:
            far, turned = FARTHEST
            step = np.clip(SHARE * worst, [-far, -far, -turned], [far, far, turned])
            moves[begin, end] = moves.get((begin, end), np.zeros(3)) + step
            found = True
    return found
