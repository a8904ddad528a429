"""The scene every controller is timed on, as data the peers can read without this package.

A robot stands on both feet and sways its centre of mass from side to side. Tasks: CoM, angular momentum, torso and
posture; constraints: friction, centre of pressure, torque and joint velocity limits. It moves by its own accelerations.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from humanoid_balance.robot.model import Robot

SWAY = 0.02  # amplitude of the CoM [m]
FREQUENCY = 0.5  # [Hz]
DT = 0.001  # [s]
COM, MOMENTUM = 2.0, 3.0  # feedback of CoM and angular momentum, in the body's pendulum frequency omega


def com_offset(time: float) -> np.ndarray:
    """Wanted CoM from where it starts (3,) [m]."""
    return np.array([0.0, SWAY * np.sin(2 * np.pi * FREQUENCY * time), 0.0])


def write(robot: Robot, folder: Path) -> Path:
    """URDF, stance, limits and gains of the scene; returns the JSON file."""
    folder.mkdir(parents=True, exist_ok=True)
    urdf = folder / f"{robot.name}.urdf"
    urdf.write_text(robot.urdf, encoding="utf-8")
    gains, omega = robot.config.gains, robot.omega

    def pd(k: float, zeta: float) -> list[float]:
        return [(k * omega) ** 2, 2 * zeta * k * omega]

    scene = {
        "urdf": str(urdf),
        "robot": robot.name,
        "dt": DT,
        "sway": SWAY,
        "frequency": FREQUENCY,
        "base": robot.q_nominal[:7].tolist(),
        "joints": dict(zip(robot.joint_names, robot.posture.tolist(), strict=True)),
        "torque": dict(zip(robot.joint_names, robot.torque_limit.tolist(), strict=True)),
        "velocity": dict(zip(robot.joint_names, robot.velocity_limit.tolist(), strict=True)),
        "soles": [foot.frame for foot in robot.config.feet],
        "corners": robot.soles.tolist(),
        "torso": robot.config.torso,
        "friction": robot.config.friction,
        "weight": robot.weight,
        "gains": {
            "com": pd(COM, 1.0),
            "momentum": MOMENTUM * omega,
            "torso": pd(gains.torso, gains.torso_damping),
            "posture": pd(gains.posture, gains.posture_damping),
        },
    }
    file = folder / f"{robot.name}.json"
    file.write_text(json.dumps(scene), encoding="utf-8")
    return file
