"""The body at telling moments, side by side: every link's outline in the plane of the push, with the force on it.

The outlines come from the visual shapes of the robot; no graphics card is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from humanoid_balance.figures import palette
from humanoid_balance.figures import playback as replay
from humanoid_balance.figures.playback import Puppet
from humanoid_balance.geometry import convex_hull
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.run import Run
from humanoid_balance.types import Array

GAP = 0.12  # between two bodies, in body heights
ARROW = 0.36  # length of the arrow of the strongest force, in body heights
MARK_COM: dict[str, Any] = {
    "marker": "o", "color": "white", "markeredgecolor": palette.COM, "markeredgewidth": 2.2, "markersize": 8,
}  # fmt: skip
MARK_DCM: dict[str, Any] = {"marker": "D", "color": palette.DCM, "markeredgecolor": "white", "markersize": 8}
MARK_HOME: dict[str, Any] = {"marker": "^", "color": palette.GROUND, "markersize": 6}

Outline = tuple[float, Array]  # depth behind the CoM [m], polygon (v, 2) [m]


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
        names = {90: "Seen from the right side:", 0: "Seen from behind:"}
        return View(right, depth, names.get(sight, f"Seen along {sight}°:"))

    def project(self, points: Array) -> Array:
        """World points (…, 3) in the picture (…, 2) [m]."""
        return np.stack([points @ self.right, points[..., 2]], axis=-1)


class Silhouette:
    """Outlines of a puppet's links in one view."""

    def __init__(self, puppet: Puppet, view: View) -> None:
        self.puppet, self.view = puppet, view
        self._points = {g: puppet.extreme_points(g) for g in puppet.shapes}

    def outlines(self, q: Array, com: Array) -> list[Outline]:
        """Of every link in a pose (7 + n,) with its CoM (3,), the farthest first."""
        self.puppet.pose(q)
        data = self.puppet.data
        found = []
        for geom, points in self._points.items():
            world = data.geom_xpos[geom] + points @ data.geom_xmat[geom].reshape(3, 3).T
            depth = float((world.mean(axis=0) - com) @ self.view.depth)
            flat = [(x, z) for x, z in self.view.project(world).tolist()]
            found.append((depth, np.array(convex_hull(flat))))
        return sorted(found, key=lambda outline: -outline[0])


