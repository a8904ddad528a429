"""What a rollout is worth: Torres' costs of rolling (T5), and what it takes to be on the feet. Lower is better."""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.skills.player import Player
from humanoid_balance.skills.rollout import Watched
from humanoid_balance.skills.script import FEET, Script
from humanoid_balance.skills.side import UPRIGHT, front_angle
from humanoid_balance.types import Array

LAST = 0.3  # the end of a rollout over which the body must stay as it should [s]
ROLLED = 0.5  # a trunk nearer than this to the wanted side lies on it [rad]
FAILED = 5.0  # cost of not getting there, above all that a success can cost
QUIET = 0.3  # speed of a body that lies [m/s]
HURRY = 0.1  # cost of a second until the body is on its feet


def cost(robot: Robot, script: Script, player: Player, seen: Watched) -> tuple[float, bool]:
    """Cost of a rollout, and whether it got there."""
    times = np.array(seen.time)
    last = times >= times[-1] - LAST
    value, reached = (_standing if script.ends == FEET else _rolling)(robot, script, seen, last)
    value += 0.5 * float(np.mean(seen.effort))
    if player.gave_up:
        reached = False
        value += 1.0 + 0.5 * (len(script.keys) - player.next)
    return value + (0.0 if reached else FAILED), reached


def _rolling(robot: Robot, script: Script, seen: Watched, last: Array) -> tuple[float, bool]:
    """Kb angle(torso front, wanted) over the whole motion and at its end; the body ends at rest."""
    angle = np.array([front_angle(axes, script.ends) for axes in seen.axes])
    end, speed = float(angle[last].max()), float(np.array(seen.speed)[last].mean())
    value = 0.5 * float(angle.mean()) + float(angle.min()) + end + 0.5 * speed  # the nearest that it came is a guide
    return value, end < ROLLED and speed < QUIET


def _standing(robot: Robot, script: Script, seen: Watched, last: Array) -> tuple[float, bool]:
    """On flat, loaded soles, well over them, slow, soon; and, as a guide, the nearest that it came to that."""
    com, soles, speed = np.array(seen.com), np.array(seen.soles), np.array(seen.speed)
    reached = seen.handed_over()
    away = np.linalg.norm((com - soles.mean(axis=1) - _centre(robot, seen))[:, :2], axis=1)
    load, flat = np.array(seen.load).sum(axis=1), np.array(seen.sole_up).min(axis=1)
    off = 8.0 * away + 2.0 * np.abs(1.0 - load).clip(0, 1) + 4.0 * (1.0 - flat)
    lean = np.array([front_angle(axes, UPRIGHT) for axes in seen.axes])
    value = off[last].mean() if reached else off.min() + 0.5 * off[last].mean()
    value += 0.3 * lean[last].mean() + speed[last].mean() + HURRY * seen.time[-1]
    return float(value), reached


def _centre(robot: Robot, seen: Watched) -> Array:
    """From the mean of the sole frames to the mean of the soles' centres, along the trunk's heading (k, 3)."""
    left = np.array([axes[:, 1] for axes in seen.axes])
    ahead = np.cross(left, (0.0, 0.0, 1.0))  # level, however the trunk is bent
    offset = robot.sole_centres.mean(axis=0)[0]
    return np.asarray(offset * ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-6))
