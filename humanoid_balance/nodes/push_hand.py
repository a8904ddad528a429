"""The operator's hand: force, direction and duration of the next push, set by keys or by a joystick."""

from __future__ import annotations

import math
import os
import select
import sys
import termios
import tty
from dataclasses import dataclass
from types import TracebackType
from typing import TextIO

from sensor_msgs.msg import Joy

from humanoid_balance.errors import InputError
from humanoid_balance.plants.pushes import PushProfile

STEP = 10.0  # of the force [N]
STRONGEST = 2000.0  # [N]
ARROWS = {"\x1b[A": 0.0, "\x1b[D": 90.0, "\x1b[B": 180.0, "\x1b[C": 270.0}  # up left down right -> where to push [deg]
NAMES = {0.0: "forward", 90.0: "left", 180.0: "backward", 270.0: "right"}
QUIT = ("q", "\x03")
HELP = {
    "keyboard": "arrows: direction   + -: force   space: push   q: quit",
    "joy": "left stick: direction   shoulder buttons: force down, up   first button (A): push   Ctrl-C: quit",
}
DEAD = 0.3  # a stick moved by less does not point anywhere


@dataclass
class NextPush:
    """What the next push will be."""

    force: float = 100.0  # [N]
    duration: float = 0.1  # [s]
    direction: float = 0.0  # where the force points [deg]

    def push(self) -> PushProfile:
        return PushProfile(self.force, self.duration, self.direction, 0.0)

    def stronger(self, step: float) -> None:
        self.force = min(STRONGEST, max(0.0, self.force + step))

    def key(self, key: str) -> bool:
        """Answer a key; True: push now."""
        if key in ARROWS:
            self.direction = ARROWS[key]
        elif key in ("+", "="):
            self.stronger(STEP)
        elif key in ("-", "_"):
            self.stronger(-STEP)
        return key == " "

    def __str__(self) -> str:
        where = NAMES.get(self.direction, "")
        return f"{self.force:4.0f} N  {self.direction:3.0f} deg {where:8}  {self.duration:.2f} s"


class Keyboard:
    """Single keys from a terminal. Use it in ``with``: afterwards the terminal is as it was."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdin
        if not self._stream.isatty():
            raise InputError("parameter 'input' is 'keyboard', but there is no terminal; allowed here: joy, script")

    def __enter__(self) -> Keyboard:
        self._before = termios.tcgetattr(self._stream)
        tty.setcbreak(self._stream)
        return self

    def keys(self, seconds: float) -> list[str]:
        """What is typed within some time; an arrow key is one of its escape sequences."""
        if not select.select([self._stream], [], [], seconds)[0]:
            return []
        text = os.read(self._stream.fileno(), 64).decode(errors="ignore")
        out = []
        while text:
            size = 3 if text[:3] in ARROWS else 1
            out.append(text[:size])
            text = text[size:]
        return out

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        termios.tcsetattr(self._stream, termios.TCSADRAIN, self._before)


@dataclass
class Joystick:
    """A stick points where to push, buttons push and change the force; the layout is that of most game pads."""

    forward_axis: int = 1
    left_axis: int = 0
    push_button: int = 0
    weaker_button: int = 4
    stronger_button: int = 5

    def __post_init__(self) -> None:
        self._before: list[int] = []

    def see(self, message: Joy, hand: NextPush) -> bool:
        """Answer a message; True: push now."""
        axes, buttons = list(message.axes), list(message.buttons)
        if len(axes) > max(self.forward_axis, self.left_axis):
            forward, left = axes[self.forward_axis], axes[self.left_axis]
            if math.hypot(forward, left) > DEAD:
                hand.direction = math.degrees(math.atan2(left, forward)) % 360.0
        pressed = [
            k for k, on in enumerate(buttons) if on and not (k < len(self._before) and self._before[k])
        ]  # not those that are held
        self._before = buttons
        hand.stronger(STEP * ((self.stronger_button in pressed) - (self.weaker_button in pressed)))
        return self.push_button in pressed
