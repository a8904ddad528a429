"""Skill scripts: key poses over time, how stiffly they are followed, and what each waits for. YAML, checked on load.

    about: rolls from the back onto the front, over the left side
    starts: [supine]          # sides the body may lie on, see ``side.py``
    ends: prone               # how it should lie afterwards; ``feet``: on its feet, the CoM over them
    gains:                    # later lines win; N m/rad, N m s/rad
      "*": {stiffness: 100, damping: 5}
    keys:
      - at: 0.8               # [s] after the beginning
        pose: {"*_knee": 0.6} # joints by name or pattern [rad]; one that is not named stays as in the key before
        world: {"*_hip_pitch": 0.0}  # the same, of the joint's child against the vertical instead of its parent
        until: {side: prone}  # hold this key until the body lies so, or ``soles: SHARE`` of the weight is on the soles
        unless: {soles: 0.2}  # leave this key out if it is so when the key before is passed
        patience: 1.0         # how long it may wait for that; longer: the skill is given up [s]
    provenance: {...}         # how the figures were found

Before the first key a joint that no key names is at zero, or as near as its range allows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_balance.errors import ConfigError, InputError
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.skills.mirror import Mirror
from humanoid_balance.skills.side import LEFT_SIDE, LYING, RIGHT_SIDE, UPRIGHT
from humanoid_balance.types import Array, Flags
from humanoid_balance.yaml_file import Reader, read

FEET = "feet"  # the end of a script that brings the body onto its feet
ENDS = (*LYING, FEET)
LONGEST = 60.0  # of a script [s]
STIFFEST, MOST_DAMPED = 5000.0, 500.0  # [N m/rad], [N m s/rad]: beyond, no drive follows at 1 kHz
MIRRORED = " mirrored"  # the name of the script that goes to the other side


@dataclass(frozen=True)
class Until:
    """What a key waits for; empty fields are not asked."""

    side: str = ""
    soles: float = 0.0  # share of the weight that both soles together carry

    def met(self, side: str, load: float) -> bool:
        return (not self.side or side == self.side) and load >= self.soles

    def __str__(self) -> str:
        wishes = [f"lie {self.side}"] * bool(self.side) + [f"{self.soles:.0%} of the weight on the soles"] * (
            self.soles > 0
        )
        return " and ".join(wishes)


@dataclass(frozen=True)
class Key:
    """One key pose."""

    at: float  # [s]
    pose: Array  # (n,) [rad]
    world: Flags  # joints whose target is against the vertical (n,)
    until: Until | None = None
    patience: float = 1.0  # [s]
    unless: Until | None = None


@dataclass(frozen=True)
class Script:
    """One skill of one robot."""

    name: str
    about: str
    file: Path
    starts: tuple[str, ...]
    ends: str
    stiffness: Array  # (n,) [N m/rad]
    damping: Array  # (n,) [N m s/rad]
    keys: tuple[Key, ...]
    search: dict[str, Any] = field(default_factory=dict)  # what the optimiser may change, see ``optimise.py``
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def length(self) -> float:
        """Without waiting [s]."""
        return self.keys[-1].at

    def mirrored(self, mirror: Mirror) -> Script:
        """The same to the other side."""
        other = {LEFT_SIDE: RIGHT_SIDE, RIGHT_SIDE: LEFT_SIDE}

        def flip(key: Key) -> Key:
            until, unless = (c and replace(c, side=other.get(c.side, c.side)) for c in (key.until, key.unless))
            pose, world = mirror.of(key.pose), key.world[mirror.partner]
            return replace(key, pose=pose, world=world, until=until, unless=unless)

        return replace(
            self,
            name=self.name + MIRRORED,
            about=f"{self.about} (to the other side)",
            starts=tuple(other.get(s, s) for s in self.starts),
            ends=other.get(self.ends, self.ends),
            stiffness=self.stiffness[mirror.partner],
            damping=self.damping[mirror.partner],
            keys=tuple(map(flip, self.keys)),
        )

    def symmetric(self, mirror: Mirror) -> bool:
        return all(np.allclose(mirror.of(key.pose), key.pose) for key in self.keys)


def load(file: Path, robot: Robot, nearest: bool = False) -> Script:
    """A script for a robot; complains in one line about what cannot be played.

    ``nearest``: a pose outside the robot's ranges becomes the nearest one inside, for a variant with other joints.
    """
    reader = read(file)
    about = reader.text("about")
    starts = reader.names("starts", LYING)
    for side in starts:
        if side not in (*LYING, UPRIGHT):
            raise reader.bad("starts", side, ", ".join((*LYING, UPRIGHT)))
    ends = reader.text("ends")
    if ends not in ENDS:
        raise reader.bad("ends", ends, ", ".join(ENDS))
    stiffness, damping = _gains(reader.section("gains"), robot)
    keys = _keys(reader, robot, nearest)
    search, provenance = (dict(reader.take(key, {}) or {}) for key in ("search", "provenance"))
    reader.done("about, starts, ends, gains, keys, search, provenance")
    name = file.stem.replace("_", " ")
    return Script(name, about, file, starts, ends, stiffness, damping, keys, search, provenance)


def _gains(section: Reader, robot: Robot) -> tuple[Array, Array]:
    stiffness, damping = np.full(robot.n, np.nan), np.full(robot.n, np.nan)
    for pattern in list(section.data):
        entry = section.section(pattern)
        joints = _matching(section, pattern, robot)
        stiffness[joints] = entry.number("stiffness", low=0.0, high=STIFFEST)
        damping[joints] = entry.number("damping", low=0.0, high=MOST_DAMPED)
        entry.done("stiffness, damping")
    missing = np.flatnonzero(np.isnan(stiffness))
    if len(missing):
        raise section.bad(robot.joint_names[missing[0]], None, "gains of every joint; '*' means all")
    return stiffness, damping


def _matching(reader: Reader, pattern: str, robot: Robot) -> list[int]:
    joints = [i for i, name in enumerate(robot.joint_names) if fnmatchcase(name, pattern)]
    if not joints:
        raise reader.bad(pattern, pattern, f"joints of '{robot.spec}': {', '.join(robot.joint_names)}")
    return joints


def _keys(reader: Reader, robot: Robot, nearest: bool) -> tuple[Key, ...]:
    keys: list[Key] = []
    pose, world = np.clip(np.zeros(robot.n), robot.lower, robot.upper), np.zeros(robot.n, dtype=bool)
    last = 0.0
    for section in reader.sections("keys"):
        at = section.number("at", low=0.0, high=LONGEST)
        if at <= last:
            raise section.bad("at", at, f"a time after {last:g} s: keys follow one another")
        pose, world, last = pose.copy(), world.copy(), at
        for kind in ("pose", "world"):
            entries = section.section(kind, {})
            for pattern in list(entries.data):
                joints = _matching(entries, pattern, robot)
                value = entries.number(pattern, low=-7.0, high=7.0)
                for i in joints:
                    low, high = robot.lower[i], robot.upper[i]
                    if kind == "pose" and not nearest and not low - 1e-9 <= value <= high + 1e-9:
                        allowed = f"{low:.3f} to {high:.3f}, the range of '{robot.joint_names[i]}'"
                        raise entries.bad(pattern, value, allowed)
                pose[joints], world[joints] = value, kind == "world"
                if nearest and kind == "pose":
                    pose[joints] = np.clip(value, robot.lower[joints], robot.upper[joints])
        until, unless = _until(section, "until"), _until(section, "unless")
        patience = section.number("patience", 1.0, low=0.0, high=LONGEST)
        section.done("at, pose, world, until, unless, patience")
        keys.append(Key(at, pose, world, until, patience, unless))
    return tuple(keys)


def _until(section: Reader, key: str) -> Until | None:
    if key not in section.data:
        return None
    entry = section.section(key)
    side = entry.text("side", "")
    if side and side not in (*LYING, UPRIGHT):
        raise entry.bad("side", side, ", ".join((*LYING, UPRIGHT)))
    soles = entry.number("soles", 0.0, low=0.0, high=1.0)
    entry.done("side, soles")
    return Until(side, soles)


def folder(robot: Robot) -> Path:
    """Where the scripts of a robot are."""
    return registry.config_folder() / "skills" / robot.name


def library(robot: Robot) -> dict[str, Script]:
    """All scripts of a robot by name, and the mirrored ones of those that go to one side.

    A variant of the robot with narrower joints goes without those that it cannot reach.
    """
    scripts: dict[str, Script] = {}
    mirror: Mirror | None = None
    for file in sorted(folder(robot).glob("*.yaml")):
        try:
            script = scripts[file.stem.replace("_", " ")] = load(file, robot)
        except ConfigError:
            if robot.spec == robot.name:
                raise
            continue
        mirror = mirror or Mirror(robot)
        if not script.symmetric(mirror):
            other = script.mirrored(mirror)
            scripts[other.name] = other
    return scripts


def find(scripts: dict[str, Script], name: str, robot: Robot) -> Script:
    if name not in scripts:
        file = folder(robot) / f"{name.replace(' ', '_')}.yaml"
        if file.exists():
            load(file, robot)  # says what the variant cannot reach
        raise InputError(f"skill '{name}': '{robot.spec}' has no such skill; there are: {', '.join(scripts) or 'none'}")
    return scripts[name]
