"""Lock-step: simulated time stands still until the command that answers a frame has come.

A run over topics is then the same at any speed, however busy the machine is. While nobody answers, time goes on with
the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from humanoid_balance.nodes.inbox import Inbox
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.realtime import TickPace
from humanoid_balance.plants.ros.commands import CommandGate
from humanoid_balance.plants.ros.stamps import nanoseconds
from humanoid_balance.types import SensorFrame

RECENT = 20_000_000  # who answered a frame this young is there again [ns]
FAREWELL = 0.1  # one whose last word was damping has probably ended with it [s]
RESEND = 0.05  # a frame is sent again when its answer does not come for so long [s]

ENTRIES = (
    Entry("lockstep", False, "wait for the command that answers each frame, at no pace of its own"),
    Entry("lockstep_timeout", 2.0, "a controller that does not answer for so long is lost [s]", 0.05, 3600.0),
)


class Lockstep:
    """Of a simulated plant."""

    def __init__(
        self, inbox: Inbox, gate: CommandGate, pace: TickPace, publish: Callable[[SensorFrame], None], patience: float
    ) -> None:
        """``publish`` sends a frame; a controller that is silent for ``patience`` [s] is gone."""
        self._inbox, self._gate, self._pace, self._publish, self._patience = inbox, gate, pace, publish, patience
        self.alone = False  # no controller answers

    def wait(self, frame: SensorFrame, goes_on: Callable[[], bool]) -> bool:
        """Until a command answers the frame, or ``goes_on`` is false; False while nobody answers."""
        wanted, sent = nanoseconds(frame.stamp), time.monotonic()
        while goes_on():
            self._inbox.wait(0.0 if self.alone else RESEND)
            self._inbox.poll()
            if self._answered(wanted):
                return True
            if self.alone or self._gone():
                self._pace.wait()
                self._inbox.poll()
                self.alone = not self._answered(wanted - RECENT)
                return False
            if time.monotonic() - sent >= RESEND:
                self._publish(frame)
                sent = time.monotonic()
        return True

    def _answered(self, stamp: int) -> bool:
        """The newest command answers a stamp [ns] or a later one."""
        return self._gate.label is not None and self._gate.label.answers >= stamp

    def _gone(self) -> bool:
        """The controller is silent for too long."""
        label = self._gate.label
        return label is not None and self._gate.age > (FAREWELL if label.damped else self._patience)
