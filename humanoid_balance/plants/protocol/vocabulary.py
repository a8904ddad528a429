"""Words that host and board share: modes, faults, times and sizes. ``docs/protocol.md`` gives their meaning."""

from __future__ import annotations

from enum import IntEnum, IntFlag

VERSION = 1
MAX_JOINTS = 64  # of one board
NAME_SIZE = 32  # bytes of a name on the wire, the closing zero included

WATCHDOG = 20_000  # [µs] without a valid command: the board brakes
POWER_OFF = 500_000  # [µs] after the last valid command, or after an emergency stop: the drives are switched off
LOCKSTEP_REPEAT = 0.1  # [s] wall time after which a waiting simulator sends its sample again
LOCKSTEP_TIMEOUT = 10.0  # [s] wall time after which a waiting simulator gives its host up for lost


class Mode(IntEnum):
    """What a board is doing. A command may ask for the modes DISARMED to IMPEDANCE."""

    UNCONFIGURED = 0
    DISARMED = 1
    DAMPING = 2
    TORQUE = 3
    IMPEDANCE = 4
    LAPSED = 5
    OFF = 6
    STOPPING = 7
    STOPPED = 8


COMMANDED_MODES = (Mode.DISARMED, Mode.DAMPING, Mode.TORQUE, Mode.IMPEDANCE)
ARMED_MODES = (Mode.DAMPING, Mode.TORQUE, Mode.IMPEDANCE)
BRAKING_MODES = (Mode.DAMPING, Mode.LAPSED, Mode.STOPPING)


class FaultCode(IntEnum):
    """Names of faults. Codes below 16 belong to a joint, the others to the board."""

    OVER_TEMPERATURE = 0
    UNDER_VOLTAGE = 1
    OVER_VOLTAGE = 2
    OVER_CURRENT = 3
    OVER_SPEED = 4
    OVERLOAD = 5
    ENCODER = 6
    DRIVE = 7
    SILENT = 8
    POSITION_LIMIT = 9
    TORQUE_CLIPPED = 10
    DERATED = 11

    WATCHDOG = 16
    EMERGENCY_STOP = 17
    PORT_CLOSED = 18
    JOINT_FAULT = 19
    IMU = 20
    FOOT_SENSOR = 21
    WRONG_TABLE = 22
    BAD_CONFIGURATION = 23
    BAD_COMMAND = 24
    STALE_COMMAND = 25
    REFUSED = 26


def _bit(code: FaultCode) -> int:
    return 1 << (code % 16)


class JointFault(IntFlag):
    """Fault bits of one joint in a state frame: bit = code."""

    OVER_TEMPERATURE = _bit(FaultCode.OVER_TEMPERATURE)
    UNDER_VOLTAGE = _bit(FaultCode.UNDER_VOLTAGE)
    OVER_VOLTAGE = _bit(FaultCode.OVER_VOLTAGE)
    OVER_CURRENT = _bit(FaultCode.OVER_CURRENT)
    OVER_SPEED = _bit(FaultCode.OVER_SPEED)
    OVERLOAD = _bit(FaultCode.OVERLOAD)
    ENCODER = _bit(FaultCode.ENCODER)
    DRIVE = _bit(FaultCode.DRIVE)
    SILENT = _bit(FaultCode.SILENT)
    POSITION_LIMIT = _bit(FaultCode.POSITION_LIMIT)
    TORQUE_CLIPPED = _bit(FaultCode.TORQUE_CLIPPED)
    DERATED = _bit(FaultCode.DERATED)


JOINT_WARNINGS = JointFault.POSITION_LIMIT | JointFault.TORQUE_CLIPPED | JointFault.DERATED  # all others stop the board


class BoardFault(IntFlag):
    """Fault bits of the board in a state frame: bit = code - 16."""

    WATCHDOG = _bit(FaultCode.WATCHDOG)
    EMERGENCY_STOP = _bit(FaultCode.EMERGENCY_STOP)
    PORT_CLOSED = _bit(FaultCode.PORT_CLOSED)
    JOINT_FAULT = _bit(FaultCode.JOINT_FAULT)
    IMU = _bit(FaultCode.IMU)
    FOOT_SENSOR = _bit(FaultCode.FOOT_SENSOR)
    WRONG_TABLE = _bit(FaultCode.WRONG_TABLE)
    BAD_CONFIGURATION = _bit(FaultCode.BAD_CONFIGURATION)
    BAD_COMMAND = _bit(FaultCode.BAD_COMMAND)
    STALE_COMMAND = _bit(FaultCode.STALE_COMMAND)
    REFUSED = _bit(FaultCode.REFUSED)
