"""The service ``~/check`` of a plant with motor boards: is the robot fit to be armed, without arming anything."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from humanoid_balance.nodes.waiting import until
from humanoid_balance.plants.serial.plant import SerialPlant
from humanoid_balance.safety import plausibility
from humanoid_balance.types import SensorFrame

LISTEN = 0.5  # over which the accelerometer is averaged [s]


async def check(plant: SerialPlant, newest: Callable[[], SensorFrame | None]) -> tuple[bool, str]:
    """Fit or not, and in words why, or what was found; ``newest`` is the frame that the loop read last."""
    felt: list[np.ndarray] = []
    complete: list[SensorFrame] = []

    def listen() -> bool:
        frame = newest()
        if frame is not None and np.isfinite(frame.acceleration).all():
            felt.append(frame.acceleration)
            if np.isfinite(frame.position).all():
                complete[:] = [frame]
        return False

    await until(listen, LISTEN)
    frame, robot = complete[0] if complete else newest(), plant.robot
    if frame is None:
        return False, "no sensors have been read yet"
    trouble = plant.trouble(armed=False)
    gravity = np.mean(felt, axis=0) if felt else np.full(3, np.nan)
    complaints = (
        str(trouble) if trouble else None,
        plausibility.positions(robot, frame),
        plausibility.gravity(gravity),
    )
    wrong = [complaint for complaint in complaints if complaint]
    if wrong:
        return False, "; ".join(wrong)
    load = plausibility.load(robot, frame.wrench)
    cap = plant.config.torque
    return (
        True,
        f"{robot.n} joints on {len(plant.buses)} boards, soles carry {load:.0%}, {cap:.0%} of the torque allowed",
    )
