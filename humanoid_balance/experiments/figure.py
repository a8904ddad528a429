"""One picture that tells the story of a push: the body at telling moments, then the curves that explain them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from humanoid_balance.experiments import metrics, replay
from humanoid_balance.experiments.silhouette import Silhouette, View
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

if TYPE_CHECKING:
    from humanoid_balance.experiments.push import PushRun

SIZE, DPI = (14.0, 10.0), 100  # [inch], [pixel/inch]
MOMENTS = 8  # bodies in the top row
BEFORE, AFTER = 0.4, 0.6  # shown before the first push and after the robot is quiet [s]
GAP = 0.12  # between two bodies, in body heights

# Okabe and Ito: told apart by colour-blind readers and, by lightness, in grey.
BLACK, BLUE, SKY, GREEN, ORANGE, RED, PURPLE, YELLOW = (
    "#000000", "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#F0E442",
)  # fmt: skip
COM, ZMP, DCM, FORCE, GROUND = BLUE, RED, GREEN, PURPLE, "#888888"
MODES = (SKY, ORANGE, GREEN, PURPLE, YELLOW, RED, BLUE, BLACK)
MARK_COM: dict[str, Any] = {
    "marker": "o", "color": "white", "markeredgecolor": COM, "markeredgewidth": 2.2, "markersize": 8,
}  # fmt: skip
MARK_DCM: dict[str, Any] = {"marker": "D", "color": DCM, "markeredgecolor": "white", "markersize": 7, "zorder": 6}
STYLE = {"font.size": 12, "axes.titlesize": 12, "axes.labelsize": 12, "legend.fontsize": 11, "axes.linewidth": 0.8}


def save(done: PushRun, pushes: list[PushProfile], path: Path) -> None:
    """Draw the run into a PNG of 1400 by 1000 pixels."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = Figure(SIZE, DPI)
        FigureCanvasAgg(figure)
        _Story(done, pushes).draw(figure)
        figure.savefig(path, format="png")


def telling_joints(robot: Robot, normal: Array) -> dict[str, list[int]]:
    """Joints by part of the body, left before right, that turn most about ``normal`` in the nominal stance.

    What a joint is follows from its group and from where it sits: a leg has its hip high, its ankle low and its knee
    between; the last joint of an arm's group is the elbow.
    """
    model, data = robot.model, robot.model.createData()
    axes = np.abs(normal @ pin.computeJointJacobians(model, data, robot.q_nominal)[3:, 6:])
    place = np.array([data.oMi[i + 2].translation for i in range(robot.n)])
    parts: dict[str, list[int]] = {}

    def choose(part: str, joints: Array) -> None:
        if len(joints):
            parts.setdefault(part, []).append(int(joints[np.argmax(axes[joints])]))

    none = np.zeros(0, int)
    legs, arms = robot.groups.get("legs", none), robot.groups.get("arms", none)
    for side in (1, -1):
        arm = arms[side * place[arms, 1] > 0]
        choose("shoulder", arm[:-1])
        leg = legs[side * place[legs, 1] > 0]
        level = place[leg, 2] / place[leg, 2].max(initial=1e-9)
        for part, low, high in (("hip", 0.7, 1.1), ("knee", 0.3, 0.7), ("ankle", -0.1, 0.3)):
            choose(part, leg[(level > low) & (level <= high)])
    choose("waist", robot.groups.get("torso", none))
    return {part: parts[part] for part in ("shoulder", "waist", "hip", "knee", "ankle") if part in parts}


