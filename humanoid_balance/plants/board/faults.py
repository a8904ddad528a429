"""Things that go wrong on a board at a chosen time: ``KIND[:JOINT][@START[+DURATION]]``.

START counts from the moment the robot is let go [s]; without it the fault is there from the beginning. Without a
DURATION it stays.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from humanoid_balance.errors import InputError

JOINT_KINDS = ("stuck-encoder", "over-temperature", "brown-out", "silent")  # of one joint, or of all
BOARD_KINDS = ("e-stop-line",)  # while it lasts
EVENTS = ("stall", "silence", "unplug", "reboot")  # stall: bytes wait; silence: bytes are lost
KINDS = JOINT_KINDS + BOARD_KINDS + EVENTS

_FORM = re.compile(r"(?P<kind>[a-z-]+)(:(?P<joint>[^@]+))?(@(?P<start>[0-9.]+)(\+(?P<duration>[0-9.]+))?)?")


@dataclass(frozen=True)
class PlannedFault:
    """One fault: what, where, when."""

    kind: str
    joint: str | None  # None: all
    start: float  # after the robot is let go [s]; -inf: from the beginning
    duration: float  # [s]

    @staticmethod
    def parse(text: str, joints: Sequence[str]) -> PlannedFault:
        found = _FORM.fullmatch(text)
        if found is None:
            raise InputError(f"fault '{text}': not of the form KIND[:JOINT][@START[+DURATION]]")
        kind, joint = found["kind"], found["joint"]
        if kind not in KINDS:
            raise InputError(f"fault '{text}': unknown kind '{kind}'; allowed: {', '.join(KINDS)}")
        if joint is not None and (kind not in JOINT_KINDS or joint not in joints):
            allowed = ", ".join(joints) if kind in JOINT_KINDS else "none for this kind"
            raise InputError(f"fault '{text}': joint '{joint}'; allowed: {allowed}")
        try:
            start = -math.inf if found["start"] is None else float(found["start"])
            duration = math.inf if found["duration"] is None else float(found["duration"])
        except ValueError:
            raise InputError(f"fault '{text}': a time is not a number") from None
        return PlannedFault(kind, joint, start, duration)


class FaultPlan:
    """Which faults are present; time starts when the robot is let go."""

    def __init__(self, faults: Sequence[PlannedFault] = ()) -> None:
        self.faults = tuple(faults)
        self._done: set[PlannedFault] = set()
        self._letting_go: int | None = None

    def let_go(self, now: int) -> None:
        """The robot was let go at this time of the board's clock [µs]."""
        self._letting_go = now

    def present(self, now: int) -> list[PlannedFault]:
        """Faults that are there now, and events that happen now; ``now`` is the board's clock [µs]."""
        since = -math.inf if self._letting_go is None else 1e-6 * (now - self._letting_go)
        found: list[PlannedFault] = []
        for fault in self.faults:
            over = math.isfinite(fault.start) and since >= fault.start + fault.duration
            if fault.start <= since and not over:
                if fault.kind in EVENTS:
                    if fault in self._done:
                        continue
                    self._done.add(fault)
                found.append(fault)
        return found
