"""Strip charts of the last seconds: balance against the soles, torques against their limits, tick time."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser
from viser import uplot

from humanoid_balance.figures import palette
from humanoid_balance.types import Array
from humanoid_balance.viewer.session import COLUMNS

SLOWEST = 4.0  # longer ticks are drawn as this long [ms]
SPAN = 6.0  # shown [s]
HEIGHT = 118  # of a chart [pixel]
BEYOND = 0.5  # how far curves are followed beyond the soles [m]
GROUPS = (("legs", "legs", palette.BLUE), ("torso", "torso", palette.BLACK), ("arms", "arms", palette.ORANGE))
TICK = (("tick_median", "median", palette.BLUE), ("tick_max", "largest", palette.RED))
SHADE = "rgba(110,120,130,0.28)"

Series = tuple[str, str, str]  # column, name, colour
BALANCE: tuple[Series, ...] = (
    ("low", "soles from", "#9aa3ad"), ("high", "soles to", "#9aa3ad"), ("com", "CoM", palette.COM),
    ("zmp", "ZMP", palette.ZMP), ("dcm", "capture point", palette.DCM),
)  # fmt: skip


class _Chart:
    def __init__(self, gui: viser.GuiApi, title: str, series: tuple[Series, ...], limit: float | None = None) -> None:
        self.columns = [COLUMNS.index(column) for column, _, _ in series]
        self.limit = limit
        lines: list[uplot.Series] = [{"label": "time [s]"}]
        lines += [{"label": name, "stroke": colour, "width": 1.5} for _, name, colour in series]
        if limit is not None:
            lines.append({"label": "limit", "stroke": "#222222", "width": 1.0, "dash": (6, 4)})
        soles = series[0][0].startswith("low")
        bands: tuple[uplot.Band, ...] = ({"series": (2, 1), "fill": SHADE},) if soles else ()
        self.plot = gui.add_uplot(
            tuple(np.zeros(2) for _ in lines), tuple(lines), title=title, bands=bands, height=HEIGHT,
            scales={"x": {"time": False}}, padding=(10, 16, 0, 0), legend={"show": True, "live": False},
            cursor={"show": False},
        )  # fmt: skip

    def draw(self, rows: Array) -> None:
        data = [rows[:, 0], *(rows[:, c] for c in self.columns)]
        if self.limit is not None:
            data.append(np.full(len(rows), self.limit))
        self.plot.data = tuple(np.ascontiguousarray(column) for column in data)


class Charts:
    """Keeps the last rows and draws them."""

    def __init__(self, gui: viser.GuiApi, dt: float) -> None:
        self.rows: Array = np.zeros((0, len(COLUMNS)))
        self.charts = [
            *(
                _Chart(gui, f"{name} [m]", tuple((f"{column}_{axis}", label, c) for column, label, c in BALANCE))
                for axis, name in (("x", "forward"), ("y", "to the left"))
            ),
            _Chart(gui, "largest torque / limit", GROUPS, 1.0),
            _Chart(gui, f"control tick [ms], cut at {SLOWEST:g}", TICK, 1e3 * dt),
        ]

    def add(self, rows: Array) -> None:
        """New rows; a clock that went back starts the charts anew."""
        if len(rows) and len(self.rows) and rows[0, 0] < self.rows[-1, 0]:
            self.clear()
        if len(rows) > 1 and (back := np.flatnonzero(np.diff(rows[:, 0]) < 0)).size:
            rows = rows[back[-1] + 1 :]
        self.rows = np.concatenate([self.rows, rows])
        if len(self.rows):
            self.rows = self.rows[self.rows[:, 0] > self.rows[-1, 0] - SPAN]

    def clear(self) -> None:
        self.rows = self.rows[:0]

    def draw(self) -> None:
        if len(self.rows) < 2:
            return
        shown = self.rows[:: 1 + len(self.rows) // 300].copy()
        for axis in "xy":
            low, high = (shown[:, COLUMNS.index(f"{edge}_{axis}")] for edge in ("low", "high"))
            with np.errstate(invalid="ignore"):
                bounds = np.nanmin(low, initial=0.0) - BEYOND, np.nanmax(high, initial=0.0) + BEYOND
            for name in ("com", "zmp", "dcm"):
                column: Any = shown[:, COLUMNS.index(f"{name}_{axis}")]
                np.clip(column, *bounds, out=column)
        for column, _, _ in TICK:
            shown[:, COLUMNS.index(column)] = np.minimum(shown[:, COLUMNS.index(column)], SLOWEST)
        for chart in self.charts:
            chart.draw(shown)
