"""What is missing or implausible in a robot's description, in words: before the first push, not after a fall."""

from __future__ import annotations

import numpy as np

from humanoid_balance.robot.model import Robot

SPARE = 0.5  # share of its torque limit that a joint may need to stand; the rest is for balance
FOOT = (0.1, 0.5)  # length of a sole, in CoM heights: people have 0.28 (Drillis and Contini, 1966)
INVENTED = 1000.0  # torque limits [N m] and speeds [rad/s] from which on nobody has measured them
NEAR_STOP = 0.02  # of its range, between a joint and its end stop in the stance


def findings(robot: Robot) -> list[str]:
    """One line each."""
    return [*_feet(robot), *_limits(robot), *_stance(robot), *_missing(robot)]


def _feet(robot: Robot) -> list[str]:
    found = []
    for side, corners in zip(("left", "right"), robot.soles, strict=True):
        length, width = np.ptp(corners[:, 0]), np.ptp(corners[:, 1])
        low, high = (share * robot.com_height for share in FOOT)
        if not low < length < high:
            found.append(f"feet.{side}.x: the sole is {length:.3f} m long, plausible: {low:.2f} to {high:.2f} m")
        if width > length:
            found.append(f"feet.{side}.y: the sole is wider ({width:.3f} m) than long ({length:.3f} m)")
    if np.abs(np.diff([np.ptp(corners, axis=0) for corners in robot.soles], axis=0)).max() > 0.01:
        found.append("feet: the soles differ by more than 1 cm")
    return found


def _limits(robot: Robot) -> list[str]:
    found = []
    for key, limits, unit in (("torque", robot.torque_limit, "N m"), ("velocity", robot.velocity_limit, "rad/s")):
        for name, limit in zip(robot.joint_names, limits, strict=True):
            if limit >= INVENTED:
                found.append(f"joints.{name}.{key}: {limit:g} {unit} is no measured limit")
    needed = np.abs(robot.standing_torque(robot.q_nominal)) / robot.torque_limit
    for k in np.argsort(-needed):
        if needed[k] > SPARE:
            limit = f"{needed[k]:.0%} of its {robot.torque_limit[k]:g} N m"
            found.append(f"joints.{robot.joint_names[k]}.torque: standing takes {limit}")
    return found


def _stance(robot: Robot) -> list[str]:
    spare = np.minimum(robot.posture - robot.lower, robot.upper - robot.posture) / (robot.upper - robot.lower)
    legs = robot.groups.get("legs", np.zeros(0, int))
    return [
        f"posture.{robot.joint_names[k]}: stands at its end stop, {robot.posture[k]:.3f} rad"
        for k in legs
        if spare[k] < NEAR_STOP
    ]


def _missing(robot: Robot) -> list[str]:
    found = []
    if not robot.armature.any():
        found.append("joints: no armature: rotors have inertia, and the simulated joints are too lively without it")
    for group, why in (("legs", "a fall does not tuck them"), ("arms", "they do not help to balance")):
        if not robot.groups.get(group, np.zeros(0)).size:
            found.append(f"groups.{group}: none: {why}")
    return found
