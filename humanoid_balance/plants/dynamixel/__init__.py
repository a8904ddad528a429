"""Dynamixel Protocol 2.0, for humanoids whose joints are servos on a half-duplex bus."""

from humanoid_balance.plants.dynamixel.faults import HardwareError, StatusError, joint_fault, status_faults
from humanoid_balance.plants.dynamixel.instructions import (
    ServoStatus,
    fast_blocks,
    fast_sync_read,
    parse_status,
    ping,
    read,
    reboot,
    sync_read,
    sync_write,
    write,
)
from humanoid_balance.plants.dynamixel.packet import BROADCAST, Instruction, Received, ServoDecoder
from humanoid_balance.plants.dynamixel.servo import Present, Servo

__all__ = [
    "BROADCAST",
    "HardwareError",
    "Instruction",
    "Present",
    "Received",
    "Servo",
    "ServoDecoder",
    "ServoStatus",
    "StatusError",
    "fast_blocks",
    "fast_sync_read",
    "joint_fault",
    "parse_status",
    "ping",
    "read",
    "reboot",
    "status_faults",
    "sync_read",
    "sync_write",
    "write",
]
