"""The visitor's controls. They only collect wishes; the page sends them."""

from __future__ import annotations

import html
import math
import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import viser

from humanoid_balance.balance.settings import STRATEGIES
from humanoid_balance.figures import palette
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings
from humanoid_balance.viewer.session import Snapshot
from humanoid_balance.viewer.simulation import Hold, PushNow, ResetNow, SetPace, Setup, Wanted

LINES = 3  # changes of mode that are told
CALM = 0.4  # a slider that rests this long is taken for meant [s]
FIRST_PUSH = 0.4  # velocity change of the push that is offered [m/s]
DURATION = 0.1  # [s]
KEYS: dict[Any, tuple[float, str]] = {  # the arrows and W A S D belong to the camera
    "I": (0.0, "forward"), "J": (90.0, "to the left"), "K": (180.0, "backward"), "L": (270.0, "to the right"),
}  # fmt: skip
HELP = (
    "**Drag** a part of the body to pull it, level with the ground. Turn the **arc** at its feet or the slider to "
    "aim. Keys: **space** pushes there, **I J K L** push forward, left, backward, right; **R** stands it up again, "
    "**P** pauses, **M** is slow motion. Drag beside the body to look around, the wheel zooms."
)
LEGEND = (("CoM and below it", palette.COM), ("ZMP", palette.ZMP), ("capture point", palette.DCM),
          ("push", palette.FORCE), ("planned step", palette.ORANGE), ("ground's force", palette.GROUND))  # fmt: skip


