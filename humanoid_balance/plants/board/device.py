"""What is at the other end of a cable, as the server sees it: a motor board, or a chain of servos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from humanoid_balance.plants.board.faults import PlannedFault
from humanoid_balance.plants.protocol import Mode
from humanoid_balance.types import Array, SensorFrame


class Device(Protocol):
    """Part of the joints of a body. Times are its clock [µs]; it has no port and no clock of its own."""

    name: str
    index: Array  # of its joints among the body's (n,)
    half_duplex: bool  # it speaks only when it is spoken to
    lockstep: bool  # the world waits for the host ...
    answered: bool  # ... whose command for the present sample has come
    sampled: int  # stamp of the last sample
    out: list[bytes]  # that wait to be sent

    @property
    def mode(self) -> Mode: ...

    @property
    def why(self) -> str: ...  # the board is in this mode: its faults

    @property
    def following(self) -> bool: ...  # the drives run the host's torques

    @property
    def period(self) -> int: ...  # between samples; 0: it speaks only when it is spoken to

    def receive(self, data: bytes, now: int) -> bool: ...  # True if a sample has to answer it

    def sample(self, sensed: SensorFrame, now: int) -> None: ...

    def repeat_sample(self) -> None: ...

    def tick(self, now: int) -> None: ...  # watchdogs and faults, once a physics step

    def lose_time(self, lost: int) -> None: ...  # the wall went on without this clock

    def starved(self, now: int) -> int: ...  # time since the last valid command

    def torque(self, position: Array, velocity: Array) -> Array: ...  # (n,) from those of the whole body

    def ail(self, faults: Sequence[PlannedFault]) -> None: ...  # get into the condition that the faults mean

    def port_closed(self, now: int) -> None: ...

    def power_up(self) -> None: ...
