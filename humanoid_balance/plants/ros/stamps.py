"""Stamps of messages. A float of seconds goes to nanoseconds and back without a loss below 10 ns in a year."""

from __future__ import annotations

from builtin_interfaces.msg import Time

SECOND = 10**9


def nanoseconds(stamp: float) -> int:
    return round(SECOND * stamp)


def to_time(stamp: float) -> Time:
    sec, nanosec = divmod(nanoseconds(stamp), SECOND)
    return Time(sec=sec, nanosec=nanosec)


def from_time(time: Time) -> float:
    """[s]; the nearest float, so that k milliseconds are k / 1000."""
    return float((SECOND * time.sec + time.nanosec) / SECOND)