class Panel:
    """``wishes`` gives what was asked for since the last call."""

    def __init__(self, server: viser.ViserServer, settings: RunSettings, mass: float) -> None:
        self.gui, self.settings = server.gui, settings
        self._lock, self._wishes = threading.Lock(), list[Wanted]()
        self._changed = math.inf
        self.colours: dict[str, str] = {}
        self.status = self.gui.add_html("")
        self._push_controls(mass)
        self._world_controls()
        self._time_controls()
        with self.gui.add_folder("How to", expand_by_default=False):
            self.gui.add_markdown(HELP)
        self._keys()

    # ---- controls ----

    def _push_controls(self, mass: float) -> None:
        with self.gui.add_folder("Push"):
            self.direction = self.gui.add_slider(
                "Direction [°]", 0, 359, 1, 0, hint="where the force points: 0 forward, 90 to its left, 180 backward"
            )
            self.force = self.gui.add_slider("Force [N]", 0, 1000, 10, first_force(mass))
            self.duration = self.gui.add_slider("Duration [s]", 0.02, 1.0, 0.01, DURATION)
            button = self.gui.add_button("PUSH", color="red", icon=viser.Icon.HAND_STOP)
        button.on_click(lambda _: self._push(self.direction.value))

    def _world_controls(self) -> None:
        given, names = self.settings, registry.names()
        names = names if given.robot in names else [given.robot, *names]
        with self.gui.add_folder("Robot and ground"):
            self.robot = self.gui.add_dropdown("Robot", names, initial_value=given.robot)
            self.strategy = self.gui.add_dropdown("Strategy", STRATEGIES, initial_value=given.strategy)
            steep, slick = given.slope, given.friction
            self.slope = self.gui.add_slider("Slope [°]", min(-15.0, steep), max(15.0, steep), 0.5, steep)
            self.friction = self.gui.add_slider("Friction", min(0.1, slick), max(1.5, slick), 0.05, slick)
        self.robot.on_update(lambda _: self._touched())
        self.strategy.on_update(lambda _: self._touched())
        self.slope.on_update(lambda _: self._touched())
        self.friction.on_update(lambda _: self._touched())

    def _time_controls(self) -> None:
        with self.gui.add_folder("Time"):
            self.pause = self.gui.add_checkbox("Pause", False)
            self.speed = self.gui.add_slider("Speed", 0.05, 1.0, 0.05, 1.0, hint="1: real time, less: slow motion")
            self.get_up = self.gui.add_checkbox("Stand up again after a fall", True)
            reset = self.gui.add_button("Reset", icon=viser.Icon.REFRESH)
        self.pause.on_update(lambda _: self._pace())
        self.speed.on_update(lambda _: self._pace())
        self.get_up.on_update(lambda _: self._pace())
        reset.on_click(lambda _: self.wish(ResetNow()))

    def _keys(self) -> None:
        add = self.gui.add_command
        add("Push", hotkey="space").on_trigger(lambda _: self._push(self.direction.value))
        add("Reset", hotkey="R").on_trigger(lambda _: self.wish(ResetNow()))
        add("Pause", hotkey="P").on_trigger(lambda _: self._toggle_pause())
        add("Slow motion", hotkey="M").on_trigger(lambda _: self._toggle_slow())
        for key, (direction, name) in KEYS.items():
            add(f"Push {name}", hotkey=key).on_trigger(lambda _, d=direction: self._push(d))  # type: ignore[misc]

    # ---- wishes ----

    def wish(self, command: Wanted) -> None:
        with self._lock:
            if isinstance(command, Hold) and self._wishes and isinstance(self._wishes[-1], Hold):
                self._wishes.pop()  # only the newest place of the hand matters
            self._wishes.append(command)

    def wishes(self) -> list[Wanted]:
        """What was asked for, in order; the world once its controls are at rest."""
        with self._lock:
            given, self._wishes = self._wishes, []
            if time.monotonic() - self._changed > CALM:
                self._changed = math.inf
                wanted = self._wanted()
                if wanted != self.settings:
                    self.settings = wanted
                    given.append(Setup(wanted))
        return given

    def _push(self, direction: float) -> None:
        self.wish(PushNow(self.force.value, self.duration.value, direction))

    def _touched(self) -> None:
        self._changed = time.monotonic()

    def _wanted(self) -> RunSettings:
        return replace(
            self.settings, robot=self.robot.value, strategy=self.strategy.value, slope=self.slope.value,
            friction=self.friction.value,
        )  # fmt: skip

    def _pace(self) -> None:
        self.wish(SetPace(0.0 if self.pause.value else self.speed.value, self.get_up.value))

    def _toggle_pause(self) -> None:
        self.pause.value = not self.pause.value  # type: ignore[misc]

    def _toggle_slow(self) -> None:
        self.speed.value = 1.0 if self.speed.value < 1.0 else 0.2  # type: ignore[misc]

    # ---- what is told ----

    def tell(self, now: Snapshot, frames: float) -> None:
        """Mode, pace and what changed lately."""
        mode = "fell" if now.moment.fell else now.moment.mode
        colour = palette.RED if now.moment.fell else self._colour(mode)
        pace = "paused" if self.pause.value else f"{now.speed:.2f} × real time"
        lines = "".join(
            f"<tr><td>{t:.2f} s</td><td><b>{html.escape(name)}</b> {html.escape(reason)}</td></tr>"
            for t, name, reason in reversed(now.changes[-LINES:])
        )
        keys = "".join(f'<span style="color:{c}">●</span> {name} &nbsp;' for name, c in LEGEND)
        self.status.content = (
            '<div style="padding:4px 12px;font-size:13px;line-height:1.5">'
            f'<div id="mode" style="font-size:22px;font-weight:700;border-radius:6px;padding:2px 10px;color:#16202a;'
            f'background:{colour}">{html.escape(mode)}</div>'
            f'<div id="pace">{now.moment.time:.1f} s, {pace}, {frames:.0f} frames/s, tick {1e6 * now.tick:.0f} µs, '
            f"push {float(np.linalg.norm(now.moment.push)):.0f} N</div>"
            f'<div style="color:#b00020">{html.escape(now.notice)}</div>'
            f'<div style="font-size:12px">{keys}</div>'
            f'<div style="height:{20 * LINES}px;overflow:hidden;font-size:11px;color:#555;white-space:nowrap">'
            f"<table>{lines}</table></div></div>"
        )

    def _colour(self, mode: str) -> str:
        if mode not in self.colours:
            self.colours[mode] = palette.MODES[len(self.colours) % len(palette.MODES)]
        return "#" + "".join(f"{round(255 * part):02x}" for part in palette.tint(self.colours[mode]))


def first_force(mass: float) -> float:
    """A push that is felt: in tens of newtons."""
    return min(1000.0, max(10.0, round(FIRST_PUSH * mass / DURATION, -1)))
