"""One picture that tells the story of a push: the body at telling moments, then the curves that explain them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pinocchio as pin
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from PIL import Image

from humanoid_balance.experiments import metrics
from humanoid_balance.figures import palette
from humanoid_balance.figures import playback as replay
from humanoid_balance.figures.bodies import Bodies, View
from humanoid_balance.figures.palette import BLACK, BLUE, COM, DCM, FORCE, GREEN, ORANGE, RED, ZMP
from humanoid_balance.figures.walking import WalkStory
from humanoid_balance.recording.run import Run
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Flags

SIZE, DPI = (14.0, 10.0), 100  # [inch], [pixel/inch]
MOMENTS = 8  # bodies in the top row
BEFORE, AFTER = 0.4, 0.6  # shown before the first push and after the robot is quiet [s]
TOUCH = 0.02  # shorter gaps in the contact of a sole are not drawn [s]
BEYOND = 0.5  # how far curves are followed beyond the support polygon, so that a fall does not shrink the rest [m]
STYLE: dict[Any, Any] = {
    "font.size": 12, "axes.labelsize": 12, "axes.linewidth": 0.8, "legend.fontsize": 11, "legend.framealpha": 0.85,
    "legend.borderpad": 0.3, "legend.handlelength": 1.4, "legend.columnspacing": 1.1,
}  # fmt: skip
DASHED = (0, (4, 1.5))


def save(run: Run, path: Path) -> None:
    """Draw the run into a PNG of 1400 by 1000 pixels."""
    path.write_bytes(png(run))


def png(run: Run) -> bytes:
    """The figure as a PNG with a palette: a third of the size, and nobody sees it."""
    whole, small = io.BytesIO(), io.BytesIO()
    draw(run).savefig(whole, format="png")
    picture = Image.open(whole).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(small, format="png", optimize=True)
    return small.getvalue()


def draw(run: Run) -> Figure:
    """The figure of a run."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(SIZE, DPI)
        FigureCanvasAgg(figure)
        story = _Story(run) if run.commanded is None else WalkStory(run)
        story.draw(figure)
    return figure


def telling_joints(robot: Robot, normal: Array) -> dict[str, list[int]]:
    """Joints by part of the body, left before right, that turn most about ``normal`` in the nominal stance.

    What a joint is follows from its group and from where it sits: a leg has its hip high, its ankle low and its knee
    between; the last joint of an arm's group is the elbow.
    """
    model, data = robot.model, robot.model.createData()
    axes = np.abs(normal @ pin.computeJointJacobians(model, data, robot.q_nominal)[3:, 6:])
    place = np.array([data.oMi[i + 2].translation for i in range(robot.n)])
    parts: dict[str, list[int]] = {"shoulder": [], "waist": [], "hip": [], "knee": [], "ankle": []}

    def choose(part: str, joints: Array) -> None:
        if len(joints):
            parts[part].append(int(joints[np.argmax(axes[joints])]))

    none = np.zeros(0, int)
    legs, arms = robot.groups.get("legs", none), robot.groups.get("arms", none)
    for side in (1, -1):
        choose("shoulder", arms[side * place[arms, 1] > 0][:-1])
        leg = legs[side * place[legs, 1] > 0]
        level = place[leg, 2] / place[leg, 2].max(initial=1e-9)
        for part, low, high in (("hip", 0.7, 1.1), ("knee", 0.3, 0.7), ("ankle", -0.1, 0.3)):
            choose(part, leg[(level > low) & (level <= high)])
    choose("waist", robot.groups.get("torso", none))
    return {part: joints for part, joints in parts.items() if joints}


