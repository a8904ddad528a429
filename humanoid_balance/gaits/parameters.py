"""Numbers beside a gait's name that change it as a whole: ``walk:hip=0.05,slope=10`` (Y19).

A gait between two others has the states half-way between theirs: ``walk:toward=bent,share=0.5`` bows while it walks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from humanoid_balance.errors import InputError
from humanoid_balance.gaits.table import NUMBERS, PAIRS, Gain, GaitGains, GaitState, GaitTable

# key -> lowest, highest, what it is
RANGES = {
    "hip": (-1.0, 1.0, "added to the swinging thigh, forward [rad]"),
    "lean": (-1.0, 1.0, "added to the trunk, forward [rad]"),
    "width": (-0.5, 0.5, "added to the swinging thigh, outward [rad]: feet further apart"),
    "drift": (-0.5, 0.5, "added to the swinging thigh, to the left on both sides [rad]: goes sideways"),
    "slope": (-30.0, 30.0, "of the ground, rising ahead [deg]: ankles and hips follow it"),
    "share": (0.0, 1.0, "from this gait to the one of 'toward'"),
}
# Of the slope's angle: the ankles turn by all of it, the swinging thigh is lifted by less, as the feet land closer, and
# the trunk leans, so that the body stays before the stance foot. With these the walk climbs 6 to 22 deg from standing.
CLIMB, LEAN = 0.7, 0.6


def changed(table: GaitTable, text: str, find: Callable[[str], GaitTable]) -> GaitTable:
    """The gait with the parameters of ``text``, ``key=value,…``; its name has them."""
    given, toward = _parse(table, text)
    if ("share" in given) != bool(toward):
        raise InputError(f"gait '{table.name}:{text}': 'toward' and 'share' belong together")
    if toward:
        table = between(table, find(toward), given["share"])
    climb = math.radians(given.get("slope", 0.0))
    more = {
        "swing_hip": given.get("hip", 0.0) + CLIMB * climb,
        "torso": -given.get("lean", 0.0) - LEAN * climb,
        "swing_roll": given.get("width", 0.0),
        "swing_ankle": climb,
        "stance_ankle": climb,
    }
    states = tuple(_added(state, more) for state in table.states)
    base = table.name.partition(":")[0]
    return replace(table, name=f"{base}:{text}", states=states, drift=table.drift + given.get("drift", 0.0))


def _parse(table: GaitTable, text: str) -> tuple[dict[str, float], str]:
    given: dict[str, float] = {}
    toward = ""
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if key == "toward" and value:
            toward = value
            continue
        if key not in RANGES or not equals:
            raise InputError(
                f"gait '{table.name}': '{part}'; allowed: toward=GAIT, {', '.join(f'{k}=X' for k in RANGES)}"
            )
        low, high, _ = RANGES[key]
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not low <= number <= high:
            raise InputError(f"gait '{table.name}': {key} is {value}; allowed: {low:g} to {high:g}")
        given[key] = number
    return given, toward


def between(a: GaitTable, b: GaitTable, share: float) -> GaitTable:
    """A gait on the way from one to another whose states end alike; ``share`` 0 is the first, 1 the second."""
    a, b = a.padded(), b.padded()
    if [state.time is None for state in a.states] != [state.time is None for state in b.states]:
        raise InputError(f"gait '{b.name}': toward it from '{a.name}'; allowed: gaits whose states end alike")
    states = tuple(_mixed(x, y, share) for x, y in zip(a.states, b.states, strict=True))
    gains = {
        f.name: Gain(
            _mix(getattr(a.gains, f.name).stiffness, getattr(b.gains, f.name).stiffness, share),
            _mix(getattr(a.gains, f.name).damping, getattr(b.gains, f.name).damping, share),
        )
        for f in fields(GaitGains)
    }
    return replace(a, states=states, gains=GaitGains(**gains))


def _mix(x: float, y: float, share: float) -> float:
    return (1 - share) * x + share * y


def _mixed(x: GaitState, y: GaitState, share: float) -> GaitState:
    new: dict[str, Any] = {key: _mix(getattr(x, key), getattr(y, key), share) for key in NUMBERS}
    for key in PAIRS:
        new[key] = tuple(_mix(u, v, share) for u, v in zip(getattr(x, key), getattr(y, key), strict=True))
    if x.time is not None and y.time is not None:
        new["time"] = _mix(x.time, y.time, share)
    return replace(x, **new)


def _added(state: GaitState, more: dict[str, float]) -> GaitState:
    new: dict[str, Any] = {key: getattr(state, key) + value for key, value in more.items()}
    return replace(state, **new)
