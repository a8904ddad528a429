"""Complaints that do not flood the log: each is told once, then counted and told again every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

AGAIN = 5.0  # [s]
KINDS = 200  # of complaints that are remembered; a sender that varies its nonsense must not fill the memory


class Throttle:
    """Names a refused message; ``counts`` has how often each kind was refused."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._next: dict[str, float] = {}
        self.counts: dict[str, int] = {}

    def __call__(self, kind: str, detail: str = "") -> None:
        """``kind`` is what counts as the same complaint, ``detail`` belongs to this one."""
        if kind not in self.counts and len(self.counts) >= KINDS:
            kind, detail = "more kinds of refused messages than can be told apart", ""
        self.counts[kind] = count = self.counts.get(kind, 0) + 1
        now = time.monotonic()
        if now >= self._next.get(kind, 0.0):
            self._next[kind] = now + AGAIN
            text = f"{kind}: {detail}" if detail else kind
            self._tell(text if count == 1 else f"{text} ({count} times)")
