"""What a servo complains about, by name: the error byte of a status packet, and the hardware error register."""

from __future__ import annotations

from enum import IntEnum, IntFlag

from humanoid_balance.plants.protocol.vocabulary import JointFault

ALERT = 0x80  # bit of the error byte: the hardware error register is not zero


class StatusError(IntEnum):
    """Lower seven bits of the error byte: why an instruction was not done."""

    NONE = 0
    RESULT_FAIL = 1
    INSTRUCTION = 2
    CRC = 3
    DATA_RANGE = 4
    DATA_LENGTH = 5
    DATA_LIMIT = 6
    ACCESS = 7


class HardwareError(IntFlag):
    """Hardware error register of the servo. Any of these switches the torque off until the servo is rebooted."""

    INPUT_VOLTAGE = 1 << 0
    HALL_SENSOR = 1 << 1
    OVERHEATING = 1 << 2
    MOTOR_ENCODER = 1 << 3
    ELECTRICAL_SHOCK = 1 << 4
    OVERLOAD = 1 << 5


_JOINT_FAULTS = {
    HardwareError.INPUT_VOLTAGE: JointFault.UNDER_VOLTAGE | JointFault.OVER_VOLTAGE,  # the servo does not say which
    HardwareError.HALL_SENSOR: JointFault.ENCODER,
    HardwareError.OVERHEATING: JointFault.OVER_TEMPERATURE,
    HardwareError.MOTOR_ENCODER: JointFault.ENCODER,
    HardwareError.ELECTRICAL_SHOCK: JointFault.DRIVE,
    HardwareError.OVERLOAD: JointFault.OVERLOAD,
}


def status_faults(error: int) -> tuple[str, ...]:
    """Names of what an error byte says; empty when all is well."""
    number = error & ~ALERT
    known = {int(code): code.name.lower() for code in StatusError if code}
    names = [f"servo_{known.get(number, f'error_{number}')}"] if number else []
    return (*names, "servo_alert") if error & ALERT else tuple(names)


def joint_fault(register: int) -> JointFault:
    """The hardware error register in the words of the other boards; an unknown bit counts as a fault of the drive."""
    fault = JointFault(0)
    for bit in range(8):
        if register >> bit & 1:
            fault |= _JOINT_FAULTS.get(HardwareError(1 << bit), JointFault.DRIVE)
    return fault
