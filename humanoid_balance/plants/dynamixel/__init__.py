"""Dynamixel Protocol 2.0, for humanoids whose joints are servos on a half-duplex bus."""

from humanoid_balance.plants.dynamixel.faults import HardwareError, StatusError, joint_fault, status_faults
from humanoid_balance.plants.dynamixel.instructions import (
    Status,
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
from humanoid_balance.plants.dynamixel.packet import BROADCAST, Decoder, Instruction, Received
from humanoid_balance.plants.dynamixel.servo import Present, Servo

__all__ = [
    "BROADCAST",
    "Decoder",
    "HardwareError",
    "Instruction",
    "Present",
    "Received",
    "Servo",
    "Status",
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