class _Story:
    def __init__(self, done: PushRun, pushes: list[PushProfile]) -> None:
        self.done, self.pushes, self.record = done, pushes, done.record
        self.robot = done.record.robot
        self.time = done.record["time"]
        self.view = View.of(replay.main_push(pushes))
        start = min((p.start for p in pushes), default=0.0)
        self.first = max(float(self.time[0]), start - BEFORE)
        self.last = min(float(self.time[-1]), replay.settled(done, pushes) + AFTER)
        self.last = max(self.last, self.first + 0.01)
        self.capture, self.corners = replay.capture_point(done), replay.sole_corners(done)
        self.colours = {mode: MODES[i % len(MODES)] for i, mode in enumerate(self.record.modes)}
        self.moments = self._moments()

    def draw(self, figure: Figure) -> None:
        figure.suptitle(self._title(), x=0.055, y=0.985, ha="left", va="top", fontsize=14, fontweight="bold")
        rows = figure.add_gridspec(2, 1, height_ratios=[3.3, 5.6], left=0.055, right=0.985, top=0.945, bottom=0.055,
                                   hspace=0.06)  # fmt: skip
        self._bodies(figure.add_subplot(rows[0]))
        columns = rows[1].subgridspec(1, 2, wspace=0.13)
        left = columns[0].subgridspec(4, 1, height_ratios=[0.16, 2.0, 2.0, 1.2], hspace=0.09)
        right = columns[1].subgridspec(3, 1, height_ratios=[0.16, 3.1, 2.1], hspace=0.09)
        for grid, painters in ((left, (self._x, self._y, self._force)), (right, (self._angles, self._torque))):
            self._mode_strip(figure.add_subplot(grid[0]))
            for row, paint in enumerate(painters, start=1):
                axes = figure.add_subplot(grid[row])
                self._frame(axes, bottom=row == len(painters))
                paint(axes)

    def _title(self) -> str:
        result, push = self.done.result, replay.main_push(self.pushes)
        how = "no push"
        if push is not None:
            shape = "" if push.profile == "constant" else f" {push.profile}"
            how = f"{push.force:g} N{shape} for {push.duration:g} s towards {push.direction:g}°"
            how += f" = {result['impulse']:.3g} N s, Δv {result['dv']:.2f} m/s"
        if result["fell"]:
            verdict = "fell"
        elif result["recovery_time"] is None:
            verdict = "still moving at the end"
        else:
            verdict = f"recovered after {result['recovery_time']:.2f} s"
        steps = result["steps"]
        return f"{result['robot']} ({result['mass']:.0f} kg): {how}: {verdict}, {steps} step{'s' * (steps != 1)}"

    # ---- the bodies ----

    def _moments(self) -> Array:
        """Rows of the record: before the push, in it, at its end, then ever more slowly until all is quiet."""
        push, end = replay.main_push(self.pushes), replay.settled(self.done, self.pushes)
        if push is None or push.end >= end:
            times = np.linspace(self.first, end, MOMENTS)
        else:
            rest = np.linspace(0.0, 1.0, MOMENTS - 2)
            after = push.end + (end - push.end) * (0.5 * rest + 0.5 * rest**2)
            times = np.concatenate([[push.start - 0.01, (push.start + push.end) / 2], after])
        return np.clip(np.searchsorted(self.time, times), 0, len(self.time) - 1)

    def _bodies(self, axes: Axes) -> None:
        """Side by side on one scale, spread over the whole width."""
        puppet = replay.Puppet(self.done)
        silhouette = Silhouette(puppet, self.view)
        shapes = [silhouette.outlines(k) for k in self.moments]
        height = float(max(outline[:, 1].max() for _, outline in shapes[0]))
        extents = [self._extent(k, shape, height) for k, shape in zip(self.moments, shapes, strict=True)]
        low, high = -0.13 * height, 1.32 * height
        wide = sum(right - left for left, right in extents)
        box = axes.get_position()
        width = (high - low) * box.width * SIZE[0] / (box.height * SIZE[1])
        gap = max(GAP * height, (width - wide) / len(extents))
        cursor = gap / 2
        for number, (k, shape, (left, right)) in enumerate(zip(self.moments, shapes, extents, strict=True), start=1):
            shift = np.array([cursor - left, 0.0])
            self._ground(axes, left - gap / 2, right + gap / 2, shift, height, puppet.slope)
            for depth, outline in shape:
                axes.fill(*(outline + shift).T, facecolor=_shade(depth / height), edgecolor="white", linewidth=0.5)
            self._marks(axes, k, shift, height)
            self._label(axes, number, k, cursor + (right - left) / 2, height)
            cursor += right - left + gap
        total = cursor - gap / 2
        axes.set_xlim(0.0, total)
        spare = (high - low) * (total / width - 1.0)  # bodies that need more room become smaller
        axes.set_ylim(low - spare / 2, high + spare / 2)
        axes.set_axis_off()
        self._key(axes)

    def _extent(self, k: int, shape: list[tuple[float, Array]], height: float) -> tuple[float, float]:
        """Left and right end of a body with its arrow and capture point, in the picture [m]."""
        com = float(self.view.project(self.record["true_com"][k])[0])
        spots = [com - 0.2 * height, com + 0.2 * height]
        spots += [float(f(outline[:, 0])) for _, outline in shape for f in (np.min, np.max)]
        capture = float(self.view.project(self.capture[k])[0])
        if abs(capture - com) < 0.8 * height:
            spots.append(capture)
        return min(spots), max(spots)

    def _ground(self, axes: Axes, left: float, right: float, shift: Array, height: float, slope: float) -> None:
        """The ground below one body, and where the middle of the soles stood at first."""
        ends = np.array([left, right])
        axes.plot(ends + shift[0], ends * self.view.right[0] * slope, color=GROUND, linewidth=1.2, zorder=0)
        home = self.view.project(self.corners[0].reshape(-1, 3)).mean(axis=0)
        if left < home[0] < right:
            axes.plot(home[0] + shift[0], home[1] - 0.04 * height, marker="^", color=GROUND, markersize=6)

    def _marks(self, axes: Axes, k: int, shift: Array, height: float) -> None:
        com, capture = (self.view.project(a[k]) + shift for a in (self.record["true_com"], self.capture))
        axes.plot([com[0], com[0]], [com[1], capture[1]], color=COM, linewidth=1.0, linestyle=":")
        axes.plot(*com, **MARK_COM)
        axes.plot(*capture, **MARK_DCM)
        force = self.record["true_push"][k]
        if np.linalg.norm(force) > 1e-6:
            strongest = float(np.linalg.norm(self.record["true_push"], axis=1).max())
            style = {"arrowstyle": "-|>,head_width=0.35,head_length=0.7", "color": FORCE, "linewidth": 3.5, "shrinkB": 5}
            tail = com - self.view.project(force) / strongest * 0.36 * height
            axes.annotate("", xy=tuple(com), xytext=tuple(tail), arrowprops=style, zorder=7)

    def _label(self, axes: Axes, number: int, k: int, x: float, height: float) -> None:
        mode = self.record.modes[int(self.record["mode"][k])]
        axes.text(x, 1.18 * height, f"{number}:  {self.time[k]:.2f} s", ha="center", va="bottom")
        box = {"boxstyle": "round,pad=0.2", "facecolor": _tint(self.colours[mode]), "linewidth": 0}
        axes.text(x, 1.15 * height, mode, ha="center", va="top", fontsize=10, bbox=box)

    def _key(self, axes: Axes) -> None:
        handles = [
            Line2D([], [], linestyle="", **MARK_COM), Line2D([], [], linestyle="", **MARK_DCM),
            Line2D([], [], linestyle="", marker="^", color=GROUND), Line2D([], [], color=FORCE, linewidth=3.5),
        ]  # fmt: skip
        names = ["CoM", "capture point", "middle of the soles at first", "push"]
        axes.legend(handles, names, title=self.view.name, loc="upper center", bbox_to_anchor=(0.5, 0.06), ncols=4,
                    frameon=False, fontsize=10, handletextpad=0.3, columnspacing=1.5)  # fmt: skip

    # ---- the curves ----

    def _frame(self, axes: Axes, bottom: bool) -> None:
        axes.set_xlim(self.first, self.last)
        axes.grid(True, color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelbottom=bottom)
        if bottom:
            axes.set_xlabel("time [s]")
        for start, end, mode in self._bands():
            axes.axvspan(start, end, color=self.colours[mode], alpha=0.10, linewidth=0)
        for k in self.moments:
            axes.axvline(self.time[k], color="#bbbbbb", linewidth=0.8, linestyle=(0, (1, 2)))

    def _bands(self) -> list[tuple[float, float, str]]:
        changes = self.record.mode_changes
        ends = [t for t, _ in changes[1:]] + [float(self.time[-1])]
        bands = [(max(t, self.first), min(e, self.last), m) for (t, m), e in zip(changes, ends, strict=True)]
        return [band for band in bands if band[1] > band[0]]

    def _mode_strip(self, axes: Axes) -> None:
        axes.set_xlim(self.first, self.last)
        axes.set_axis_off()
        for start, end, mode in self._bands():
            axes.axvspan(start, end, color=_tint(self.colours[mode]), linewidth=0)
            if (end - start) / (self.last - self.first) > 0.012 * len(mode):
                axes.text((start + end) / 2, 0.45, mode, ha="center", va="center", fontsize=10)
        above = -1.0
        for number, k in enumerate(self.moments, start=1):
            place = (self.time[k] - self.first) / (self.last - self.first)
            if place - above > 0.016:
                axes.text(self.time[k], 1.1, str(number), ha="center", va="bottom", fontsize=9, color="#555555")
                above = place

    def _x(self, axes: Axes) -> None:
        self._along(axes, 0)
        axes.set_ylabel("x, forward [m]")
        lines = [Line2D([], [], color=c, linewidth=2) for c in (COM, ZMP, DCM)]
        axes.legend([*lines, Patch(color="#cccccc")], ["CoM", "ZMP", "capture point", "support polygon"], ncols=4,
                    loc="upper center", handlelength=1.4, columnspacing=1.2, framealpha=0.85, borderpad=0.3)  # fmt: skip
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + 0.22 * (high - low))

    def _y(self, axes: Axes) -> None:
        self._along(axes, 1)
        axes.set_ylabel("y, left [m]")

    def _along(self, axes: Axes, axis: int) -> None:
        record, time = self.record, self.time
        standing = metrics.loaded(record).astype(bool)
        corners = self.corners[..., axis]
        low = np.where(standing, corners.min(axis=2), np.inf).min(axis=1)
        high = np.where(standing, corners.max(axis=2), -np.inf).max(axis=1)
        axes.fill_between(time, low, high, where=standing.any(axis=1), color="#cccccc", linewidth=0)
        com, capture = record["true_com"][:, axis], self.capture[:, axis]
        axes.plot(time, metrics.true_zmp(record)[:, axis], color=ZMP, linewidth=1.3)
        axes.plot(time, capture, color=DCM, linewidth=1.8)
        axes.plot(time, com, color=COM, linewidth=1.8)
        shown = (time >= self.first) & (time <= self.last)
        values = np.concatenate([low[shown], high[shown], com[shown], capture[shown]])
        values = values[np.isfinite(values)]
        room = 0.06 * (values.max() - values.min())
        axes.set_ylim(values.min() - room, values.max() + room)

    def _force(self, axes: Axes) -> None:
        push = replay.main_push(self.pushes)
        along = np.array([1.0, 0.0, 0.0]) if push is None else push.axis
        true, seen = self.record["true_push"] @ along, self.record["push"] @ along
        axes.fill_between(self.time, true, step="post", color=FORCE, alpha=0.55, linewidth=0, label="push")
        axes.plot(self.time, seen, color=BLACK, linewidth=1.0, label="as the estimator sees it")
        axes.set_ylabel("force [N]")
        size = max(float(np.abs(true).max()), 1.0)
        axes.set_ylim(min(-0.25 * size, 1.15 * true.min()), 1.35 * size)
        axes.legend(loc="upper right", ncols=2, handlelength=1.4, framealpha=0.85, borderpad=0.3)

    def _angles(self, axes: Axes) -> None:
        q = np.degrees(self.record["true_q"][:, 7:])
        shown = (self.time >= self.first) & (self.time <= self.last)
        largest = 1.0
        parts = telling_joints(self.robot, self.view.depth)
        for (part, joints), colour in zip(parts.items(), (ORANGE, BLACK, BLUE, RED, GREEN), strict=False):
            for joint, line in zip(joints, ("-", (0, (4, 1.5))), strict=False):
                change = q[:, joint] - q[0, joint]
                largest = max(largest, float(np.abs(change[shown]).max()))
                axes.plot(self.time, change, color=colour, linestyle=line, linewidth=1.6,
                          label=part if line == "-" else None)  # fmt: skip
        axes.plot([], [], color="#777777", linestyle=(0, (4, 1.5)), label="right side")
        axes.set_ylim(-1.1 * largest, 1.45 * largest)
        axes.set_ylabel("joint angle, change [deg]")
        axes.legend(loc="upper center", ncols=6, handlelength=1.6, columnspacing=1.0, framealpha=0.85, borderpad=0.3)

    def _torque(self, axes: Axes) -> None:
        ratio = np.abs(self.record["true_torque"]) / self.robot.torque_limit
        axes.axhline(1.0, color=BLACK, linewidth=1.2, linestyle="--")
        for group, colour in zip(("legs", "torso", "arms"), (BLUE, BLACK, ORANGE), strict=True):
            joints = self.robot.groups.get(group, [])
            if len(joints):
                axes.plot(self.time, ratio[:, joints].max(axis=1), color=colour, linewidth=1.5, label=group)
        axes.set_ylim(0.0, max(1.3, 1.1 * float(ratio.max())))
        axes.set_ylabel("largest |torque| / limit")
        axes.legend(loc="upper right", ncols=3, handlelength=1.4, framealpha=0.85, borderpad=0.3)


def _shade(depth: float) -> tuple[float, ...]:
    """Near links dark, far ones pale; ``depth`` behind the CoM in body heights."""
    share = 0.5 + 0.5 * math.tanh(8.0 * depth)
    near, far = np.array(to_rgb("#4A5A6E")), np.array(to_rgb("#C3CBD6"))
    return tuple(near + share * (far - near))


def _tint(colour: str) -> tuple[float, ...]:
    return tuple(1.0 - 0.45 * (1.0 - np.array(to_rgb(colour))))

