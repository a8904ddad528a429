"""How often the servos of a line are asked is computed from the wiring, and refused where it is too seldom."""

from __future__ import annotations

import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.plants.dynamixel import BROADCAST, ServoStatus, fast_sync_read, sync_write
from humanoid_balance.plants.dynamixel.instructions import fast_status
from humanoid_balance.plants.dynamixel.servo import GOAL_CURRENT, PRESENT_AND_HEALTH
from humanoid_balance.plants.dynamixel.timing import BITS_PER_BYTE, BUSY, LONGEST, TURN_AROUND, exchange, period

ARM = 7


@pytest.mark.parametrize("servos", [1, ARM, 14])
def test_the_time_is_that_of_the_bytes_on_the_line(servos: int) -> None:
    names = range(servos)
    goals = sync_write(*GOAL_CURRENT, {k: b"\x00\x00" for k in names})
    question = fast_sync_read(*PRESENT_AND_HEALTH, list(names))
    answer = fast_status([ServoStatus(k, 0, bytes(PRESENT_AND_HEALTH.size)) for k in names])
    assert answer[4] == BROADCAST
    bits = BITS_PER_BYTE * (len(goals) + len(question) + len(answer))
    assert exchange(servos, 1_000_000) == pytest.approx(TURN_AROUND + 1e-6 * bits)


def test_a_slow_loop_sets_the_pace_and_a_quick_one_does_not() -> None:
    assert period("a", ARM, 4_000_000, 0.005) == 0.005
    for wanted in (0.001, 0.002):
        assert period("a", ARM, 4_000_000, wanted) == pytest.approx(exchange(ARM, 4_000_000) / BUSY)
    assert 0.002 < period("a", ARM, 4_000_000, 0.001) < 0.004 < period("a", ARM, 1_000_000, 0.001) < LONGEST


@pytest.mark.parametrize(
    ("servos", "baud", "told"),
    [
        (
            ARM,
            57_600,
            r"/dev/arm: 7 servos at 0\.0576 Mbit/s can be asked every 85\.0 ms; allowed: 10 ms or less",
        ),
        (14, 1_000_000, r"10\.8 ms; allowed: .* higher baud rate or fewer servos per line"),
    ],
)
def test_servos_whose_readings_would_be_too_old_are_refused(servos: int, baud: int, told: str) -> None:
    with pytest.raises(InputError, match=told):
        period("/dev/arm", servos, baud, 0.002)
