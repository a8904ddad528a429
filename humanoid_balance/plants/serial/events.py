"""What happened on the lines, for the operator's log: told once, with place, time, with joint, value, limit."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import IntEnum

from humanoid_balance.plants.protocol import Mode

KEPT = 1000  # events that wait to be fetched; the oldest go first
CALM = 1.0  # a fault that comes again within this time is the same one, and lost frames are summed up over it [s]
UNWELL = (Mode.LAPSED, Mode.OFF, Mode.STOPPING, Mode.STOPPED)  # no host asks for these


class Severity(IntEnum):
    """How much it matters."""

    INFO = 0
    WARN = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class BusEvent:
    """One line of the log."""

    stamp: float  # host's monotonic clock [s]
    severity: Severity
    port: str
    board: str
    what: str

    def __str__(self) -> str:
        return f"board '{self.board}' at {self.port}: {self.what}"


class EventLog:
    """The events of one bus, until they are fetched."""

    def __init__(self, port: str) -> None:
        self.port, self.board = port, port
        self._events: deque[BusEvent] = deque(maxlen=KEPT)
        self.last_mode: Mode | None = None
        self._told: dict[str, float] = {}  # when a fault was there last [s]
        self._counts, self._counted = (0, 0), 0.0  # lost and damaged frames that were reported, and when [s]

    def add(self, stamp: float, severity: Severity, what: str) -> None:
        self._events.append(BusEvent(stamp, severity, self.port, self.board, what))

    def fetch(self) -> list[BusEvent]:
        """All since the last time."""
        events = list(self._events)
        self._events.clear()
        return events

    def mode(self, stamp: float, mode: Mode, why: str) -> None:
        """The board reports this mode; ``why`` are its faults."""
        before, self.last_mode = self.last_mode, mode
        if before is None or mode is before:
            return
        restarted = mode is Mode.UNCONFIGURED and before is not Mode.OFF
        severity = Severity.ERROR if mode in UNWELL or restarted else Severity.INFO
        what = "has restarted: " if restarted else ""
        self.add(stamp, severity, f"{what}{before.name} -> {mode.name}" + (f" ({why})" if why else ""))

    def fault(self, stamp: float, what: str) -> None:
        """A fault that the board tells of, again and again while it lasts."""
        last = self._told.get(what.split(":")[0], -CALM)
        self._told[what.split(":")[0]] = stamp
        if stamp - last >= CALM:
            self.add(stamp, Severity.WARN, what)

    def frames(self, stamp: float, lost: int, damaged: int) -> None:
        """Totals of frames that were missing and that came damaged."""
        if stamp - self._counted >= CALM:
            self._counted = stamp
            more = lost - self._counts[0], damaged - self._counts[1]
            self._counts = lost, damaged
            if any(more):
                self.add(stamp, Severity.WARN, f"{more[0]} frames lost, {more[1]} damaged within {CALM:g} s")

    def port_lost(self, stamp: float, why: str) -> None:
        self.last_mode = None
        self.add(stamp, Severity.ERROR, f"port lost: {why}")

    def port_back(self, stamp: float) -> None:
        self.add(stamp, Severity.WARN, "port is back; reset, disarm and arm have to follow")
