"""The clock of a board in the host's time."""

from __future__ import annotations

from collections import deque

WINDOW = 64  # samples among which the quickest round trip is looked for
FOLLOW = 0.1  # share of the difference that is followed a sample: drift is slow, jitter is not
SLACK = 1_000  # by which the mapped time of a sample may lie outside its round trip [µs]: less is left to the filter
SLEW = 0.5  # the offset falls by at most this share of the time that passes: no sample is older than the one before


class ClockMap:
    """Offset from round trips: the quickest of the last ones was delayed least, half of it is the way back.

    With t the host's clock at the arrival of a State, the round trip is t - echo - echo_age. Until a Command has come
    back, the way is taken as nothing. Whatever the filter says, a sample was taken between the sending of the Command
    that it echoes and its own arrival: so a simulator that falls behind the wall's clock is followed at once.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.offset = 0.0  # host's clock - board's clock [µs]
        self.round_trip = 0.0  # quickest of late [µs]
        self._window: deque[tuple[float, float]] = deque(maxlen=WINDOW)  # trip (or offset, without echo), offset
        self._echoing = self._known = False
        self._stamp = 0  # of the newest sample [µs]

    def update(self, stamp: int, arrival: int, echo: int, echo_age: int) -> None:
        """A State with ``stamp`` on the board's clock came at ``arrival`` on the host's; all in µs."""
        trip = max(0.0, float(arrival - echo - echo_age)) if echo else 0.0
        offset = arrival - 0.5 * trip - stamp
        if bool(echo) != self._echoing or stamp < self._stamp:  # a clock that goes back has restarted
            self._window.clear()
        passed, self._stamp = stamp - self._stamp, stamp
        self._echoing = bool(echo)
        first = not self._window
        self._window.append((trip if echo else offset, offset))
        _, best = min(self._window)
        self.round_trip = min(self._window)[0] if echo else 0.0
        change = (1.0 if first else FOLLOW) * (best - self.offset)
        self.offset += change if passed <= 0 or not self._known else max(change, -SLEW * passed)
        self._known = True
        if self.offset > arrival - stamp + SLACK:  # taken before it came ...
            self.offset = arrival - stamp + SLACK
        elif echo and self.offset < echo + echo_age - stamp - SLACK:  # ... and after the command in it was sent
            self.offset = echo + echo_age - stamp - SLACK

    def host_time(self, stamp: int) -> float:
        """Host's clock [s] at a time of the board [µs]."""
        return 1e-6 * (stamp + self.offset)
