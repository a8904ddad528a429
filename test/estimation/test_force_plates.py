"""Accelerometer against force plates."""

import numpy as np

from humanoid_balance.estimation.force_plates import ForcePlateWindow
from humanoid_balance.types import GRAVITY

DT = 0.001


def window(bias: np.ndarray, mass: float, sway: float = 0.0) -> list[float] | None:
    """One window of a body of ``mass`` whose trunk swings against the CoM by ``sway`` [m/s²]."""
    plates = ForcePlateWindow(0.25)
    speed, up = np.zeros(3), np.array([0.0, 0.0, GRAVITY])
    result = None
    for k in range(600):
        relative = sway * np.array([np.sin(0.02 * k), np.cos(0.03 * k), 0.3 * np.sin(0.01 * k)])
        speed = speed + relative * DT
        com = np.array([0.1, -0.2, 0.05]) * np.sin(0.015 * k)  # acceleration of the CoM
        specific = com + relative + bias + up
        force = mass * (com + up)
        answer = plates.add((specific * DT).tolist(), (force * DT).tolist(), speed.tolist(), DT)
        result = answer or result
    return result


def test_the_horizontal_bias_is_what_they_disagree_about() -> None:
    np.testing.assert_allclose(window(np.array([0.03, -0.02, 0.0]), 71.0), [0.03, -0.02], atol=1e-4)


def test_a_swinging_trunk_does_not_disturb() -> None:
    np.testing.assert_allclose(window(np.array([0.03, -0.02, 0.0]), 71.0, sway=1.0), [0.03, -0.02], atol=5e-3)


def test_a_payload_does_not_disturb() -> None:
    np.testing.assert_allclose(window(np.array([0.03, -0.02, 0.0]), 85.0), [0.03, -0.02], atol=1e-4)


def test_without_ground_under_the_feet_there_is_no_result() -> None:
    assert window(np.array([0.03, -0.02, 0.0]), 0.0) is None
