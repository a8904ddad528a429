"""Where the legs are and how they move, and orientations of their links in the world."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_balance.gaits.limbs import Limb
from humanoid_balance.gaits.table import Gain
from humanoid_balance.types import Array


class LimbViews:
    """Where a leg is and how it moves, read in Pinocchio's own memory: asking for it by name takes ten times longer."""

    def __init__(self, limb: Limb, data: pin.Data) -> None:
        self.thigh, self.thigh_rate = data.oMi[limb.thigh].rotation, data.v[limb.thigh].angular
        self.hips = [data.oMi[joint].rotation for joint in limb.hip_joints]
        self.hip = data.oMi[limb.pitch].translation
        self.ankle, self.shank_rate = data.oMi[limb.ankle_joint].translation, data.v[limb.shank].angular
        self.foot, self.foot_twist = data.oMi[limb.foot].rotation, data.v[limb.foot].vector
        self._sole, self._sole_at = limb.sole.rotation.tolist(), limb.sole.translation.tolist()

    def pressed(self, x: float, y: float) -> tuple[float, float, float]:
        """A point of the sole's plane in the frame of the foot [m]."""
        (a, b, _), (c, d, _), (e, f, _) = self._sole
        u, v, w = self._sole_at
        return a * x + b * y + u, c * x + d * y + v, e * x + f * y + w


def posed(heading: float, left: float, forward: float) -> Array:
    """Orientation of a link whose lower end goes forward and to the left: R_z(heading) R_x(left) R_y(-forward)."""
    (ch, sh), (cl, sl) = (math.cos(heading), math.sin(heading)), (math.cos(left), math.sin(left))
    cf, sf = math.cos(forward), -math.sin(forward)
    return np.array(
        [
            [ch * cf - sh * sl * sf, -sh * cl, ch * sf + sh * sl * cf],
            [sh * cf + ch * sl * sf, ch * cl, sh * sf - ch * sl * cf],
            [-cl * sf, sl, cl * cf],
        ]
    )


def hold(gain: Gain, wanted: Array, found: Array, rate: Array) -> Array:
    """Torque that turns a link towards an orientation in the world; ``rate`` [rad/s] is how it turns now."""
    torque: Array = gain.stiffness * pin.log3(wanted.dot(found.T)) - gain.damping * rate
    return torque
