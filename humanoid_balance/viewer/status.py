"""What the page tells: mode, pace, the last changes with their reasons, and the key to the colours."""

from __future__ import annotations

import html
import math
import time

import numpy as np
import viser

from humanoid_balance.figures import palette
from humanoid_balance.viewer.session import Snapshot

LINES = 3  # changes of mode that are told
SHOWN = 4.0  # a notice stays so long [s]
HELP = (
    '<div style="padding:0 12px 6px;font-size:12px;line-height:1.4"><b>Walk</b>: drag the knobs, or hold <b>W S</b> or '
    "<b>↑ ↓</b> (ahead, back), <b>A D</b> (aside), <b>Q E</b> or <b>← →</b> (turn).<br><b>Push</b>: <b>space</b>, or "
    "<b>I J K L</b>; drag a part of the body to pull it; the arc at its feet aims.<br><b>R</b> stands it up, <b>P</b> "
    "pauses, <b>M</b> is slow motion. Drag beside the body to look around, the wheel zooms.</div>"
)
LEGEND = (("CoM and below it", palette.COM), ("ZMP", palette.ZMP), ("capture point", palette.DCM),
          ("push", palette.FORCE), ("planned step", palette.ORANGE), ("ground's force", palette.GROUND))  # fmt: skip


class StatusBoard:
    """The head of the panel."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self.board = gui.add_html("")
        self.colours: dict[str, str] = {}
        self._notice, self._heard = "", -math.inf

    def hear(self, notice: str) -> None:
        """Something the visitor should know; it comes once and is shown for a while."""
        if notice:
            self._notice, self._heard = notice, time.monotonic()

    def tell(self, now: Snapshot, paused: bool, ago: float, velocity: float) -> None:
        """``ago``: how far back the scene shows [s]; ``velocity`` of the robot over ground, lately [m/s]."""
        moment = now.moment
        notice = self._notice if time.monotonic() - self._heard < SHOWN else ""
        colour = palette.RED if moment.fell else self._colour(moment.mode)
        pace = f"{ago:.1f} s ago" if ago else "paused" if paused else f"{now.speed:.2f} × real time"
        lines = "".join(
            f'<tr><td style="white-space:nowrap;vertical-align:top;padding-right:6px">{t:.2f} s</td>'
            f"<td><b>{html.escape(name)}</b> {html.escape(reason)}</td></tr>"
            for t, name, reason in reversed(now.changes[-LINES:])
        )
        keys = "".join(
            f'<span style="white-space:nowrap"><span style="color:{c}">●</span> {n}</span> ' for n, c in LEGEND
        )
        self.board.content = (
            '<div style="padding:4px 12px;font-size:13px;line-height:1.45">'
            f'<div id="mode" style="font-size:20px;font-weight:700;border-radius:6px;padding:2px 10px;color:#16202a;'
            f'background:{colour}">{html.escape(moment.words)}</div>'
            f'<div id="pace">{moment.time:.1f} s, {pace}, tick {1e6 * now.tick:.0f} µs, '
            f"push {float(np.linalg.norm(moment.push)):.0f} N, walks {velocity:.2f} m/s, "
            f"at {moment.com[0]:.2f} m, {moment.com[1]:.2f} m</div>"
            f'<div id="notice" style="color:#b00020">{html.escape(notice)}</div>'
            f'<div style="font-size:12px">{keys}</div>'
            '<div id="changes" style="height:84px;overflow-y:auto;font-size:11px;color:#555;overflow-wrap:anywhere;'
            f'line-height:1.25"><table>{lines}</table></div></div>'
        )

    def _colour(self, mode: str) -> str:
        if mode not in self.colours:
            self.colours[mode] = palette.MODES[len(self.colours) % len(palette.MODES)]
        return "#" + "".join(f"{round(255 * part):02x}" for part in palette.tint(self.colours[mode]))
