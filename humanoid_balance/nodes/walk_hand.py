"""The operator's hand on the walk: how fast and where to, set by keys or held with a joystick."""

from __future__ import annotations

import time
from dataclasses import dataclass

from geometry_msgs.msg import Twist
from sensor_msgs.msg import Joy

NOTCHES = 5  # presses of a key from standing to the full speed
KEYS = {"w": (1, 0, 0), "s": (-1, 0, 0), "z": (0, 1, 0), "c": (0, -1, 0), "a": (0, 0, 1), "d": (0, 0, -1)}
STOP = "x"
HELP = "w s: forward, backward   a d: turn   z c: sideways   x: stop"
DEAD = 0.1  # a stick moved by less rests
SILENT = 0.5  # a joystick that is silent for so long is let go [s]
FAREWELL = 0.5  # a stop is repeated for so long, then the topic is left to others [s]


@dataclass
class WalkHand:
    """Wanted velocity; ``speed`` [m/s] and ``turn`` [rad/s] are what a full stick or all notches give."""

    speed: float = 0.5
    turn: float = 0.6
    forward_axis: int = 4  # right stick, as most game pads have it
    turn_axis: int = 3
    aside_axis: int = 6  # the cross

    def __post_init__(self) -> None:
        self._wanted = [0.0, 0.0, 0.0]  # forward, left, turn, each -1 to 1
        self._held = -float("inf")  # when a joystick last spoke [s]
        self._by_stick = False
        self._moved = -float("inf")  # when something was last wanted [s]

    def key(self, key: str) -> None:
        """A notch more or less; all of it stops with ``x``."""
        if key == STOP:
            self._wanted = [0.0, 0.0, 0.0]
        for k, notch in enumerate(KEYS.get(key, (0, 0, 0))):
            self._wanted[k] = max(-1.0, min(1.0, round(self._wanted[k] + notch / NOTCHES, 6)))

    def see(self, message: Joy) -> None:
        """A stick is held: what it says counts while it speaks."""
        axes = list(message.axes)
        wanted = [_stick(axes, axis) for axis in (self.forward_axis, self.aside_axis, self.turn_axis)]
        self._wanted, self._by_stick, self._held = wanted, True, time.monotonic()

    def twist(self) -> Twist | None:
        """To be sent now; None when nothing is wanted and everybody knows."""
        now = time.monotonic()
        if self._by_stick and now - self._held > SILENT:
            self._wanted = [0.0, 0.0, 0.0]
        if any(self._wanted):
            self._moved = now
        elif now - self._moved > FAREWELL:
            return None
        message, (forward, left, turn) = Twist(), self._wanted
        message.linear.x, message.linear.y = self.speed * forward, self.speed * left
        message.angular.z = self.turn * turn
        return message

    def __str__(self) -> str:
        forward, left, turn = self._wanted
        return f"walk {self.speed * forward:+.2f} {self.speed * left:+.2f} m/s {self.turn * turn:+.2f} rad/s"


def _stick(axes: list[float], axis: int) -> float:
    """Where a stick is, -1 to 1; one that is not there rests, and so does one that is not a number."""
    value = float(axes[axis]) if axis < len(axes) else 0.0
    return max(-1.0, min(1.0, value)) if abs(value) > DEAD else 0.0
