"""Where a robot has hips, knees, ankles, shoulders, elbows and wrists: from its tree of joints, not from names."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pinocchio as pin

from humanoid_balance.errors import InputError
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

ALONG = 0.9  # cosine from which on an axis counts as parallel
WRIST = 0.6  # of the distance from the elbow to the end of the arm: the first joint beyond is the wrist
HERE = 1e-3  # joints that are nearer to each other are in one place [m]
LEAST = 6  # joints of a leg that can put a foot anywhere


class RobotLimbs:
    """Joints by Pinocchio's numbers, left before right; lengths in metres, places in the nominal stance."""

    def __init__(self, robot: Robot) -> None:
        self.robot, model = robot, robot.model
        self._data = model.createData()
        pin.computeJointJacobians(model, self._data, robot.q_nominal)
        pin.updateFramePlacements(model, self._data)
        self._children = {k: [c for c in range(model.njoints) if model.parents[c] == k] for k in range(model.njoints)}
        feet = [model.frames[f].parentJoint for f in robot.sole_frames]
        self.legs = [self._chain(foot) for foot in feet]
        if robot.planar or min(map(len, self.legs)) < LEAST:
            count = min(map(len, self.legs))
            raise InputError(f"robot '{robot.spec}' has {count} joints per leg; allowed for a clip: {LEAST} or more")
        self.arms = [self._arm(side) for side in (1.0, -1.0)]
        if not all(self.arms):
            raise InputError(f"robot '{robot.spec}' has no two arms; allowed for a clip: two, with an elbow each")
        lateral = [[k for k in leg if abs(self.axis(k)[1]) > ALONG] for leg in self.legs]
        self.hips = [leg[1] for leg in self.legs]  # the middle one of three that may lie apart
        self.knees, self.ankles = [turning[-2] for turning in lateral], [turning[-1] for turning in lateral]
        self.shoulders, self.elbows, self.wrists = ([arm[k] for arm in self.arms] for k in range(3))
        self.wrist_places = np.array([self._end(*arm[1:]) for arm in self.arms])  # in the frames of ``wrists`` (2, 3)
        bones = zip((*self.hips, *self.knees), (*self.knees, *self.ankles), strict=True)
        self.leg = sum(self._apart(a, b) for a, b in bones) / 2  # thigh and shank
        base = self._data.oMi[1]
        self.base_rotation: Array = base.rotation.copy()
        self.hip_places = np.array([base.actInv(self.place(k)) for k in self.hips])  # in the base's frame (2, 3)
        self.ankle_places = np.array(  # in the soles' frames (2, 3)
            [self._data.oMf[f].actInv(self.place(k)) for f, k in zip(robot.sole_frames, self.ankles, strict=True)]
        )

    def place(self, joint: int) -> Array:
        return np.asarray(self._data.oMi[joint].translation)

    def axis(self, joint: int) -> Array:
        """Of rotation, world."""
        return np.asarray(self._data.J[3:, self.robot.model.joints[joint].idx_v])

    def _apart(self, a: int, b: int) -> float:
        return float(np.linalg.norm(self.place(a) - self.place(b)))

    def _chain(self, joint: int) -> list[int]:
        return [k for k in self.robot.model.supports[joint] if k > 1]

    def _arm(self, side: float) -> list[int]:
        """Shoulder, elbow and wrist of the longest limb of a side that is not a leg."""
        legs = {k for leg in self.legs for k in leg}
        ends = [k for k, below in self._children.items() if k > 1 and not below and k not in legs]
        ends = [k for k in ends if side * self.place(k)[1] > 0.1 * self.robot.stance_width]
        if not ends:
            return []
        chain = self._chain(max(ends, key=lambda k: len(self._chain(k))))
        arm = [k for k in chain if side * self.place(k)[1] > 0.1 * self.robot.stance_width]
        bends = [k for k in range(2, len(arm) - 1) if not self._twists(arm, k)]
        if not bends:
            return []
        path = np.cumsum([0.0, *(self._apart(a, b) for a, b in pairwise(arm[1:]))])
        if not (path < path[-1] - HERE)[path > HERE].any():  # all joints beyond the shoulder are in one place: no wrist
            elbow = next(k for k in range(1, len(arm)) if path[k - 1] > HERE)
            return [arm[1], arm[elbow], arm[-1]]
        elbow = min(bends, key=lambda k: abs(path[k - 1] - path[-1] / 2))
        far = max(self._apart(arm[elbow], k) for k in arm[elbow + 1 :])
        wrist = next(k for k in arm[elbow + 1 :] if self._apart(arm[elbow], k) > WRIST * far)
        return [arm[1], arm[elbow], wrist]

    def _end(self, elbow: int, wrist: int) -> Array:
        """Where the wrist is in the frame of its joint. A forearm without one ends as far beyond its CoM as the elbow
        is before it.
        """
        if self._apart(elbow, wrist) > HERE:
            return np.zeros(3)
        return 2.0 * np.asarray(self.robot.model.inertias[wrist].lever)

    def _twists(self, arm: list[int], k: int) -> bool:
        """The axis runs along the bone: what follows turns about itself."""
        for other in arm[k + 1 :]:
            bone = self.place(other) - self.place(arm[k])
            length = float(np.linalg.norm(bone))
            if length > HERE:
                return bool(abs(self.axis(arm[k]) @ bone) > ALONG * length)
        return True
