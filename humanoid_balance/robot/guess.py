"""The YAML of an unknown robot, guessed from its URDF or MJCF; every guess has a comment that says why."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_balance.errors import InputError
from humanoid_balance.robot.anatomy import ALONG, ROOT, Anatomy
from humanoid_balance.robot.config import FootConfig, RobotConfig
from humanoid_balance.robot.repair import repair
from humanoid_balance.types import GRAVITY

BEND = 0.6  # of the knees: straight legs cannot push, and balance lowers and raises the body [rad]
ASIDE = 0.15  # of hanging arms, off the hips [rad]
OFF_STOP = 0.1  # share of its range by which a joint stands off an end stop
UPPER_ARM = 4  # joints from shoulder to elbow; what follows is the hand's
SPEED = 10.0  # of a joint whose URDF has no speed limit [rad/s]
STRONG = 0.3  # lever on which a leg's joint can carry the body's weight, where the URDF has no torque limit [m]
WEAK = 0.05  # the same of all other joints [m]


def guess(description: Path, target: Path) -> str:
    """The text of the YAML, to be written at ``target``, of a robot in a URDF or MJCF file."""
    try:
        text = description.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{description}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    nothing = (FootConfig(""), FootConfig(""))
    blank = RobotConfig(description, description.name, "", "", nothing, {}, {}, {})
    form = "URDF"
    if "<mujoco" in text and "<robot" not in text:
        from humanoid_balance.robot import mjcf  # only those who need it wait for MuJoCo

        form = "MJCF"
        text, blank = mjcf.convert(description, replace(blank, urdf="", mjcf=description.name))
    text, repaired, _ = repair(text, blank)
    body = Anatomy(description.resolve(), text)
    writer = _Writer(body, repaired.locked, form, rotors=any(joint.armature for joint in blank.joints.values()))
    return writer.text(os.path.relpath(description.resolve(), target.resolve().parent))


class _Writer:
    """Turns the anatomy into lines."""

    def __init__(self, body: Anatomy, followers: tuple[str, ...], form: str, rotors: bool) -> None:
        """``form``: URDF or MJCF; ``rotors``: it has the inertia of the motors' rotors."""
        self.body, self._followers, self._form, self._rotors = body, followers, form, rotors
        model = body.model
        joints = range(ROOT + 1, model.njoints)
        odd = [k for k in joints if model.joints[k].nv != 1 or model.joints[k].nq != 1 or self._slides(k)]
        self.locked = {*odd, *body.light, *(k for k in joints if body.name(k) in followers)}
        self.free = [k for k in joints if k not in self.locked]
        side = -1.0 if body.backwards else 1.0
        self._left, self._forward = np.array([0.0, side, 0.0]), np.array([side, 0.0, 0.0])

    def _slides(self, joint: int) -> bool:
        return bool(np.linalg.norm(self.body.axis(joint)) < ALONG)

    def text(self, path: str) -> str:
        body = self.body
        imu, imu_why = self._imu()
        lines = [
            f"# Guessed from the {self._form}; correct what is wrong, then: humanoid-balance robot check THIS_FILE",
            "# docs/robots.md explains every key.",
            f"{self._form.lower()}: {path}",
            f"torso: {body.link(body.torso)}  # the last link that {self._hang()} hang from",
            f"imu: {imu}  # {imu_why}",
            "feet:",
            *(self._foot(k, name) for k, name in enumerate(("left", "right"))),
            *self._posture(),
            *self._locked(),
            *self._groups(),
            *self._joints(),
        ]
        return "\n".join(lines) + "\n"

    def _hang(self) -> str:
        parts = [name for name, there in (("arms", any(self.body.arms)), ("head", self.body.head)) if there]
        return " and ".join(parts) or "legs"

    def _imu(self) -> tuple[str, str]:
        body = self.body
        frames = [f for f in body.model.frames if "imu" in f.name.lower() and f.type == pin.FrameType.BODY]
        if not frames:
            return body.link(ROOT), "no link is called imu: put the real one here, its axes count"
        best = min(frames, key=lambda f: (f.parentJoint != ROOT, f.parentJoint))
        others = ", ".join(f.name for f in frames if f is not best)
        return best.name, "by its name, the one nearest to the root" + (f"; others: {others}" if others else "")

    def _foot(self, k: int, name: str) -> str:
        sole = self.body.soles[k]
        place = self.body.data.oMf[self.body.model.getFrameId(sole.frame)]
        turned = bool(place.rotation[0] @ [1, 0, 0] * self._forward[0] < 0.0)
        (x0, x1), (y0, y1) = sole.x, sole.y
        if turned:
            (x0, x1), (y0, y1) = (-x1, -x0), (-y1, -y0)
        rpy = ", rpy: [0, 0, 3.14159]" if turned else ""
        why = "lowest points of the foot's geometry" if sole.seen else "NO GEOMETRY FOUND: measure the sole"
        rectangle = f"x: [{x0:.3f}, {x1:.3f}], y: [{y0:.3f}, {y1:.3f}], z: {sole.z:.4f}"
        return f"  {name}: {{frame: {sole.frame}, {rectangle}{rpy}}}  # {why}"

    # ---- posture ----

    def _posture(self) -> list[str]:
        lines = []
        for leg in self.body.legs:
            lines += self._bent(leg)
        for arm, sign in zip(self.body.arms, (1.0, -1.0), strict=True):
            lines += self._aside(arm, sign)
        named = {line.split(":")[0].strip() for line in lines}
        lines += [line for k in self.free if (line := self._off_stop(k)) and self.body.name(k) not in named]
        return ["posture:", *lines] if lines else []

    def _bent(self, leg: list[int]) -> list[str]:
        """Hip, knee and ankle: the first, the middle and the last of the joints about the lateral axis."""
        turning = [k for k in self.body.lateral(leg) if k in self.free]
        if len(turning) < 3:
            return []
        hip, knee, ankle = turning[0], turning[-2], turning[-1]
        above, below = (self.body.place(b) - self.body.place(a) for a, b in ((hip, knee), (knee, ankle)))
        tilt = [math.atan2(-float(v @ self._forward), -float(v[2])) for v in (above, below)]  # about the left axis
        more = BEND - (tilt[1] - tilt[0])
        shares = (-tilt[0] - BEND / 2, more, tilt[1] - BEND / 2)
        names = ("hip", "knee", "ankle")
        return [self._angle(k, share * np.sign(self.body.axis(k) @ self._left), f"{name}, knees bent by {BEND} rad")
                for k, share, name in zip((hip, knee, ankle), shares, names, strict=True)]  # fmt: skip

    def _aside(self, arm: list[int], sign: float) -> list[str]:
        """A hanging arm, a little away from the body."""
        roll = [k for k in arm if k in self.free and abs(self.body.axis(k) @ self._forward) > ALONG]
        if not roll or self.body.place(arm[-1])[2] > self.body.place(roll[0])[2] - 0.1:
            return []
        angle = sign * ASIDE * float(np.sign(self.body.axis(roll[0]) @ self._forward))
        return [self._angle(roll[0], angle, "arm off the hip")]

    def _angle(self, joint: int, angle: float, why: str) -> str:
        low, high = self._range(joint)
        kept = float(np.clip(angle, low + OFF_STOP / 2 * (high - low), high - OFF_STOP / 2 * (high - low)))
        less = "" if abs(kept - angle) < 1e-9 else f"; {angle:.2f} is outside its range"
        return f"  {self.body.name(joint)}: {kept:.3f}  # {why}{less}"

    def _off_stop(self, joint: int) -> str:
        low, high = self._range(joint)
        width = high - low
        if low + 0.01 * width < 0.0 < high - 0.01 * width:
            return ""
        kept = float(np.clip(0.0, low + OFF_STOP * width, high - OFF_STOP * width))
        return f"  {self.body.name(joint)}: {kept:.3f}  # off its end stop"

    def _range(self, joint: int) -> tuple[float, float]:
        k, model = self.body.model.joints[joint].idx_q, self.body.model
        return max(-math.pi, float(model.lowerPositionLimit[k])), min(math.pi, float(model.upperPositionLimit[k]))

    # ---- lists ----

    def _locked(self) -> list[str]:
        own = [self.body.name(k) for k in sorted(self.locked) if self.body.name(k) not in self._followers]
        if not own:
            return []
        return [f"locked: [{', '.join(own)}]  # they move too little mass to matter, or do not simply turn"]

    def _groups(self) -> list[str]:
        body = self.body
        waist = [k for k in body.legs[0] if k in body.legs[1]]  # both legs hang from it
        parts = {
            "legs": [k for leg in body.legs for k in leg if k not in waist],
            "torso": [*waist, *body.spine],
            "arms": [k for arm in body.arms for k in arm[:UPPER_ARM]],
            "head": body.head,
            "hands": [k for arm in body.arms for k in arm[UPPER_ARM:]],
        }
        lines = []
        for part, joints in parts.items():
            names = [body.name(k) for k in joints if k in self.free]
            if names:
                lines.append(f"  {part}: [{', '.join(names)}]")
        return ["groups:  # by where the joints are in the tree", *lines]

    def _joints(self) -> list[str]:
        """Properties that a URDF seldom has."""
        body, lines = self.body, ["joints:"]
        if not self._rotors:
            why = f"NOT IN THE {self._form}: ask the maker of the motors"
            lines.append(f'  "*": {{armature: 0.01, damping: 0.2}}  # {why}')
        legs = {k for leg in body.legs for k in leg} | set(body.spine)
        for arm in body.arms:
            for k in arm[:UPPER_ARM]:
                if k in self.free:
                    lines.append(f"  {body.name(k)}: {{posture: 0.1}}  # arms may move for balance")
        for k in self.free:
            torque, speed = self._limit(k, "EffortLimit"), self._limit(k, "VelocityLimit")
            lacking = []
            if not 0.0 < torque < 1e4:
                lever = STRONG if k in legs else WEAK
                lacking.append(f"torque: {float(np.ceil(lever * body.mass * GRAVITY)):g}")
            if not 0.0 < speed < 1e4:
                lacking.append(f"velocity: {SPEED:g}")
            if lacking:
                lines.append(
                    f"  {body.name(k)}: {{{', '.join(lacking)}}}  # NO LIMIT IN THE {self._form}: ask the maker"
                )
        return _merged(lines)

    def _limit(self, joint: int, kind: str) -> float:
        model, k = self.body.model, self.body.model.joints[joint].idx_v
        limits = getattr(model, f"upper{kind}", None)
        return float((limits if limits is not None else getattr(model, kind[0].lower() + kind[1:]))[k])


def _merged(lines: list[str]) -> list[str]:
    """One line per joint: a key may not stand twice in a YAML."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for line in lines[1:]:
        name, _, rest = line.partition(": {")
        values, _, why = rest.partition("}  # ")
        kept = found.setdefault(name, ([], []))
        kept[0].append(values)
        kept[1].append(why)
    return [lines[0], *(f"{name}: {{{', '.join(v)}}}  # {'; '.join(w)}" for name, (v, w) in found.items())]
