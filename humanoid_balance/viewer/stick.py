"""The sticks of the page: two knobs to drag and the keys of ``stick.js``; Python sees one text field."""

from __future__ import annotations

import html
import math
from pathlib import Path

import viser

from humanoid_balance.types import Array

FIELD = "Stick"
SCRIPT = Path(__file__).with_name("stick.js")
PADS = """
<div style="padding:0 12px;font-size:11px;color:#555">
<svg viewBox="-52 -52 232 104" style="width:100%;max-height:130px;touch-action:none;user-select:none;display:block">
<g id="walk-pad" style="cursor:grab"><circle r="50" fill="#e8ecf0" stroke="#9aa3ad"/>
<path d="M0 -46l5 8h-10zM0 46l5 -8h-10zM-46 0l8 5v-10zM46 0l-8 5v-10z" fill="#9aa3ad"/>
<circle id="walk-knob" r="16" fill="#1c7ed6"/></g>
<g transform="translate(120 0)"><g id="turn-pad" style="cursor:grab">
<rect x="-50" y="-20" width="100" height="40" rx="20" fill="#e8ecf0" stroke="#9aa3ad"/>
<circle id="turn-knob" r="16" fill="#1c7ed6"/></g>
<text y="38" text-anchor="middle" font-size="11" fill="#555">turn</text></g>
</svg><span id="frames"></span></div>
"""


class Stick:
    """``wanted`` is how far the visitor moves it now: forward, left, turn, each -1 to 1."""

    def __init__(self, server: viser.ViserServer) -> None:
        self.field = server.gui.add_text(
            FIELD, "0 0 0", hint="forward, left, turn, each -1 to 1: follows the knobs and the keys; may be typed"
        )
        # viser's HTML runs no script elements; the handler of a picture that cannot be loaded runs when it appears.
        script = SCRIPT.read_text(encoding="utf-8").replace("FIELD", self.field._impl.uuid)
        start = f'<img src="data:," alt="" style="display:none" onerror="{html.escape(script, quote=True)}">'
        server.gui.add_html(PADS + start)
        self._server = server
        server.on_client_disconnect(self._gone)

    def _gone(self, _: viser.ClientHandle) -> None:
        """Nobody holds the stick of a page that was closed."""
        if not self._server.get_clients():
            self.field.value = "0 0 0"  # type: ignore[misc]

    @property
    def wanted(self) -> tuple[float, float, float]:
        return parse(self.field.value)

    def velocity(self, most: Array) -> tuple[float, float, float]:
        """Forward, left [m/s], turn [rad/s], where ``most`` is all the way."""
        forward, left, turn = (part * float(top) for part, top in zip(self.wanted, most, strict=True))
        return forward, left, turn


def parse(text: str) -> tuple[float, float, float]:
    """Three numbers from -1 to 1; standing still for everything else."""
    try:
        forward, left, turn = (float(part) for part in text.replace(",", " ").split())
    except ValueError:
        return 0.0, 0.0, 0.0
    if not all(math.isfinite(part) for part in (forward, left, turn)):
        return 0.0, 0.0, 0.0
    bounded = [max(-1.0, min(1.0, part)) for part in (forward, left, turn)]
    return bounded[0], bounded[1], bounded[2]
