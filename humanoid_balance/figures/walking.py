"""One picture of a walk: the body over one stride, the footsteps from above, and the speeds beside the command."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from humanoid_balance.experiments import metrics, stride
from humanoid_balance.figures import palette, playback
from humanoid_balance.figures.bodies import Bodies, View
from humanoid_balance.figures.palette import BLACK, BLUE, COM, DCM, FORCE, GREEN, ORANGE, ZMP
from humanoid_balance.recording.run import Run
from humanoid_balance.types import SOLES

MOMENTS = 8  # bodies in the top row
MEAN = 0.8  # speeds are shown as means over about this time: two steps [s]


class WalkStory:
    """Draws a run that was commanded to go somewhere."""

    def __init__(self, run: Run) -> None:
        self.run, self.record, self.time = run, run.record, run.record["time"]
        self.way = stride.Way.of(run)

    def draw(self, figure: Figure) -> None:
        title = self.run.title
        size = 14.0 * min(1.0, 115 / len(title))
        figure.suptitle(title, x=0.06, y=0.988, ha="left", va="top", fontsize=size, fontweight="bold")
        rows = figure.add_gridspec(3, 1, height_ratios=[3.0, 3.2, 2.6], left=0.06, right=0.985, top=0.935, bottom=0.055,
                                   hspace=0.2)  # fmt: skip
        self._bodies(figure.add_subplot(rows[0]), figure)
        self._above(figure.add_subplot(rows[1]))
        columns = rows[2].subgridspec(1, 3, wspace=0.24)
        names = ("forward [m/s]", "left [m/s]", "turn [rad/s]")
        for axis, (name, colour) in enumerate(zip(names, (BLUE, GREEN, ORANGE), strict=True)):
            self._speed(figure.add_subplot(columns[axis]), axis, name, colour)

    def _bodies(self, axes: Axes, figure: Figure) -> None:
        """Evenly over one stride in the middle of the walk, or after the strongest push."""
        landings, push = self.way.landings, self.run.main_push
        first, last = 0, self.record.length - 1
        if len(landings) > 3:
            k = len(landings) // 2
            if push is not None:
                k = int(np.searchsorted([self.time[landing.row] for landing in landings], push.start))
            k = min(max(k - 1, 0), len(landings) - 3)
            first, last = landings[k].row, landings[k + 2].row
        rows = np.linspace(first, last, MOMENTS).astype(int).tolist()
        bodies, box = Bodies(self.run, View.of(None)), axes.get_position()
        width, height = figure.get_size_inches()
        bodies.draw(axes, rows, box.width * width / (box.height * height))

    def _above(self, axes: Axes) -> None:
        """Footsteps, planned and made, CoM, capture point and ZMP, seen from above."""
        standing, corners = metrics.loaded(self.record), playback.sole_corners(self.run)
        for foot, colour in enumerate((BLUE, ORANGE)):
            for start, end in metrics.phases(standing[:, foot], max(1, round(0.05 / self.run.dt))):
                outline = corners[(start + end) // 2, foot, :, :2]
                axes.add_patch(Polygon(outline, facecolor=palette.tint(colour, 0.25), edgecolor=colour, linewidth=0.8))
        for step in self.run.plan:
            outline = (self.run.robot.soles[SOLES.index(step.contact)] @ step.rotation.T + step.position)[:, :2]
            axes.add_patch(Polygon(outline, fill=False, edgecolor=BLACK, linestyle=":", linewidth=1.0))
        axes.plot(*metrics.true_zmp(self.record)[:, :2].T, color=ZMP, linewidth=0.8, label="ZMP")
        axes.plot(*playback.capture_point(self.run)[:, :2].T, color=DCM, linewidth=1.2, label="capture point")
        axes.plot(*self.record["true_com"][:, :2].T, color=COM, linewidth=1.6, label="CoM")
        for push in self.run.pushes:
            k = min(int(np.searchsorted(self.time, push.start)), self.record.length - 1)
            x, y = self.record["true_com"][k, :2]
            dx, dy = 0.25 * push.axis[:2]
            axes.quiver(
                x - dx, y - dy, dx, dy, angles="xy", scale_units="xy", scale=1.0, color=FORCE, width=0.004, zorder=5
            )
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xlabel("x [m]")
        axes.set_ylabel("y [m]")
        axes.grid(True, color="#dddddd", linewidth=0.6)
        axes.legend(loc="upper left", ncols=3)

    def _speed(self, axes: Axes, axis: int, name: str, colour: str) -> None:
        """Measured, as a mean over two steps, and commanded."""
        assert self.run.commanded is not None
        found = self.way.speeds[:, axis]
        count = max(1, round(MEAN / self.run.dt))
        mean = np.convolve(
            np.pad(found, (count // 2, count - 1 - count // 2), mode="edge"), np.ones(count) / count, "valid"
        )
        axes.plot(self.time, found, color=colour, linewidth=0.5, alpha=0.4)
        axes.plot(self.time, mean, color=colour, linewidth=1.8, label=f"mean over {MEAN:g} s")
        if self.run.commanded.any() or not self.run.plan:
            wanted = self.run.commanded[: len(self.time), axis]
            axes.plot(self.time, wanted, color=BLACK, linewidth=1.2, linestyle="--", label="command")
        for push in self.run.pushes:
            axes.axvspan(push.start, push.end, color=FORCE, alpha=0.25, linewidth=0)
        axes.set_xlabel("time [s]")
        axes.set_ylabel(name)
        axes.grid(True, color="#dddddd", linewidth=0.6)
        low, high = float(np.nanmin(mean)), float(np.nanmax(mean))
        room = max(0.2, 0.3 * (high - low))
        axes.set_ylim(low - room, high + room)
        axes.legend(loc="lower right")
