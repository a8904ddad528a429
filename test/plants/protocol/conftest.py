"""Frames to test with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from humanoid_balance.plants.protocol import (
    BoardFault,
    Configure,
    EmergencyStop,
    Fault,
    FootWrench,
    Identify,
    Identity,
    Imu,
    Joint,
    Mode,
    Sensors,
    State,
    WireCommand,
    WireFrame,
    WirePush,
    WireReset,
    WireTruth,
)


def _joint(index: int, count: int) -> Joint:
    return Joint(index, count, f"joint_{index}", -1.5, 2.0, 12.0, 80.0, 90.0, 36.0, 58.0, 2.0**-14, 0.125)


def _state(n: int, seed: int = 0) -> State:
    random = np.random.default_rng(seed)
    return State(
        Mode.TORQUE, BoardFault(0), 0xFEDCBA98, 5_000_000, 400, *random.normal(size=(3, n)).astype("f4").astype(float),
        np.full(n, 36.5), np.full(n, 48.0), np.zeros(n, np.uint16),
    )  # fmt: skip


@pytest.fixture
def make_joint() -> Callable[[int, int], Joint]:
    return _joint


@pytest.fixture
def make_state() -> Callable[..., State]:
    return _state


@pytest.fixture
def frames() -> tuple[WireFrame, ...]:
    """One of each type."""
    three = np.array([1.0, -2.0, 0.5])
    return (
        Identify(),
        Configure(0x89ABCDEF, 1000, True, np.array([10.0, 20.0]), np.array([0.5, 1.0])),
        WireCommand(Mode.IMPEDANCE, 123456, np.arange(10.0).reshape(5, 2)),
        WireReset(),
        EmergencyStop(),
        WirePush("torso", 10**7, three, three, three),
        Identity("left_leg", bytes(range(20)), 2, Sensors.IMU | Sensors.LEFT_FOOT, False, 0x89ABCDEF, 500),
        _joint(1, 2),
        _state(2),
        Imu(three, three),
        FootWrench(1, np.arange(6.0)),
        Fault(3, 1, 25.0, 20.0),
        WireTruth(True, three, np.array([0.0, 0.0, 0.0, 1.0]), three, three, three, three),
    )
