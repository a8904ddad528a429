"""What is written over a video frame: mode, time and force, and a plan of the soles with the points of balance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from humanoid_balance.estimation.support import convex_hull
from humanoid_balance.experiments import metrics, palette, replay
from humanoid_balance.types import Array

if TYPE_CHECKING:
    from humanoid_balance.experiments.push import PushRun

INK, PAPER = (32, 36, 42), (255, 255, 255, 215)
MARGIN = 24  # to the edge of the picture [pixel]
PLAN = 300  # width and height of the plan [pixel]
SPAN = 0.8  # of the plan, in CoM heights
TRAIL = 0.6  # how long the points leave a trace [s]
FINE = 3  # the plan is drawn this much larger, then shrunk to smooth its lines


class Overlay:
    """Writes over pictures of one run."""

    def __init__(self, done: PushRun) -> None:
        self.record, self.time = done.record, done.record["time"]
        self.strength = np.linalg.norm(self.record["true_push"], axis=1)
        self.corners = replay.sole_corners(done)[..., :2]
        self.standing = metrics.loaded(self.record).astype(bool)
        self.points = (
            (self.record["true_com"], palette.COM), (replay.capture_point(done), palette.DCM),
            (metrics.true_zmp(self.record), palette.ZMP),
        )  # fmt: skip
        self.scale = PLAN * FINE / (SPAN * self.record.robot.com_height)  # [pixel/m]
        self.colours = palette.of_modes(self.record.modes)
        self.small, self.large = ImageFont.load_default(22), ImageFont.load_default(30)

    def draw(self, pixels: Array, k: int, focus: Array) -> Array:
        """The picture (h, w, 3) of row ``k`` with all that is written over it; the plan shows the ground at ``focus``."""
        picture = Image.fromarray(pixels)
        draw = ImageDraw.Draw(picture, "RGBA")
        self._state(draw, k)
        self._key(draw, picture.height)
        corner = picture.width - MARGIN - PLAN, picture.height - MARGIN - PLAN
        plan = self._plan(k, focus[:2])
        picture.paste(plan, corner, plan)
        draw.text((corner[0] + 12, corner[1] + 10), "from above", INK, self.small)
        return np.asarray(picture)

    def _state(self, draw: ImageDraw.ImageDraw, k: int) -> None:
        mode = "fell" if self.record["true_fell"][k] else self.record.modes[int(self.record["mode"][k])]
        colour = palette.tint(self.colours.get(mode, palette.RED), 0.6)
        width = max(230, draw.textlength(mode, self.large) + 30, draw.textlength(self.record.robot.spec, self.small))
        left, top, right = MARGIN, MARGIN, MARGIN + width + 32
        draw.rounded_rectangle((left, top, right, top + 124), 10, fill=PAPER)
        draw.rounded_rectangle((left + 16, top + 14, right - 16, top + 54), 8, fill=_bytes(colour))
        draw.text(((left + right) / 2, top + 34), mode, INK, self.large, anchor="mm")
        draw.text((left + 20, top + 78), f"{self.time[k]:.2f} s", INK, self.large, anchor="lm")
        draw.text((right - 20, top + 78), f"{self.strength[k]:.0f} N", INK, self.large, anchor="rm")
        draw.text((left + 20, top + 107), self.record.robot.spec, INK, self.small, anchor="lm")

    def _key(self, draw: ImageDraw.ImageDraw, height: int) -> None:
        names = (("CoM", palette.COM), ("ZMP", palette.ZMP), ("capture point", palette.DCM), ("push", palette.FORCE))
        x, y = MARGIN + 24.0, height - MARGIN - 20
        widths = [draw.textlength(name, self.small) + 56 for name, _ in names]
        draw.rounded_rectangle((MARGIN, y - 20, MARGIN + sum(widths) + 4, y + 20), 10, fill=PAPER)
        for (name, colour), width in zip(names, widths, strict=True):
            draw.ellipse((x - 9, y - 9, x + 9, y + 9), fill=colour)
            draw.text((x + 18, y), name, INK, self.small, anchor="lm")
            x += width

    def _plan(self, k: int, centre: Array) -> Image.Image:
        """The soles from above, forward is up; the support polygon grey, each point with a short trace."""
        plan = Image.new("RGBA", (PLAN * FINE, PLAN * FINE), (255, 255, 255, 0))
        draw = ImageDraw.Draw(plan)
        draw.rounded_rectangle((0, 0, PLAN * FINE - 1, PLAN * FINE - 1), 10 * FINE, fill=(255, 255, 255, 235))
        soles, standing = self.corners[k], self.standing[k]
        if standing.any():
            hull = convex_hull([(x, y) for x, y in soles[standing].reshape(-1, 2).tolist()])
            draw.polygon(self._flat(np.array(hull), centre), fill="#E2E2E2", outline="#999999", width=FINE)
        for sole, stands in zip(soles, standing, strict=True):
            draw.polygon(
                self._flat(sole, centre), fill="#C4C8CE" if stands else None, outline="#555555", width=2 * FINE
            )
        recent = self.time > self.time[k] - TRAIL
        recent[k + 1 :] = False
        for points, colour in self.points:
            trace = points[recent][::10, :2]
            draw.line(self._flat(trace[np.isfinite(trace).all(axis=1)], centre), fill=colour, width=2 * FINE)
        for (points, colour), radius in zip(self.points, (9, 8, 7), strict=True):
            if np.isfinite(points[k, :2]).all():
                [(x, y)] = self._flat(points[k : k + 1, :2], centre)
                r = radius * FINE
                draw.ellipse((x - r, y - r, x + r, y + r), fill=colour, outline="white", width=FINE)
        return plan.resize((PLAN, PLAN), Image.Resampling.BOX)

    def _flat(self, points: Array, centre: Array) -> list[tuple[float, float]]:
        """Pixels of the plan for points on the ground (k, 2) [m]."""
        ahead, left = ((points - centre) * self.scale).T
        return list(zip((PLAN * FINE / 2 - left).tolist(), (PLAN * FINE / 2 - ahead).tolist(), strict=True))


def _bytes(colour: tuple[float, float, float]) -> tuple[int, ...]:
    return tuple(round(255 * part) for part in colour)
