"""How quickly servos on one line can be asked: what the wire, the adapter and the servos' own watchdog allow.

Each cycle takes goal currents to n servos, asks all of them, and waits for the answer, one behind the other on a
half-duplex line: t = 10 bits/byte · (goals + question + answer) / baud + turn-around. Ten times per second the answer
has voltage and temperature in it, too; such a cycle counts, since nobody waits longer for it than for others.
"""

from __future__ import annotations

from humanoid_balance.errors import InputError
from humanoid_balance.plants.dynamixel.instructions import fast_sync_read, sync_write
from humanoid_balance.plants.dynamixel.packet import FRONT
from humanoid_balance.plants.dynamixel.servo import GOAL_CURRENT, PRESENT_AND_HEALTH

BITS_PER_BYTE = 10  # start bit, eight bits, stop bit
BLOCK = 4  # bytes around the data of each servo in the answer: error, identifier, CRC
# From the answer's last bit to the host's program and out again. A USB adapter hands on what it has once per
# millisecond (latency timer 1, the least it takes); servos answer at once: their return delay is set to 0.
TURN_AROUND = 1.0e-3  # [s]
BUSY = 0.5  # largest share of the time that a line works; the rest is for asking single servos, and for late threads
LONGEST = 0.010  # readings that are older are not used, and servos stop after 20 ms of silence [s]


def exchange(servos: int, baud: int) -> float:
    """Longest cycle of so many servos on one line [s]."""
    identifiers = range(servos)
    address, size = GOAL_CURRENT
    goals = sync_write(address, size, {k: bytes(size) for k in identifiers})
    question = fast_sync_read(*PRESENT_AND_HEALTH, list(identifiers))
    answer = FRONT + 1 + servos * (PRESENT_AND_HEALTH.size + BLOCK)
    return BITS_PER_BYTE * (len(goals) + len(question) + answer) / baud + TURN_AROUND


def period(url: str, servos: int, baud: int, wanted: float) -> float:
    """Between two cycles of a line: ``wanted``, the period of the loop, or the least that the line allows [s].

    The loop does not wait for servos: what they measured is carried on to its time. An InputError where they would be
    too slow for that.
    """
    least = exchange(servos, baud) / BUSY
    if least > LONGEST:
        what = f"port {url}: {servos} servos at {baud / 1e6:g} Mbit/s can be asked every {1e3 * least:.1f} ms"
        most = f"{1e3 * LONGEST:g} ms or less; take a higher baud rate or fewer servos per line"
        raise InputError(f"{what}; allowed: {most}")
    return max(wanted, least)
