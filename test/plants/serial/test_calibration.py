"""From the board's numbers to the model's and back."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.plants.protocol import Mode
from humanoid_balance.plants.serial.calibration import Calibration, JointCalibration
from humanoid_balance.types import TorqueCommand

JOINT = st.builds(JointCalibration, st.floats(-3.0, 3.0), st.sampled_from([-1, 1]), st.floats(0.1, 100.0))


@given(joint=JOINT, raw=st.floats(-10, 10), speed=st.floats(-10, 10), torque=st.floats(-100, 100))
def test_power_is_the_same_on_both_sides(joint: JointCalibration, raw: float, speed: float, torque: float) -> None:
    gauge = Calibration([joint])
    here = gauge.torque(np.array([torque])) * gauge.velocity(np.array([speed]))
    np.testing.assert_allclose(here, torque * speed, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(gauge.raw_position(gauge.position(np.array([raw]))), raw, atol=1e-9)


@given(joint=JOINT, q=st.floats(-2, 2), v=st.floats(-5, 5))
def test_an_impedance_makes_the_same_torque_on_both_sides(joint: JointCalibration, q: float, v: float) -> None:
    gauge, index = Calibration([joint]), np.array([0])
    one = np.array([1.0])
    command = TorqueCommand(0.0, 3.0 * one, 0.7 * one, -0.4 * one, 50.0 * one, 2.0 * one)
    rows = gauge.command(Mode.IMPEDANCE, 0, command, index).joints[:, 0]
    raw, speed = gauge.raw_position(np.array([q]))[0], v * gauge.gear[0]
    board = rows[0] + rows[3] * (rows[1] - raw) + rows[4] * (rows[2] - speed)
    wanted = 3.0 + 50.0 * (0.7 - q) + 2.0 * (-0.4 - v)
    np.testing.assert_allclose(gauge.torque(np.array([board]))[0], wanted, rtol=1e-6, atol=1e-6)


def test_a_turned_joint_swaps_its_limits() -> None:
    gauge = Calibration([JointCalibration(offset=0.5, sign=-1, ratio=2.0)])
    lower, upper = gauge.range(np.array([-1.0]), np.array([3.0]))
    np.testing.assert_allclose([lower[0], upper[0]], [-1.0, 1.0])
