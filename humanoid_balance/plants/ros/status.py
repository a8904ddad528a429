"""What a plant says of itself on ``plant/status``: who it is, whether its motors follow, and if not, why.

A diagnostic_msgs/DiagnosticStatus, sent with every change and 20 times a second: a plant with motors that has been
silent for 0.2 s is lost. ``name`` is the node, ``hardware_id`` this very process, ``message`` says it in words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from humanoid_balance.safety.box import Trip

TOPIC = "plant/status"
BEAT = 0.05  # longest time between two messages [s]
SILENCE = 0.2  # a plant with motors that says nothing for so long is lost [s]


class Motors(Enum):
    """What the motors of a plant do. Words for operators and, on the wire, for programs."""

    DISARMED = "disarmed"  # off; may be armed
    DISARMING = "disarming"  # asked to let go, not all have
    ARMING = "arming"  # asked to, not all have confirmed
    BRAKING = "braking"  # armed: they damp, and wait for commands
    FOLLOWING = "following"  # armed: they run the controller's torques
    LATCHED = "latched"  # something dropped out: they damp, or are off, until disarmed
    STOPPED = "stopped"  # emergency stop or a fault of a board: until reset
    LOST = "lost"  # a port is gone or a board is silent


ARMED = (Motors.BRAKING, Motors.FOLLOWING)
NEXT = {  # what the operator can do about it
    Motors.DISARMED: "arm",
    Motors.DISARMING: "wait a moment",
    Motors.ARMING: "wait a moment",
    Motors.LATCHED: "reset, then arm",
    Motors.STOPPED: "remove the cause, release the emergency stop, reset, then arm",
    Motors.LOST: "plug it in, reset, then arm",
}
LEVELS = {
    Motors.LATCHED: DiagnosticStatus.ERROR,
    Motors.STOPPED: DiagnosticStatus.ERROR,
    Motors.LOST: DiagnosticStatus.ERROR,
}


@dataclass(frozen=True)
class PlantStatus:
    """One report."""

    node: str  # fully qualified; its services are ``NODE/arm``, ``NODE/estop``, ``NODE/reset``
    process: str  # differs between two processes, also of the same name
    armable: bool  # it has motors that have to be armed; a simulation has none
    motors: Motors
    trouble: Trip | None = None  # why they are latched, stopped or lost
    shares: dict[str, float] = field(default_factory=dict)  # of the torque limit that is allowed, where it is below 1

    @property
    def text(self) -> str:
        """In words, with what to do next."""
        told = f"motors are {self.motors.value}" + (f" ({self.trouble})" if self.trouble is not None else "")
        return f"{told}; next: {NEXT[self.motors]}" if self.motors in NEXT else told

    def message(self) -> DiagnosticStatus:
        values = {"armable": str(self.armable).lower(), "motors": self.motors.value}
        if self.trouble is not None:
            trip, value, limit = self.trouble, float(self.trouble.value), float(self.trouble.limit)  # enums, numpy
            values |= {"what": trip.what, "where": trip.where, "value": repr(value), "limit": repr(limit)}
        if self.shares:
            values["torque share"] = " ".join(f"{joint}={share:.3f}" for joint, share in self.shares.items())
        return DiagnosticStatus(
            level=LEVELS.get(self.motors, DiagnosticStatus.OK),
            name=self.node,
            hardware_id=self.process,
            message=self.text,
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )

    @staticmethod
    def of(message: DiagnosticStatus) -> PlantStatus | None:
        """None for a message that is not one of ours."""
        values = {entry.key: entry.value for entry in message.values}
        try:
            trouble = None
            if "what" in values:
                trouble = Trip(values["what"], values["where"], float(values["value"]), float(values["limit"]))
            pairs = (entry.rpartition("=") for entry in values.get("torque share", "").split())
            return PlantStatus(
                message.name,
                message.hardware_id,
                values["armable"] == "true",
                Motors(values["motors"]),
                trouble,
                {joint: float(share) for joint, _, share in pairs},
            )
        except (KeyError, ValueError):
            return None
