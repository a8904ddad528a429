"""The finite-state machine of a gait: which state acts, on which leg, and when the next one takes over."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_balance.gaits.table import GaitState, GaitTable

ONCE_ROUND = 2  # a tick passes through no more states than two half cycles have: a table cannot hang the loop

GRAZED = 0.1  # a foot that lets go so soon after it touched the ground, while the other one stands, has not landed [s]
LATE = 1.2  # half cycles last longer by as much where the ground is level


@dataclass(frozen=True)
class _Awaited:
    """The half cycle at whose end a foot is awaited."""

    table: GaitTable
    index: int
    since: float
    begun: float
    period: float | None


class Machine:
    """Half cycle after half cycle, the legs changing places. A new gait takes over at a change of state (Y18),
    one with another number of states at the end of a half cycle: a skip begun at its jump has not drawn up its leg.
    """

    def __init__(self, table: GaitTable, stance: int, stamp: float) -> None:
        """Begin with the first state, on the leg ``stance`` (0 left, 1 right)."""
        self.table = table.padded()
        self.stance, self.index, self.since = stance, 0, stamp
        self.begun = stamp  # of the half cycle [s]
        self.period: float | None = None  # of the last complete half cycle [s]
        self.steps = 0
        self.following: GaitTable | None = None  # takes over at the next change of state
        self._awaited: _Awaited | None = None  # what was before the last landing

    @property
    def state(self) -> GaitState:
        return self.table.states[self.index]

    @property
    def swing(self) -> int:
        return 1 - self.stance

    def late(self, stamp: float) -> bool:
        """The swinging foot is awaited, and the last half cycle was over by now."""
        return self.state.time is None and self.period is not None and stamp - self.begun > LATE * self.period

    def update(self, stamp: float, touching: tuple[bool, bool]) -> bool:
        """Go on to the state of this tick; ``touching``: which feet are on the ground. True when it changed."""
        changed = self._take_back(stamp, touching)
        for _ in range(ONCE_ROUND * len(self.table.states)):
            time = self.state.time
            if (not touching[self.swing]) if time is None else (stamp - self.since < time - 1e-9):
                break
            self._advance(stamp)
            changed = True
        return changed

    def _take_back(self, stamp: float, touching: tuple[bool, bool]) -> bool:
        """Wait again for a foot that has only grazed the ground, as at the edge of a step down. True when it has."""
        if self._awaited is None:
            return False
        if stamp - self.begun > GRAZED:
            self._awaited = None
            return False
        before = self._awaited
        if touching[self.stance] or not touching[self.swing] or before.table is not self.table:
            return False
        self.index, self.since, self.begun, self.period = before.index, before.since, before.begun, before.period
        self.stance, self.steps, self._awaited = self.swing, self.steps - 1, None
        return True

    def _advance(self, stamp: float) -> None:
        if self.index == len(self.table.states) - 1 and self.state.time is None:
            self._awaited = _Awaited(self.table, self.index, self.since, self.begun, self.period)
        self.since = stamp
        self.index += 1
        if self.index == len(self.table.states):
            self.index, self.stance = 0, self.swing
            self.steps += 1
            self.period, self.begun = stamp - self.begun, stamp
        if self.following is not None:  # state n of one, n + 1 of the other
            table = self.following.padded()
            if self.index == 0 or len(table.states) == len(self.table.states):
                self.table, self.following = table, None
