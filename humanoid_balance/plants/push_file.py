"""A push as files write it: a mapping with a duration and a force, or the velocity change it is to make."""

from __future__ import annotations

from typing import Any

from humanoid_balance.errors import InputError
from humanoid_balance.plants.pushes import PROFILES, PushProfile
from humanoid_balance.yaml_file import Reader

NUMBERS = ("duration", "direction", "start", "frequency", "height")
KEYS = ("force", "dv", "duration", "direction", "start", "profile", "frequency", "link", "height")


def read(reader: Reader, mass: float | None = None, **fixed: float) -> PushProfile:
    """``dv`` [m/s] in place of a force [N] is the same push for robots of any mass [kg], where that is known.

    ``fixed``: entries that are not for the file to give.
    """
    keys = [key for key in KEYS if key not in fixed and not (key == "dv" and mass is None)]
    given: dict[str, Any] = dict(fixed)
    for key in NUMBERS:
        if key in reader.data and key in keys:
            given[key] = reader.number(key)
    given["profile"] = reader.text("profile", PROFILES[0])
    if "link" in reader.data and "link" in keys:
        given["link"] = reader.text("link")
    force = reader.number("force", None, low=0.0)
    dv = None if mass is None else reader.number("dv", None, low=0.0)
    reader.done(", ".join(keys))
    if "duration" not in given or (force is None) == (dv is None):
        either = "force" if mass is None else "either force or dv"
        raise InputError(f"{reader.where}: allowed: a duration and {either}")
    try:
        if dv is not None and mass is not None:
            unit = PushProfile(1.0, **given).impulse
            if unit <= 0.0:
                raise InputError("a push without duration has no dv")
            force = dv * mass / unit
        return PushProfile(force, **given)
    except InputError as error:
        raise InputError(f"{reader.where}: {error}") from None
