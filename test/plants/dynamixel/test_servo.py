"""Servos in current control: units, limits, names of errors."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.errors import InputError
from humanoid_balance.plants.dynamixel import HardwareError, Servo, StatusError, joint_fault, status_faults
from humanoid_balance.plants.dynamixel.servo import PRESENT, PRESENT_AND_HEALTH, goals
from humanoid_balance.plants.protocol import JointFault

SERVO = Servo(identifier=3, torque_constant=1.8, current_limit=3.2)


def counts(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


@given(st.floats(-5.7, 5.7))
def test_the_torque_that_is_asked_for_is_met_within_half_a_count(torque: float) -> None:
    made = counts(SERVO.goal(torque)) * 2.69e-3 * 1.8
    assert abs(made - torque) <= 0.5001 * 2.69e-3 * 1.8


@given(st.floats())
def test_no_torque_exceeds_the_current_limit(torque: float) -> None:
    current = counts(SERVO.goal(torque)) * 2.69e-3
    assert abs(current) <= 3.2
    if math.isnan(torque):
        assert current == 0.0
    if abs(torque) > 6.0:
        assert abs(current) > 3.19 and current * torque > 0


def test_the_330_models_count_milliamperes() -> None:
    small = Servo(1, 0.4, 1.5, current_unit=1e-3)
    assert counts(small.goal(0.2)) == 500
    assert small.torque_limit == pytest.approx(0.6, abs=1e-3)


def test_a_reading_becomes_si_units() -> None:
    block = struct.pack("<hii", -100, 262, 2048 + 1024)
    present = SERVO.present(block)
    assert len(block) == PRESENT.size
    assert present.position == pytest.approx(math.pi / 2)
    assert present.velocity == pytest.approx(262 * 0.229 / 60 * 2 * math.pi)
    assert present.torque == pytest.approx(-0.269 * 1.8)
    assert math.isnan(present.voltage) and math.isnan(present.temperature)
    long = block + bytes(8) + struct.pack("<HB", 118, 41)
    assert len(long) == PRESENT_AND_HEALTH.size
    assert (SERVO.present(long).voltage, SERVO.present(long).temperature) == (pytest.approx(11.8), 41.0)


def test_torques_go_to_the_servos_in_order() -> None:
    servos = (SERVO, Servo(9, 0.9, 3.2))
    assert {k: counts(v) for k, v in goals(servos, np.array([0.4842, -0.2421])).items()} == {3: 100, 9: -100}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((253, 1.0, 1.0), "identifier 253"),
        ((1, 0.0, 1.0), "'torque_constant' is 0.0"),
        ((1, math.nan, 1.0), "'torque_constant' is nan"),
        ((1, 1.0, 6.0), "'current_limit' is 6.0"),
        ((0, 1.0, 1.0, 0.0), "'current_unit' is 0.0"),
    ],
)
def test_impossible_servos_are_refused(values: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Servo(*values)  # type: ignore[arg-type]


def test_every_error_of_a_status_has_a_name() -> None:
    assert status_faults(0) == ()
    assert [status_faults(error) for error in StatusError][1:] == [
        ("servo_result_fail",),
        ("servo_instruction",),
        ("servo_crc",),
        ("servo_data_range",),
        ("servo_data_length",),
        ("servo_data_limit",),
        ("servo_access",),
    ]
    assert status_faults(0x80) == ("servo_alert",)
    assert status_faults(0x84) == ("servo_data_range", "servo_alert")
    assert status_faults(0x55) == ("servo_error_85",)


def test_every_bit_of_the_hardware_error_is_a_joint_fault() -> None:
    assert joint_fault(0) == 0
    assert joint_fault(HardwareError.OVERHEATING) == JointFault.OVER_TEMPERATURE
    assert joint_fault(HardwareError.OVERLOAD | HardwareError.MOTOR_ENCODER) == JointFault.OVERLOAD | JointFault.ENCODER
    assert all(joint_fault(1 << bit) for bit in range(8))
