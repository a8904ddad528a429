"""What happens to bytes between board and host: errors, losses, repetitions, delay, jitter, stalls."""

from __future__ import annotations

import random
import re
from collections import deque
from dataclasses import dataclass, fields

from humanoid_balance.errors import InputError

_FRAME = re.compile(rb"\0*[^\0]+\0")  # with the zeros in front of it


@dataclass(frozen=True)
class Disturbance:
    """How bad a line is. Probabilities are for each frame, bit or byte; times in s."""

    frame_loss: float = 0.0
    bit_errors: float = 0.0
    lost_bytes: float = 0.0
    repeated_bytes: float = 0.0
    delay: float = 0.0  # of everything [s]
    jitter: float = 0.0  # up to so much more, drawn anew for each frame [s]

    def __post_init__(self) -> None:
        for field in fields(self):
            value, top = getattr(self, field.name), 10.0 if field.name in ("delay", "jitter") else 1.0
            if not 0.0 <= value <= top:
                raise InputError(f"{field.name.replace('_', '-')} is {value}; allowed: 0 to {top:g}")


class Line:
    """One direction of a line. Bytes go in with the time, and come out, in order, when they are due."""

    def __init__(self, disturbance: Disturbance, seed: int = 0) -> None:
        self.disturbance = disturbance
        self.blocked_until = 0.0  # nothing is delivered before [s]
        self.silent_until = 0.0  # what is sent before is lost [s]
        self._random = random.Random(seed)
        self._queue: deque[tuple[float, bytes]] = deque()
        self._rest = b""  # of a frame that has not ended
        self._last = 0.0
        self._clean = disturbance == Disturbance()

    def send(self, data: bytes, now: float) -> None:
        """Bytes enter the line; a frame is what goes up to its closing zero, zeros in front of it included."""
        if self._clean:
            if now >= self.silent_until:
                self._queue.append((max(now, self.blocked_until), data))
            return
        data, end = self._rest + data, 0
        for found in _FRAME.finditer(data):
            self._send_frame(found[0], now)
            end = found.end()
        self._rest = data[end:]

    def due(self, now: float) -> bytes:
        """Bytes that have arrived by now."""
        out = b""
        while self._queue and max(self._queue[0][0], self.blocked_until) <= now:
            out += self._queue.popleft()[1]
        return out

    def next_due(self) -> float | None:
        """When the next bytes arrive [s]."""
        return max(self._queue[0][0], self.blocked_until) if self._queue else None

    def clear(self) -> None:
        """Everything on the way is lost, as when the plug is pulled."""
        self._queue.clear()
        self._rest = b""

    def _send_frame(self, frame: bytes, now: float) -> None:
        d, rng = self.disturbance, self._random
        if now < self.silent_until or rng.random() < d.frame_loss:
            return
        arrival = max(self._last, now + d.delay + d.jitter * rng.random())
        self._last = arrival
        self._queue.append((arrival, self._spoil(frame)))

    def _spoil(self, frame: bytes) -> bytes:
        d = self.disturbance
        if d.bit_errors:
            spoilt = bytearray(frame)
            for bit in self._hits(8 * len(frame), d.bit_errors):
                spoilt[bit // 8] ^= 1 << bit % 8
            frame = bytes(spoilt)
        for index in reversed(self._hits(len(frame), d.lost_bytes)):
            frame = frame[:index] + frame[index + 1 :]
        for index in reversed(self._hits(len(frame), d.repeated_bytes)):
            frame = frame[: index + 1] + frame[index:]
        return frame

    def _hits(self, count: int, probability: float) -> list[int]:
        """Places among ``count`` that are hit, each with this probability; jumps from hit to hit."""
        hits: list[int] = []
        if probability <= 0.0:
            return hits
        at = self._skip(probability)
        while at < count:
            hits.append(at)
            at += 1 + self._skip(probability)
        return hits

    def _skip(self, probability: float) -> int:
        """How many places are spared before the next hit: a geometric distribution."""
        return int(self._random.expovariate(1.0) / probability)
