"""What a line can do per period is computed from the wiring, and refused where it is too much."""

from __future__ import annotations

import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.plants.dynamixel import BROADCAST, ServoStatus, fast_sync_read, sync_write
from humanoid_balance.plants.dynamixel.instructions import fast_status
from humanoid_balance.plants.dynamixel.servo import GOAL_CURRENT, PRESENT_AND_HEALTH
from humanoid_balance.plants.dynamixel.timing import BITS_PER_BYTE, TURN_AROUND, check_period, exchange

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


def test_an_arm_of_seven_servos_works_at_500_hz_with_4_megabaud_and_at_250_hz_with_1() -> None:
    check_period("a", ARM, 4_000_000, 0.002)
    check_period("a", ARM, 1_000_000, 0.004)


@pytest.mark.parametrize(
    ("servos", "baud", "period", "told"),
    [
        (
            ARM,
            4_000_000,
            0.001,
            r"/dev/arm: 7 servos at 4 Mbit/s need 1\.6 ms .* period is 1 ms; .* 0\.0016 s \(--rate 6",
        ),
        (ARM, 1_000_000, 0.002, r"need 3\.4 ms .* or fewer servos per line"),
        (ARM, 57_600, 0.02, r"need 42\.5 ms for a cycle; allowed: up to 10 ms; take a higher baud rate"),
    ],
)
def test_a_period_that_the_line_cannot_keep_is_refused_with_one_that_it_can(
    servos: int, baud: int, period: float, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        check_period("/dev/arm", servos, baud, period)


def test_the_period_that_is_named_is_accepted() -> None:
    for servos in range(1, 15):
        with pytest.raises(InputError) as refused:
            check_period("a", servos, 1_000_000, 0.0001)
        named = float(str(refused.value).split("a period of ")[1].split(" s")[0])
        rate = float(str(refused.value).split("--rate ")[1].split(")")[0])
        check_period("a", servos, 1_000_000, named)
        check_period("a", servos, 1_000_000, 1.0 / rate)
