"""Timing figures of a loop in microseconds."""

from __future__ import annotations

import numpy as np

from humanoid_balance.types import Array


def percentiles(seconds: Array, *, tail: bool = False) -> dict[str, float]:
    """Median and 99th percentile; with ``tail`` also the 99.9th and the maximum [µs]."""
    micro = 1e6 * seconds
    figures = {"median_us": float(np.median(micro)), "p99_us": float(np.percentile(micro, 99))}
    if tail:
        figures |= {"p999_us": float(np.percentile(micro, 99.9)), "max_us": float(micro.max())}
    return {key: round(value, 1) for key, value in figures.items()}