class Bodies:
    """Draws rows of a record side by side, on one scale, spread over the whole width."""

    def __init__(self, run: Run, view: View) -> None:
        self.record, self.view = run.record, view
        self.puppet = Puppet.of(run)
        self.silhouette = Silhouette(self.puppet, view)
        self.capture, corners = replay.capture_point(run), replay.sole_corners(run)
        self.home = view.project(corners[0].reshape(-1, 3)).mean(axis=0)
        self.height = float(max(outline[:, 1].max() for _, outline in self._outlines(0)))
        self.strongest = float(np.linalg.norm(self.record["true_push"], axis=1).max())
        self.colours = palette.of_modes(self.record.modes)

    def draw(self, axes: Axes, rows: list[int], ratio: float) -> None:
        """``ratio``: width over height of the axes."""
        height = self.height
        outlines = [self._outlines(k) for k in rows]
        extents = [self._extent(k, outline) for k, outline in zip(rows, outlines, strict=True)]
        low, high = -0.09 * height, 1.34 * height
        width = (high - low) * ratio
        gap = max(GAP * height, (width - sum(right - left for left, right in extents)) / len(rows))
        cursor = gap / 2
        for number, (k, outline, (left, right)) in enumerate(zip(rows, outlines, extents, strict=True), start=1):
            shift = np.array([cursor - left, 0.0])
            self._ground(axes, left - gap / 2, right + gap / 2, shift)
            for depth, polygon in outline:
                shade = _shade(depth / height)
                axes.fill(*(polygon + shift).T, facecolor=shade, edgecolor="white", linewidth=0.5)
            self._marks(axes, k, shift)
            self._label(axes, number, k, cursor + (right - left) / 2)
            cursor += right - left + gap
        total = cursor - gap / 2
        axes.set_xlim(0.0, total)
        spare = (high - low) * (total / width - 1.0)  # bodies that need more room become smaller
        axes.set_ylim(low - spare / 2, high + spare / 2)
        axes.set_axis_off()

    def _outlines(self, k: int) -> list[Outline]:
        """At row ``k`` of the record."""
        return self.silhouette.outlines(self.record["true_q"][k], self.record["true_com"][k])

    def _extent(self, k: int, outlines: list[Outline]) -> tuple[float, float]:
        """Left and right end of a body with room for its label and its capture point, in the picture [m]."""
        com = float(self.view.project(self.record["true_com"][k])[0])
        spots = [com - 0.2 * self.height, com + 0.2 * self.height]
        spots += [float(f(polygon[:, 0])) for _, polygon in outlines for f in (np.min, np.max)]
        capture = float(self.view.project(self.capture[k])[0])
        if abs(capture - com) < 0.8 * self.height:
            spots.append(capture)
        return min(spots), max(spots)

    def _ground(self, axes: Axes, left: float, right: float, shift: Array) -> None:
        """The ground below one body, and where the middle of the soles stood at first."""
        ends = np.array([left, right])
        level = ends * self.view.right[0] * self.puppet.slope
        axes.plot(ends + shift[0], level, color=palette.GROUND, linewidth=1.2, zorder=0)
        if left < self.home[0] < right:
            axes.plot(self.home[0] + shift[0], self.home[1] - 0.045 * self.height, **MARK_HOME)

    def _marks(self, axes: Axes, k: int, shift: Array) -> None:
        com, capture = (self.view.project(a[k]) + shift for a in (self.record["true_com"], self.capture))
        below = com[0], self.view.right[0] * self.puppet.slope * (com[0] - shift[0])
        axes.plot(*zip(com, below, strict=True), color=palette.COM, linewidth=1.0, linestyle=":")
        axes.plot(*com, **MARK_COM)
        axes.plot(*capture, **MARK_DCM, zorder=6)
        force = self.record["true_push"][k]
        if np.linalg.norm(force) > 1e-6:
            tip = self.view.project(self.record["true_push_point"][k]) + shift
            tail = tip - self.view.project(force) / self.strongest * ARROW * self.height
            style = {"arrowstyle": "-|>,head_width=0.35,head_length=0.7", "linewidth": 3.5, "shrinkB": 5}
            axes.annotate("", tuple(tip), tuple(tail), arrowprops=style | {"color": palette.FORCE}, zorder=7)

    def _label(self, axes: Axes, number: int, k: int, x: float) -> None:
        mode, height = self.record.modes[int(self.record["mode"][k])], self.height
        axes.text(x, 1.2 * height, f"{number}:  {self.record['time'][k]:.2f} s", ha="center", va="bottom")
        box = {"boxstyle": "round,pad=0.2", "facecolor": palette.tint(self.colours[mode]), "linewidth": 0}
        axes.text(x, 1.165 * height, mode, ha="center", va="top", fontsize=10, bbox=box)

    def key(self) -> tuple[list[Line2D], list[str]]:
        """Handles and names for a legend."""
        handles = [Line2D([], [], linestyle="", **mark) for mark in (MARK_COM, MARK_DCM, MARK_HOME)]
        blank, arrow = Line2D([], [], linestyle=""), Line2D([], [], color=palette.FORCE, linewidth=3.5)
        names = [self.view.name, "CoM", "capture point", "middle of the soles at the start", "push"]
        return [blank, *handles, arrow], names


def _shade(depth: float) -> tuple[float, ...]:
    """Near links dark, far ones pale; ``depth`` behind the CoM in body heights."""
    share = 0.5 + 0.5 * math.tanh(8.0 * depth)
    near, far = np.array(palette.rgb("#4A5A6E")), np.array(palette.rgb("#C3CBD6"))
    return tuple(near + share * (far - near))
