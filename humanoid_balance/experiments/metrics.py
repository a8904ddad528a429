"""The figures of a run, from its record. Definitions of "fell" and "recovered" are those of the command line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from humanoid_balance.experiments.contact_delay import contact_delays
from humanoid_balance.geometry import convex_hull, margin
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.truth import height_above
from humanoid_balance.recording.record import Record
from humanoid_balance.types import Array, Flags, Push

if TYPE_CHECKING:
    from humanoid_balance.recording.run import Run

LOADED = 0.03  # share of the weight above which a sole counts as standing on the ground
STILL = 0.05  # CoM speed below which the robot is quiet [m/s]
IMPACT = 0.020  # left out around landings and lift-offs [s]
SETTLE = 0.030  # after a landing, before slip is measured [s]


def loaded(record: Record) -> Flags:
    """Soles that really stand, one column a foot."""
    return record["true_sole_force"][:, :, 2] > LOADED * record.robot.weight


def phases(flags: Flags, shortest: int) -> list[tuple[int, int]]:
    """Half-open intervals in which a flag is set for at least ``shortest`` samples."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a >= shortest]


def steps(record: Record) -> int:
    """Landings after a foot was in the air for at least 60 ms and moved by more than 1 cm."""
    time, count = record["time"], 0
    for foot in range(2):
        position = record["true_sole_position"][:, foot, :2]
        for start, end in phases(~loaded(record)[:, foot], _samples(time, 0.06)):
            moved = np.linalg.norm(position[min(end, len(time) - 1)] - position[max(start - 1, 0)])
            count += int(end < len(time) and moved > 0.01)
    return count


def slip(record: Record) -> float:
    """Largest horizontal way of a standing sole since it came to stand [m]."""
    time, worst = record["time"], 0.0
    for foot in range(2):
        for start, end in phases(loaded(record)[:, foot], _samples(time, 2 * SETTLE)):
            way = record["true_sole_position"][start + _samples(time, SETTLE) : end, foot, :2]
            worst = max(worst, float(np.linalg.norm(way - way[0], axis=1).max()))
    return worst


def true_zmp(record: Record) -> Array:
    """Where the sum of the soles' wrenches has no horizontal moment, at the height of the standing soles (k, 3)."""
    force, moment, sole = record["true_sole_force"], record["true_sole_moment"], record["true_sole_position"]
    total = force.sum(axis=1)
    fz = np.where(total[:, 2] > 1.0, total[:, 2], np.nan)
    weight = np.clip(force[:, :, 2], 0.0, None)
    with np.errstate(invalid="ignore", divide="ignore"):
        height = (weight * sole[:, :, 2]).sum(axis=1) / weight.sum(axis=1)
    arm = sole.copy()
    arm[:, :, 2] -= height[:, None]
    about = (moment + np.cross(arm, force)).sum(axis=1)
    return np.stack([-about[:, 1] / fz, about[:, 0] / fz, height], axis=1)


def zmp_margin(record: Record, every: int = 5) -> float:
    """Smallest margin of the true ZMP to the hull of the standing soles [m]."""
    standing, zmp, worst = loaded(record), true_zmp(record), math.inf
    corners = np.einsum("kfij,fcj->kfci", record["true_sole_rotation"], record.robot.soles)
    corners += record["true_sole_position"][:, :, None, :]
    for k in range(0, record.length, every):
        if standing[k].any() and np.isfinite(zmp[k]).all():
            hull = np.array(convex_hull([(x, y) for x, y, _ in corners[k][standing[k]].reshape(-1, 3).tolist()]))
            worst = min(worst, margin(hull, zmp[k]))
    return worst


def push_place(run: Run, push: PushProfile) -> dict[str, Any]:
    """The link that was pushed and how high above the ground it was when that began [m]; None if it never did."""
    record, link = run.record, push.link or run.robot.config.torso
    acting = record["true_push"].any(axis=1) & (record["time"] > push.start)
    if not acting.any():
        return {"link": link, "height": push.height}
    return {"link": link, "height": height_above(record["true_push_point"][int(np.argmax(acting))], run.settings.slope)}