class _Story:
    def __init__(self, run: Run) -> None:
        self.run, self.record = run, run.record
        self.robot, self.time = run.robot, run.record["time"]
        self.push = run.main_push
        self.view = View.of(self.push)
        self.quiet = replay.settled(run)
        self.first = max(float(self.time[0]), min((p.start for p in run.pushes), default=0.0) - BEFORE)
        self.last = max(min(float(self.time[-1]), self.quiet + AFTER), self.first + 0.01)
        self.shown = (self.time >= self.first) & (self.time <= self.last)
        self.colours = palette.of_modes(self.record.modes)
        self.moments = self._moments()
        self.capture, self.corners = replay.capture_point(run), replay.sole_corners(run)

    def draw(self, figure: Figure) -> None:
        title = self.run.title
        size = 14.0 * min(1.0, 115 / len(title))  # a long one still fits
        figure.suptitle(title, x=0.072, y=0.988, ha="left", va="top", fontsize=size, fontweight="bold")
        rows = figure.add_gridspec(2, 1, height_ratios=[3.2, 5.6], left=0.072, right=0.985, top=0.935, bottom=0.055,
                                   hspace=0.085)  # fmt: skip
        self._bodies(figure, figure.add_subplot(rows[0]))
        columns = rows[1].subgridspec(1, 2, wspace=0.18)
        left = columns[0].subgridspec(4, 1, height_ratios=[0.16, 2.0, 2.0, 1.2], hspace=0.09)
        right = columns[1].subgridspec(3, 1, height_ratios=[0.16, 3.1, 2.1], hspace=0.09)
        for grid, painters in ((left, (self._x, self._y, self._force)), (right, (self._angles, self._torque))):
            self._mode_strip(figure.add_subplot(grid[0]))
            panels = [figure.add_subplot(grid[row]) for row in range(1, len(painters) + 1)]
            for axes, paint in zip(panels, painters, strict=True):
                self._frame(axes, bottom=axes is panels[-1])
                paint(axes)

    # ---- the bodies ----

    def _moments(self) -> list[int]:
        """Rows of the record: before the push, in it, at its end, then ever more slowly until all is quiet."""
        push, end = self.push, self.quiet
        if push is None or push.end >= end:
            times = np.linspace(self.first, end, MOMENTS)
        else:
            rest = np.linspace(0.0, 1.0, MOMENTS - 2)
            after = push.end + (end - push.end) * (0.5 * rest + 0.5 * rest**2)
            times = np.concatenate([[push.start - 0.01, (push.start + push.end) / 2], after])
        return [int(k) for k in np.clip(np.searchsorted(self.time, times), 0, len(self.time) - 1)]

    def _bodies(self, figure: Figure, axes: Axes) -> None:
        bodies, box = Bodies(self.run, self.view), axes.get_position()
        bodies.draw(axes, self.moments, box.width * SIZE[0] / (box.height * SIZE[1]))
        figure.legend(*bodies.key(), loc="upper left", bbox_to_anchor=(0.04, 0.967), ncols=5, frameon=False,
                      handletextpad=0.4, columnspacing=1.6)  # fmt: skip

    # ---- the curves ----

    def _frame(self, axes: Axes, bottom: bool) -> None:
        axes.set_xlim(self.first, self.last)
        axes.grid(True, color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelbottom=bottom)
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axes.yaxis.set_label_coords(-0.112, 0.5)  # however long the numbers are
        if bottom:
            axes.set_xlabel("time [s]")
        for start, end, mode in self._bands():
            axes.axvspan(start, end, color=self.colours[mode], alpha=0.10, linewidth=0)
        for k in self.moments:
            axes.axvline(self.time[k], color="#aaaaaa", linewidth=0.8, linestyle=(0, (1, 2)))

    def _bands(self) -> list[tuple[float, float, str]]:
        """(start [s], end [s], mode), as far as they are shown."""
        changes = self.record.mode_changes
        ends = [t for t, _ in changes[1:]] + [float(self.time[-1])]
        bands = [(max(t, self.first), min(e, self.last), m) for (t, m), e in zip(changes, ends, strict=True)]
        return [band for band in bands if band[1] > band[0]]

    def _mode_strip(self, axes: Axes) -> None:
        """Modes as bands with their names, where these fit, and the numbers of the bodies above."""
        span, crowded = self.last - self.first, -1.0
        axes.set_xlim(self.first, self.last)
        axes.set_axis_off()
        for start, end, mode in self._bands():
            axes.axvspan(start, end, color=palette.tint(self.colours[mode]), linewidth=0)
            if (end - start) / span > 0.013 * len(mode) + 0.01:
                axes.text((start + end) / 2, 0.45, mode, ha="center", va="center", fontsize=10)
        for number, k in enumerate(self.moments, start=1):
            place = (self.time[k] - self.first) / span
            if place - crowded > 0.018:
                axes.text(self.time[k], 1.1, str(number), ha="center", va="bottom", fontsize=10, color="#555555")
                crowded = place

    def _x(self, axes: Axes) -> None:
        self._along(axes, 0, headroom=0.3)
        axes.set_ylabel("x, forward [m]")
        lines = [Line2D([], [], color=c, linewidth=2) for c in (COM, ZMP, DCM)]
        names = ["CoM", "ZMP", "capture point", "support polygon"]
        axes.legend([*lines, Patch(facecolor="#cfcfcf", edgecolor="#888888")], names, ncols=4, loc="upper center")

    def _y(self, axes: Axes) -> None:
        self._along(axes, 1, headroom=0.06)
        axes.set_ylabel("y, left [m]")

    def _along(self, axes: Axes, axis: int, headroom: float) -> None:
        """True CoM, ZMP and capture point against the standing soles."""
        time, shown = self.time, self.shown
        standing = self._standing()
        low = np.where(standing, self.corners[..., axis].min(axis=2), np.inf).min(axis=1)
        high = np.where(standing, self.corners[..., axis].max(axis=2), -np.inf).max(axis=1)
        axes.fill_between(time, low, high, where=standing.any(axis=1), facecolor="#cfcfcf", edgecolor="#888888")
        com, capture = self.record["true_com"][:, axis], self.capture[:, axis]
        axes.plot(time, metrics.true_zmp(self.record)[:, axis], color=ZMP, linewidth=1.3)
        axes.plot(time, capture, color=DCM, linewidth=1.8)
        axes.plot(time, com, color=COM, linewidth=1.8)
        values = np.concatenate([com[shown], capture[shown]])
        edges = np.concatenate([low[shown], high[shown]])
        edges = edges[np.isfinite(edges)] if np.isfinite(edges).any() else values
        bottom = min(edges.min(), max(values.min(), edges.min() - BEYOND))
        top = max(edges.max(), min(values.max(), edges.max() + BEYOND))
        axes.set_ylim(bottom - 0.06 * (top - bottom), top + headroom * (top - bottom))

    def _standing(self) -> Flags:
        """Soles that stand, one column a foot, without chatter."""
        standing = metrics.loaded(self.record).astype(bool)
        for foot in range(2):
            for start, end in metrics.phases(~standing[:, foot], 1):
                if self.time[end - 1] - self.time[start] < TOUCH:
                    standing[start:end, foot] = True
        return standing

    def _force(self, axes: Axes) -> None:
        along = np.array([1.0, 0.0, 0.0]) if self.push is None else self.push.axis
        true, seen = self.record["true_push"] @ along, self.record["push.force"] @ along
        axes.fill_between(self.time, true, color=FORCE, alpha=0.6, linewidth=0, label="push")
        axes.plot(self.time, seen, color=BLACK, linewidth=1.0, label="as the estimator sees it")
        size = max(float(np.abs(true).max()), 1.0)
        axes.set_ylim(min(-0.25 * size, 1.15 * true.min()), 1.45 * size)
        axes.set_ylabel("force [N]")
        axes.legend(loc="upper right", ncols=2)

    def _angles(self, axes: Axes) -> None:
        q = np.degrees(self.record["true_q"][:, 7:])
        parts, seen = telling_joints(self.robot, self.view.depth), [0.0]
        for (part, joints), colour in zip(parts.items(), (ORANGE, BLACK, BLUE, RED, GREEN), strict=False):
            for side, joint in enumerate(joints):
                change = q[:, joint] - q[0, joint]
                seen += [float(change[self.shown].min()), float(change[self.shown].max())]
                style = {"linestyle": DASHED} if side else {"label": part}
                axes.plot(self.time, change, color=colour, linewidth=1.6, **style)
        axes.plot([], [], color="#777777", linestyle=DASHED, label="right side")
        low, high = min(seen), max(*seen, min(seen) + 1.0)
        axes.set_ylim(low - 0.06 * (high - low), high + 0.22 * (high - low))
        axes.set_ylabel("change of joint angle [deg]")
        axes.legend(loc="upper center", ncols=6)

    def _torque(self, axes: Axes) -> None:
        ratio = np.abs(self.record["true_torque"]) / self.robot.torque_limit
        axes.axhline(1.0, color=BLACK, linewidth=1.2, linestyle="--", label="limit")
        for group, colour in (("legs", BLUE), ("torso", BLACK), ("arms", ORANGE)):
            joints = self.robot.groups.get(group)
            if joints is not None and len(joints):
                axes.plot(self.time, ratio[:, joints].max(axis=1), color=colour, linewidth=1.5, label=group)
        axes.set_ylim(0.0, max(1.4, 1.3 * float(ratio[self.shown].max())))
        axes.set_ylabel("largest |torque| / limit")
        axes.legend(loc="upper right", ncols=4)
