"""A motion of one robot: its configurations frame by frame, as a file."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Flags


@dataclass(frozen=True, eq=False)
class RobotClip:
    """``q`` are Pinocchio configurations: base position, base quaternion x y z w, joints."""

    name: str
    robot: str  # specification
    joint_names: tuple[str, ...]
    rate: float  # frames per second
    q: Array  # (F, 7 + n)
    contacts: dict[str, Flags]  # what touches the ground: name -> (F,)
    report: dict[str, Any] = field(default_factory=dict)  # how well it fits, the JSON object of ``motion import``

    @property
    def frames(self) -> int:
        return len(self.q)

    @property
    def duration(self) -> float:
        """[s]"""
        return (self.frames - 1) / self.rate

    def save(self, file: Path) -> None:
        names = list(self.contacts)
        flags = np.array([self.contacts[name] for name in names], dtype=bool).reshape(len(names), self.frames)
        np.savez_compressed(
            file, name=self.name, robot=self.robot, joint_names=np.array(self.joint_names), rate=self.rate, q=self.q,
            contact_names=np.array(names), contacts=flags, report=json.dumps(self.report),
        )  # fmt: skip

    @staticmethod
    def load(file: Path) -> RobotClip:
        try:
            with np.load(file, allow_pickle=False) as data:
                contacts = {str(n): f for n, f in zip(data["contact_names"], data["contacts"], strict=True)}
                names = tuple(str(n) for n in data["joint_names"])
                clip = RobotClip(
                    str(data["name"]), str(data["robot"]), names, float(data["rate"]),
                    np.asarray(data["q"], dtype=float), contacts, json.loads(str(data["report"])),
                )  # fmt: skip
        except FileNotFoundError:
            raise InputError(f"{file}: no such file") from None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            raise InputError(f"{file}: not a robot's clip; allowed: what 'motion import' writes") from None
        good = clip.q.ndim == 2 and clip.q.shape[1] == 7 + len(names) and len(clip.q) and np.isfinite(clip.q).all()
        if not good or not 1.0 <= clip.rate <= 2000.0:
            raise InputError(
                f"{file}: not a robot's clip: q {clip.q.shape}, rate {clip.rate:g}; allowed: finite (F, 7 + n)"
            )
        return clip

    def check(self, robot: Robot) -> None:
        """Refuse a body with other joints."""
        if robot.joint_names != self.joint_names:
            raise InputError(
                f"clip '{self.name}' is for '{self.robot}'; allowed: a robot with its joints, not '{robot.spec}'"
            )
