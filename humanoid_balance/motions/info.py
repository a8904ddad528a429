"""What a clip is, in a few figures."""

from __future__ import annotations

from typing import Any

from humanoid_balance.errors import InputError
from humanoid_balance.motions import feet
from humanoid_balance.motions.clip import Clip
from humanoid_balance.motions.parts import SIDES, BoneChain
from humanoid_balance.motions.subject import Subject, understood


def facts(clip: Clip) -> dict[str, Any]:
    """The JSON object of ``humanoid-balance motion info``; what needs legs is None for a clip without."""
    out: dict[str, Any] = {
        "name": clip.name, "frames": clip.frames, "rate": clip.rate, "duration": clip.duration,
        "joints": len(clip.skeleton.names), "unit": None, "leg": None, "calibration_frame": False,
        "contacts": None, "parts": None, "trouble": None,
    }  # fmt: skip
    try:
        subject = understood(clip)
    except InputError as error:
        return out | {"trouble": str(error)}
    touching = feet.find(subject)
    return out | {
        "unit": subject.unit or "unknown",
        "leg": round(subject.leg, 4),
        "calibration_frame": subject.clip.frames < clip.frames,
        "contacts": {name: round(float(flags.mean()), 4) for name, flags in touching.contacts.items()},
        "parts": _named(subject),
    }


def _named(subject: Subject) -> dict[str, str | None]:
    names, parts = subject.clip.skeleton.names, subject.parts
    out: dict[str, str | None] = {
        "pelvis": names[parts.pelvis],
        "chest": names[parts.chest],
        "head": None if parts.head is None else names[parts.head],
    }

    def add(side: str, chain: BoneChain, roles: tuple[str, str, str]) -> None:
        for role, joint in zip(roles, (chain.upper, chain.middle, chain.lower), strict=True):
            out[f"{side}_{role}"] = names[joint]
        if chain.lower == chain.middle:
            out[f"{side}_{roles[2]}"] = None

    for side, leg in zip(SIDES, parts.legs, strict=True):
        add(side, leg, ("hip", "knee", "ankle"))
    for side, arm in zip(SIDES, parts.arms or (), strict=False):
        add(side, arm, ("shoulder", "elbow", "wrist"))
    return out


def story(found: dict[str, Any]) -> str:
    """The same in a few lines."""
    lines = [f"{found['name']}: {found['frames']} frames at {found['rate']:g} Hz, {found['duration']:.2f} s, "
             f"{found['joints']} joints"]  # fmt: skip
    if found["trouble"]:
        return f"{lines[0]}\nnot for a robot: {found['trouble']}"
    first = ", frame 0 is a calibration pose" if found["calibration_frame"] else ""
    lines.append(f"unit {found['unit']}, legs (thigh and shank) {found['leg']:.3f} m{first}")
    lines.append("on the ground: " + ", ".join(f"{k} {v:.0%}" for k, v in found["contacts"].items() if v))
    lines.append("parts: " + ", ".join(f"{role} = {joint}" for role, joint in found["parts"].items() if joint))
    return "\n".join(lines)
