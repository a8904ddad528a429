"""One state of 34 joints must cost little of a millisecond. ``pytest -s`` shows the times."""

from __future__ import annotations

import timeit
from collections.abc import Callable

from humanoid_balance.plants.protocol import FROM_BOARD, Decoder, Sender, State

RUNS, REPEATS = 50, 60  # short batches, the best one: other processes must not fail the test


def test_a_state_of_34_joints_is_encoded_and_decoded_in_under_50_us(make_state: Callable[..., State]) -> None:
    states = [make_state(34, seed) for seed in range(RUNS)]
    sender, decoder = Sender(), Decoder(FROM_BOARD)
    wires: list[bytes] = []

    def encode() -> None:
        wires[:] = [sender.encode(state, 1000) for state in states]

    def decode() -> None:
        for wire in wires:
            decoder.feed(wire)

    times = [1e6 * min(timeit.repeat(step, number=1, repeat=REPEATS)) / RUNS for step in (encode, decode)]
    print(f"encode {times[0]:.1f} us, decode {times[1]:.1f} us, {max(map(len, wires))} bytes")
    assert decoder.counts.frames + decoder.counts.repeated == REPEATS * RUNS
    assert sum(times) < 50.0
