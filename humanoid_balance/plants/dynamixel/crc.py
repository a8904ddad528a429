"""CRC-16 of Dynamixel Protocol 2.0: polynomial x¹⁶ + x¹⁵ + x² + 1 (0x8005), start 0, most significant bit first."""

from __future__ import annotations


def _remainder(byte: int) -> int:
    crc = byte << 8
    for _ in range(8):
        crc = (crc << 1) ^ (0x8005 if crc & 0x8000 else 0)
    return crc & 0xFFFF


_TABLE = tuple(_remainder(byte) for byte in range(256))


def crc16(data: bytes | bytearray, crc: int = 0) -> int:
    """Check sum of ``data``, continued from ``crc``."""
    table = _TABLE
    for byte in data:
        crc = (crc << 8 & 0xFFFF) ^ table[crc >> 8 ^ byte]
    return crc
