"""The finite-state machine of a gait: which state acts, on which leg, and when the next one takes over."""

from __future__ import annotations

from humanoid_balance.gaits.table import GaitState, GaitTable

ONCE_ROUND = 2  # a tick passes through no more states than two half cycles have: a table cannot hang the loop


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

    @property
    def state(self) -> GaitState:
        return self.table.states[self.index]

    @property
    def swing(self) -> int:
        return 1 - self.stance

    def update(self, stamp: float, touching: tuple[bool, bool]) -> bool:
        """Go on to the state of this tick; ``touching``: which feet are on the ground. True when it changed."""
        changed = False
        for _ in range(ONCE_ROUND * len(self.table.states)):
            time = self.state.time
            if (not touching[self.swing]) if time is None else (stamp - self.since < time - 1e-9):
                break
            self._advance(stamp)
            changed = True
        return changed

    def _advance(self, stamp: float) -> None:
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
