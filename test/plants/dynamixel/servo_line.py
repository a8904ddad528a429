"""A line in memory with virtual servos at its other end."""

from __future__ import annotations

from humanoid_balance.plants.dynamixel import Servo
from humanoid_balance.plants.dynamixel.virtual import VirtualServos
from humanoid_balance.plants.port import Port

SERVOS = {f"joint_{k}": Servo(identifier=10 + k, torque_constant=1.5, current_limit=2.0) for k in range(4)}
RANGES = dict.fromkeys(SERVOS, (-1.5, 1.5))


class ServoLine(Port):
    """Answers at once; ``now`` is the servos' clock [µs]."""

    def __init__(self, servos: VirtualServos) -> None:
        super().__init__("memory", 4_000_000)
        self.servos, self.now = servos, 0
        self.inbox = b""

    def receive(self, timeout: float) -> bytes:
        data, self.inbox = self.inbox, b""
        return data

    def send(self, data: bytes, urgent: bool = False) -> bool:
        self.inbox += self.servos.receive(data, self.now)
        return True
