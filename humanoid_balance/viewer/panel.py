"""The visitor's controls. They only collect wishes; the page sends them."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import viser

from humanoid_balance.balance.settings import STRATEGIES
from humanoid_balance.plants.push_place import links
from humanoid_balance.plants.pushes import TALLEST
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import RunSettings
from humanoid_balance.viewer.abilities import Abilities
from humanoid_balance.viewer.gains import GainSliders
from humanoid_balance.viewer.gait_cards import GaitCards
from humanoid_balance.viewer.rewind import KEPT
from humanoid_balance.viewer.session import Snapshot
from humanoid_balance.viewer.simulation import (
    AFTER_FALLS,
    PUT,
    Ask,
    Hold,
    PushNow,
    ResetNow,
    SetGain,
    SetPace,
    Setup,
    Steer,
    TuneGait,
    Wanted,
)  # fmt: skip
from humanoid_balance.viewer.status import HELP, StatusBoard
from humanoid_balance.viewer.stick import Stick

CALM = 0.4  # a slider that rests this long is taken for meant [s]
FIRST_PUSH = 0.4  # velocity change of the push that is offered [m/s]
DURATION = 0.1  # [s]
KEYS: dict[Any, tuple[float, str]] = {
    "I": (0.0, "forward"), "J": (90.0, "to the left"), "K": (180.0, "backward"), "L": (270.0, "to the right"),
}  # fmt: skip
BY_STICK = "none: the stick walks"
AT_COM = "torso, at the CoM"


class Panel:
    """``wishes`` gives what was asked for since the last call."""

    def __init__(self, server: viser.ViserServer, settings: RunSettings, robot: Robot) -> None:
        self.gui, self.settings = server.gui, settings
        self._lock, self._wishes = threading.Lock(), list[Wanted]()
        self._changed = math.inf
        self.abilities: Abilities | None = None
        self.status = StatusBoard(self.gui)
        tabs = self.gui.add_tab_group()
        with tabs.add_tab("Drive"):
            self._drive_controls(server)
            self._push_controls(robot)
            self._time_controls()
        with tabs.add_tab("World"):
            self._world_controls()
        with tabs.add_tab("Look"):
            self._look_controls()
        with tabs.add_tab("Gait"):
            self.cards = GaitCards(self.gui, lambda *change: self.wish(TuneGait(*change)))
        self.gait.on_update(lambda _: self.cards.show(self._gait))
        with tabs.add_tab("Gains"):
            self.gains = GainSliders(self.gui, robot.config.gains, lambda *gain: self.wish(SetGain(*gain)))
        self._keys()

    # ---- controls ----

    def _drive_controls(self, server: viser.ViserServer) -> None:
        with self.gui.add_folder("How to"):
            self.gui.add_html(HELP)
        with self.gui.add_folder("Walk"):
            self.stick = Stick(server)
            self.fastest = self.gui.add_slider("Fastest [m/s]", 0.1, 2.0, 0.05, 0.5, hint="stick all the way up")
            self.gait = self.gui.add_dropdown("Gait", (BY_STICK,), hint="finite-state gaits that this robot has")
            self.skills = self.gui.add_button_group("Lying", (" ",), visible=False)
        self.skills.on_click(lambda _: self.wish(Ask(str(self.skills.value))))

    def _push_controls(self, robot: Robot) -> None:
        with self.gui.add_folder("Push"):
            self.direction = self.gui.add_slider(
                "Direction [°]", 0, 359, 1, 0, hint="where the force points: 0 forward, 90 to its left, 180 backward"
            )
            self.force = self.gui.add_slider("Force [N]", 0, 1000, 10, first_force(robot.mass))
            self.duration = self.gui.add_slider("Duration [s]", 0.02, 1.0, 0.01, DURATION)
            where = (AT_COM, *links(robot))
            self.link = self.gui.add_dropdown("Where", where, hint="a link: at the origin of its frame")
            self.by_height = self.gui.add_checkbox("At a height", False, hint="above the ground, on that link")
            self.height = self.gui.add_slider("Height [m]", 0.0, TALLEST, 0.01, round(robot.com_height, 2))
            button = self.gui.add_button("PUSH", color="red", icon=viser.Icon.HAND_STOP)
        button.on_click(lambda _: self._push(self.direction.value))

    def _time_controls(self) -> None:
        with self.gui.add_folder("Time"):
            self.pause = self.gui.add_checkbox("Pause", False)
            self.speed = self.gui.add_slider("Speed", 0.05, 1.0, 0.05, 1.0, hint="1: real time, less: slow motion")
            self.ago = self.gui.add_slider("Seconds ago", 0.0, KEPT, 0.05, 0.0, hint="look back; 0: now")
            again = self.gui.add_button("Play again", icon=viser.Icon.PLAYER_PLAY, hint="from there, or the last 5 s")
            reset = self.gui.add_button("Reset", icon=viser.Icon.REFRESH)
        self.play = False
        self.pause.on_update(lambda _: self._pace())
        self.speed.on_update(lambda _: self._pace())
        self.ago.on_update(lambda event: self._looked_back(event.client is not None))
        again.on_click(lambda _: self._play_again())
        reset.on_click(lambda _: self._reset())

    def _world_controls(self) -> None:
        given, names = self.settings, registry.names()
        names = names if given.robot in names else [given.robot, *names]
        self.robot = self.gui.add_dropdown("Robot", names, initial_value=given.robot)
        self.strategy = self.gui.add_dropdown("Strategy", STRATEGIES, initial_value=given.strategy)
        steep, slick = given.slope, given.friction
        self.slope = self.gui.add_slider("Slope [°]", min(-15.0, steep), max(15.0, steep), 0.5, steep)
        self.friction = self.gui.add_slider("Friction", min(0.1, slick), max(1.5, slick), 0.05, slick)
        self.planar = self.gui.add_checkbox("On a boom", given.planar, hint="moves in its sagittal plane only")
        self.after_fall = self.gui.add_dropdown("After a fall", AFTER_FALLS, initial_value=PUT)
        for control in (self.robot, self.strategy, self.slope, self.friction, self.planar):
            control.on_update(lambda _: self._touched())
        self.after_fall.on_update(lambda _: self._pace())

    def _look_controls(self) -> None:
        add = self.gui.add_checkbox
        self.follow = add("Follow the robot", True)
        self.translucent = add("Translucent body", False, hint="shows the CoM inside")
        self.forces = add("Contact forces", True)
        self.inertia = add("Inertia", False, hint="each link as a box of even density with its mass and inertia")

    def _keys(self) -> None:
        add = self.gui.add_command
        add("Push", hotkey="space").on_trigger(lambda _: self._push(self.direction.value))
        add("Reset", hotkey="R").on_trigger(lambda _: self._reset())
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
        """What was asked for, in order; the world once its controls are at rest, and where to go, again and again."""
        with self._lock:
            given, self._wishes = self._wishes, []
            if time.monotonic() - self._changed > CALM:
                self._changed = math.inf
                wanted = self._wanted()
                if wanted != self.settings:
                    self.settings = wanted
                    given.append(Setup(wanted))
        return [*given, self._steering()]

    def _steering(self) -> Steer:
        gait = self._gait
        if self.abilities is None:
            return Steer((0.0, 0.0, 0.0))
        usual = np.array(self.abilities.speed)
        return Steer(
            self.stick.velocity(usual * (self.fastest.value / usual[0], self.fastest.value / usual[0], 1)), gait
        )

    @property
    def _gait(self) -> str:
        return "" if self.gait.value == BY_STICK else self.gait.value

    def _push(self, direction: float) -> None:
        link = None if self.link.value == AT_COM else self.link.value
        height = self.height.value if self.by_height.value else None
        self.wish(PushNow(self.force.value, self.duration.value, direction, link, height))

    def _touched(self) -> None:
        self._changed = time.monotonic()

    def _wanted(self) -> RunSettings:
        return replace(
            self.settings, robot=self.robot.value, strategy=self.strategy.value, slope=self.slope.value,
            friction=self.friction.value, planar=self.planar.value,
        )  # fmt: skip

    def _pace(self) -> None:
        if not self.pause.value:
            self.play = False
            if self.ago.value:
                put(self.ago, 0.0)
        self.wish(SetPace(0.0 if self.pause.value else self.speed.value, self.after_fall.value))

    def _reset(self) -> None:
        if self.ago.value:
            put(self.ago, 0.0)
        self.wish(ResetNow())

    def _looked_back(self, by_hand: bool) -> None:
        """The robot waits while somebody looks at its past."""
        if by_hand:
            self.play = False
        if self.ago.value and not self.pause.value:
            put(self.pause, True)

    def _play_again(self) -> None:
        if not self.ago.value:
            put(self.ago, 5.0)
        self.play = True

    def _toggle_pause(self) -> None:
        put(self.pause, not self.pause.value)

    def _toggle_slow(self) -> None:
        put(self.speed, 1.0 if self.speed.value < 1.0 else 0.2)

    # ---- what changes with the robot ----

    def meet(self, robot: Robot, abilities: Abilities) -> None:
        """Another robot, or another world: offer what it can do there."""
        if abilities != self.abilities:
            self.abilities = abilities
            put(self.fastest, round(abilities.speed[0] / 0.05) * 0.05)
            self.gait.options = (BY_STICK, *abilities.gaits)
            put(self.gait, BY_STICK)
            self.skills.options = abilities.skills or (" ",)
            self.skills.visible = bool(abilities.skills)
            self._offer_links(robot)
        self.gains.reset(robot.config.gains)

    def _offer_links(self, robot: Robot) -> None:
        where = (AT_COM, *links(robot))
        if where != tuple(self.link.options):
            self.link.options = where
            put(self.link, AT_COM)
            put(self.height, round(robot.com_height, 2))

    def tell(self, now: Snapshot, velocity: float) -> None:
        """Mode, pace and what changed lately."""
        self.status.tell(now, self.pause.value, self.ago.value, velocity)


def put(control: Any, value: object) -> None:
    """Set a control from here; viser's types say that only visitors do."""
    control.value = value


def first_force(mass: float) -> float:
    """A push that is felt: in tens of newtons."""
    return min(1000.0, max(10.0, round(FIRST_PUSH * mass / DURATION, -1)))
