"""What is written over a video frame: mode, time and force, and a plan of the soles with the points of balance."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from humanoid_balance.experiments import metrics
from humanoid_balance.figures import palette
from humanoid_balance.figures import playback as replay
from humanoid_balance.geometry import convex_hull
from humanoid_balance.recording.run import Run
from humanoid_balance.types import Array

INK, PAPER = (32, 36, 42), (255, 255, 255, 215)
MARGIN = 18  # to the edge of the picture [pixel]
PLAN = 225  # width and height of the plan [pixel]
SPAN = 0.95  # of the plan, in CoM heights
TRAIL = 0.6  # how long CoM and capture point leave a trace [s]
FINE = 3  # the plan is drawn this much larger, then shrunk to smooth its lines


class Overlay:
    """Writes over pictures of one run."""

    def __init__(self, run: Run) -> None:
        self.record, self.time = run.record, run.record["time"]
        self.strength = np.linalg.norm(self.record["true_push"], axis=1)
        self.corners = replay.sole_corners(run)[..., :2]
        self.standing = metrics.loaded(self.record).astype(bool)
        self.points = (
            (self.record["true_com"], palette.COM), (replay.capture_point(run), palette.DCM),
            (metrics.true_zmp(self.record), palette.ZMP),
        )  # fmt: skip
        self.scale = PLAN * FINE / (SPAN * self.record.robot.com_height)  # [pixel/m]
        self.colours = palette.of_modes(self.record.modes)
        self.small, self.large = ImageFont.load_default(17), ImageFont.load_default(23)

    def draw(self, picture: Image.Image, k: int, focus: Array) -> Array:
        """Write over the picture of row ``k``; ``focus`` is the middle of the plan. Pixels (h, w, 3)."""
        draw = ImageDraw.Draw(picture, "RGBA")
        self._state(draw, k)
        self._key(draw, picture.height)
        corner = picture.width - MARGIN - PLAN, picture.height - MARGIN - PLAN
        plan = self._plan(k, focus[:2])
        picture.paste(plan, corner, plan)
        draw.text((corner[0] + 9, corner[1] + 7), "from above", INK, self.small)
        return np.asarray(picture)

    def _state(self, draw: ImageDraw.ImageDraw, k: int) -> None:
        mode = "fell" if self.record["true_fell"][k] else self.record.modes[int(self.record["mode"][k])]
        colour, spec = palette.tint(self.colours.get(mode, palette.RED), 0.6), self.record.robot.spec
        width = max(175, draw.textlength(mode, self.large) + 24, draw.textlength(spec, self.small))
        left, top, right = MARGIN, MARGIN, MARGIN + width + 24
        draw.rounded_rectangle((left, top, right, top + 96), 8, fill=PAPER)
        draw.rounded_rectangle((left + 12, top + 11, right - 12, top + 42), 6, fill=_bytes(colour))
        draw.text(((left + right) / 2, top + 26), mode, INK, self.large, anchor="mm")
        draw.text((left + 15, top + 60), f"{self.time[k]:.2f} s", INK, self.large, anchor="lm")
        draw.text((right - 15, top + 60), f"{self.strength[k]:.0f} N", INK, self.large, anchor="rm")
        draw.text((left + 15, top + 82), spec, INK, self.small, anchor="lm")

    def _key(self, draw: ImageDraw.ImageDraw, height: int) -> None:
        names = (("CoM", palette.COM), ("ZMP", palette.ZMP), ("capture point", palette.DCM), ("push", palette.FORCE))
        x, y = MARGIN + 18.0, height - MARGIN - 15
        widths = [draw.textlength(name, self.small) + 42 for name, _ in names]
        draw.rounded_rectangle((MARGIN, y - 15, MARGIN + sum(widths) + 4, y + 15), 8, fill=PAPER)
        for (name, colour), width in zip(names, widths, strict=True):
            draw.ellipse((x - 7, y - 7, x + 7, y + 7), fill=colour)
            draw.text((x + 14, y), name, INK, self.small, anchor="lm")
            x += width

    def _plan(self, k: int, centre: Array) -> Image.Image:
        """The soles from above, forward is up; the support polygon grey."""
        plan = Image.new("RGBA", (PLAN * FINE, PLAN * FINE), (255, 255, 255, 0))
        draw = ImageDraw.Draw(plan)
        draw.rounded_rectangle((0, 0, PLAN * FINE - 1, PLAN * FINE - 1), 8 * FINE, fill=(255, 255, 255, 235))
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
        for points, colour in self.points[:2]:
            trace = points[recent][::10, :2]
            draw.line(self._flat(trace[np.isfinite(trace).all(axis=1)], centre), fill=colour, width=2 * FINE)
        for (points, colour), radius in zip(self.points, (7, 6, 5), strict=True):
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
