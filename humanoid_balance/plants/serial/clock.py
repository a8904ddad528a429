"""The clock of a board in the host's time."""

from __future__ import annotations

from collections import deque

WINDOW = 64  # samples among which the quickest round trip is looked for
FOLLOW = 0.1  # share of the difference that is followed a sample: drift is slow, jitter is not
JUMP = 50_000  # a board that is off by more has restarted [µs]


class ClockMap:
    """Offset from round trips: the quickest of the last ones was delayed least, half of it is the way back.

    With t the host's clock at the arrival of a State, the round trip is t - echo - echo_age. Until a Command has come
    back, the way is taken as nothing.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.offset = 0.0  # host's clock - board's clock [µs]
        self.round_trip = 0.0  # quickest of late [µs]
        self._window: deque[tuple[float, float]] = deque(maxlen=WINDOW)  # trip (or offset, without echo), offset
        self._echoing = False

    def update(self, stamp: int, arrival: int, echo: int, echo_age: int) -> None:
        """A State with ``stamp`` on the board's clock came at ``arrival`` on the host's; all in µs."""
        trip = max(0.0, float(arrival - echo - echo_age)) if echo else 0.0
        offset = arrival - 0.5 * trip - stamp
        if bool(echo) != self._echoing or abs(offset - self.offset) > JUMP:
            self._window.clear()
        self._echoing = bool(echo)
        first = not self._window
        self._window.append((trip if echo else offset, offset))
        _, best = min(self._window)
        self.round_trip = min(self._window)[0] if echo else 0.0
        self.offset += (1.0 if first else FOLLOW) * (best - self.offset)

    def host_time(self, stamp: int) -> float:
        """Host's clock [s] at a time of the board [µs]."""
        return 1e-6 * (stamp + self.offset)
