"""Slow motion for a test's processes: Python finds this module by PYTHONPATH and loads it before anything else.

All clocks that count seconds of work go ``SLOW_MOTION`` times as slowly, in every process alike, and all that waits
for them waits as much longer: what has 20 ms has 80 with a factor of 4. So a test of what happens, and in which order,
does not depend on what else the machine does; a test of how quickly it happens must not use it.
"""

import os
import select
import threading
import time

FACTOR = int(os.environ.get("SLOW_MOTION", "1"))


def slower(clock):
    whole = clock.__name__.endswith("_ns")
    return lambda: clock() // FACTOR if whole else clock() / FACTOR


def longer(wait, place):
    """The argument at ``place``, or ``timeout``, is how long to wait [s]; None is for ever."""

    def waiting(*given, **named):
        given = [t if k != place or t is None else FACTOR * t for k, t in enumerate(given)]
        named = {key: FACTOR * t if key == "timeout" and t is not None else t for key, t in named.items()}
        return wait(*given, **named)

    return waiting


if FACTOR > 1:
    for name in ("monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"):
        setattr(time, name, slower(getattr(time, name)))
    time.sleep = longer(time.sleep, 0)
    select.select = longer(select.select, 3)
    threading.Condition.wait = longer(threading.Condition.wait, 1)
    threading._time = time.monotonic
