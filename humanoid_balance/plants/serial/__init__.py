"""Motors, IMU and soles over serial lines: a plant whose boards speak ``docs/protocol.md``."""

from humanoid_balance.plants.serial.plant import SerialPlant

__all__ = ["SerialPlant"]