def torque_roughness(record: Record) -> float:
    """How fast the torques change: the root mean square of their rates over the limits, all joints and ticks [1/s]."""
    rate = np.diff(record["true_torque"], axis=0) / np.diff(record["time"])[:, None]
    return float(np.sqrt(np.mean((rate / record.robot.torque_limit) ** 2))) if len(rate) else math.nan


def com_error(record: Record) -> float:
    """How far the CoM is from where it stood over the soles at the start, horizontally [m]."""
    offset = record["true_com"] - record["true_sole_position"].mean(axis=1)
    return float(np.linalg.norm((offset[-1] - offset[0])[:2]))


def recovery_time(record: Record, pushes: Sequence[PushProfile]) -> float | None:
    """Seconds from the end of the last push until the CoM is quiet for good; None if the run ends otherwise."""
    time = record["time"]
    speed = np.linalg.norm(record["true_com_velocity"], axis=1)
    if record["true_fell"].any() or (speed[time > time[-1] - 1.0] >= STILL).any():
        return None
    moving = np.flatnonzero(speed >= STILL)
    end = max((p.end for p in pushes), default=0.0)
    return max(0.0, float(time[moving[-1]] - end)) if moving.size else 0.0


def estimation(record: Record, pushes: Sequence[PushProfile], reported: list[Push]) -> dict[str, Any]:
    """Errors of the estimate against ground truth, root mean square, 20 ms around impacts left out."""
    time = record["time"]
    standing = loaded(record)
    calm = np.ones(record.length, dtype=bool)
    for k in np.flatnonzero(np.any(np.diff(standing.astype(int), axis=0) != 0, axis=1)):
        calm &= np.abs(time - time[k]) > IMPACT
    calm &= standing.any(axis=1)
    stance = np.argmax(record["true_sole_force"][:, :, 2], axis=1)
    rows = np.arange(record.length)
    believed = record["com"] - record["sole_position"][rows, stance]
    true = record["true_com"] - record["true_sole_position"][rows, stance]
    up = np.array([0.0, 0.0, 1.0])
    tilt = np.array([_angle_of(a, b, up) for a, b in zip(record["q"][::10], record["true_q"][::10], strict=True)])
    zmp_error = record["zmp"] - record["sole_position"][rows, stance]
    zmp_error -= true_zmp(record) - record["true_sole_position"][rows, stance]
    contacts = contact_delays(record)
    figures: dict[str, Any] = {
        "com_rms": _rms((believed - true)[calm]),
        "com_velocity_rms": _rms((record["com_velocity"] - record["true_com_velocity"])[calm]),
        "orientation_rms_deg": math.degrees(float(np.sqrt(np.mean(tilt[calm[::10]] ** 2)))),
        "zmp_rms": _rms(zmp_error[calm][:, :2]),
        "landing_delay_max": max(contacts.landings, key=abs, default=None),
        "lift_off_delay_max": max(contacts.lift_offs, key=abs, default=None),
        "contact_chatter": contacts.chatter,
        "push_direction_error_deg": None,
        "push_impulse_ratio": None,
        "push_delay": None,
    }
    if len(pushes) == 1 and pushes[0].impulse > 0:
        seen = [p for p in reported if pushes[0].start - 0.02 <= p.onset <= pushes[0].end + 0.05]
        if seen:
            turn = math.degrees(seen[-1].direction) - pushes[0].direction
            figures["push_direction_error_deg"] = abs((turn + 180.0) % 360.0 - 180.0)
            figures["push_impulse_ratio"] = seen[-1].impulse / pushes[0].impulse
            active = record["push.force"].any(axis=1) & (time >= seen[-1].onset)
            figures["push_delay"] = float(time[np.argmax(active)] - pushes[0].start)
    return figures


def _angle_of(q: Array, true: Array, up: Array) -> float:
    """Angle between the two ideas of where up is, seen from the base [rad]."""
    a, b = (pin.Quaternion(x[3:7]).toRotationMatrix().T @ up for x in (q, true))
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def _rms(errors: Array) -> float:
    errors = errors[np.isfinite(errors).all(axis=1)]
    return float(np.sqrt((errors**2).sum(axis=1).mean())) if len(errors) else math.nan


def _samples(time: Array, seconds: float) -> int:
    return max(1, round(seconds / (time[1] - time[0]))) if len(time) > 1 else 1
