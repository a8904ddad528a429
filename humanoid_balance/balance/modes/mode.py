"""What a mode is: it looks at the situation and returns a Reference; the supervisor decides which mode acts."""

from __future__ import annotations

from typing import Protocol

from humanoid_balance.balance.situation import Situation
from humanoid_balance.types import Reference


class Mode(Protocol):
    """``enter`` when the mode takes over, then ``update`` once a tick."""

    name: str

    def enter(self, now: Situation) -> None: ...

    def update(self, now: Situation) -> Reference: ...
