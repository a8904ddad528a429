"""Which mode follows which, and when: the one table of transitions.

A row says: from, to, condition, reason. The rows of the mode that acts are read from top to bottom once per tick; the
first whose condition holds decides. A row from a mode to itself means: stay, and read no further. A condition is a
small function of (situation, memory) that stands in the file of a mode; it answers with the figures that it found, or
with True where there are none. The operator's command is part of the situation, ``now.command``.

    extended = STANDARD.plus([Hopping], [Transition("stable", "hopping", hopping.asked, "asked to hop"), ...])
    Supervisor(robot, settings, extended)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from humanoid_balance.balance.memory import Memory
from humanoid_balance.balance.modes import falling, squaring, standing, stepping, walking
from humanoid_balance.balance.modes.mode import BalanceMode, done
from humanoid_balance.balance.situation import Situation
from humanoid_balance.errors import InputError

Condition = Callable[[Situation, Memory], bool | str]

UPRIGHT = "(any upright mode)"  # as the source of a row: every mode with ``upright``, but not the row's own target


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table."""

    source: str  # name of a mode, or UPRIGHT
    target: str
    when: Condition
    reason: str  # for people


@dataclass(frozen=True)
class Repertoire:
    """What a robot can do: its modes, the first of which it starts in, and the transitions between them."""

    modes: tuple[type[BalanceMode], ...]
    table: tuple[Transition, ...]

    def __post_init__(self) -> None:
        names = [kind.name for kind in self.modes]
        for name in names:
            if names.count(name) > 1 or name == UPRIGHT:
                raise InputError(f"mode '{name}' is there twice" if name != UPRIGHT else f"a mode is called '{name}'")
        for row in self.table:
            for end in (row.source, row.target):
                if end not in names and (end != UPRIGHT or end is row.target):
                    known = ", ".join(names)
                    raise InputError(f"transition {row.source} -> {row.target}: no mode '{end}'; there are: {known}")

    def plus(self, modes: Iterable[type[BalanceMode]], table: Iterable[Transition]) -> Repertoire:
        """With more modes and rows; new rows are read after those that are there."""
        return Repertoire((*self.modes, *modes), (*self.table, *table))

    def instead(self, kind: type[BalanceMode]) -> Repertoire:
        """With another mode in the place of the one of that name."""
        if kind.name not in [mode.name for mode in self.modes]:
            raise InputError(f"no mode '{kind.name}' to take the place of")
        return Repertoire(tuple(kind if mode.name == kind.name else mode for mode in self.modes), self.table)

    def rows(self, kind: type[BalanceMode]) -> tuple[Transition, ...]:
        """The rows that are read while a mode acts, in order."""
        name, upright = kind.name, kind.upright
        return tuple(
            row
            for row in self.table
            if row.source == name or (row.source == UPRIGHT and upright and row.target != name)
        )


STANDARD = Repertoire(
    modes=(
        standing.Stable,
        standing.InPlace,
        stepping.Stepping,
        squaring.Squaring,
        walking.Walking,
        falling.Falling,
    ),
    table=(
        Transition(UPRIGHT, "falling", falling.lost, "nothing more can be won on the feet"),
        #
        Transition("stable", "stable", standing.reacting, "reaction delay"),
        Transition("stable", "in place", stepping.needed, "the feet cannot stay, but turning is tried first"),
        Transition("stable", "in place", standing.near_edge, "the centre of pressure alone cannot hold the DCM"),
        Transition("stable", "walking", walking.asked, "asked to walk"),
        Transition("stable", "stable", walking.as_placed, "the feet stand as planned"),
        Transition("stable", "squaring up", squaring.feet_apart, "feet apart"),
        #
        Transition("in place", "stable", standing.reacting, "reaction delay"),
        Transition("in place", "stepping", stepping.due, "turning the body cannot hold the DCM"),
        Transition("in place", "stable", standing.recovered, "recovered"),
        #
        Transition("stepping", "in place", done, "steps are over"),
        #
        Transition("squaring up", "in place", done, "squaring up is over"),
        Transition("squaring up", "in place", squaring.pushed_meanwhile, "pushed while squaring up"),
        #
        Transition("walking", "in place", done, "the walk is over"),
        Transition("walking", "in place", walking.pushed_at_the_start, "pushed before the first step"),
    ),
)
