"""The body as flat shapes: every link's outline in a vertical plane, the far ones first. Needs no graphics card."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from humanoid_balance.estimation.support import convex_hull
from humanoid_balance.experiments.replay import Puppet
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.types import Array


@dataclass(frozen=True)
class View:
    """A vertical picture plane: ``right`` points right in the picture, ``depth`` away from the viewer (3,)."""

    right: Array
    depth: Array
    name: str

    @staticmethod
    def of(push: PushProfile | None) -> View:
        """The plane of a push: from the robot's right side or, for a push to the side, from behind."""
        axis = np.array([1.0, 0.0, 0.0]) if push is None else push.axis
        right = axis if axis @ [1.0, -0.5, 0.0] > 0 else -axis
        depth = np.array([-right[1], right[0], 0.0])
        sight = round(math.degrees(math.atan2(depth[1], depth[0])))
        names = {90: "seen from the right side", 0: "seen from behind"}
        return View(right, depth, names.get(sight, f"seen along {sight}°"))

    def project(self, points: Array) -> Array:
        """World points (…, 3) in the picture (…, 2) [m]."""
        return np.stack([points @ self.right, points[..., 2]], axis=-1)


class Silhouette:
    """Outlines of a puppet's links in one view."""

    def __init__(self, puppet: Puppet, view: View) -> None:
        self.puppet, self.view = puppet, view
        self._points = {g: puppet.extreme_points(g) for g in puppet.shapes}

    def outlines(self, k: int) -> list[tuple[float, Array]]:
        """(depth behind the CoM [m], polygon (v, 2) [m]) of every link at row ``k``, the farthest first."""
        self.puppet.pose(k)
        data, com = self.puppet.data, self.puppet.record["true_com"][k]
        found = []
        for geom, points in self._points.items():
            world = data.geom_xpos[geom] + points @ data.geom_xmat[geom].reshape(3, 3).T
            depth = float((world.mean(axis=0) - com) @ self.view.depth)
            flat = [(x, z) for x, z in self.view.project(world).tolist()]
            found.append((depth, np.array(convex_hull(flat))))
        return sorted(found, key=lambda shape: -shape[0])
