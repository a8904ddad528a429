"""How boards and lines are: what forbids to arm, how much torque is allowed, and figures for the operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_balance.plants.protocol import Mode, fault_names
from humanoid_balance.plants.protocol.vocabulary import ARMED_MODES
from humanoid_balance.plants.serial.line import TOO_LATE, Bus
from humanoid_balance.safety.box import Trip
from humanoid_balance.types import Array

SILENCE = 0.020  # a board that has not been heard for longer is lost [s]


@dataclass(frozen=True)
class JointHealth:
    """One joint as its board reports it, in the units of the model."""

    name: str
    board: str
    position: float  # [rad]
    lower: float
    upper: float
    velocity: float  # [rad/s]
    torque: float  # [N m]
    temperature: float  # [°C]; NaN: not known
    voltage: float  # [V]; NaN: not known
    faults: tuple[str, ...]


@dataclass(frozen=True)
class BusHealth:
    """One line."""

    port: str
    board: str
    connected: bool
    mode: Mode
    faults: tuple[str, ...]
    age: float  # of the newest sample [s]
    rate: float  # of samples [Hz]
    jitter: float  # standard deviation of the time between arrivals [s]
    round_trip: float  # quickest of late [s]
    frames: int  # that arrived whole
    lost: int  # frames missing in the sequence
    errors: int  # frames that arrived damaged
    overruns: int  # commands that the line had no room for
    reopened: int


def bus_health(bus: Bus) -> BusHealth:
    gaps = 1e-6 * np.diff(np.array(bus.arrivals, dtype=float))
    frames, lost, errors = bus.line_counts()
    state = bus.sample.state if bus.sample else None
    return BusHealth(
        port=bus.url,
        board=bus.name,
        connected=bus.connected,
        mode=bus.mode,
        faults=fault_names(state.faults, 16) if state else (),
        age=bus.age(),
        rate=float(1.0 / gaps.mean()) if len(gaps) and gaps.mean() > 0.0 else 0.0,
        jitter=float(gaps.std()) if len(gaps) else 0.0,
        round_trip=1e-6 * bus.clock.round_trip,
        frames=frames,
        lost=lost,
        errors=errors,
        overruns=bus.port.overruns,
        reopened=bus.reopened,
    )


def joint_health(bus: Bus) -> list[JointHealth]:
    sample = bus.sample
    if sample is None or bus.configure is None:  # not introduced yet, or not again
        return []
    low, high = bus.gauge.range(*(np.array([getattr(j, key) for j in bus.joints]) for key in ("lower", "upper")))
    state = sample.state
    return [
        JointHealth(
            joint.name, bus.name, float(sample.position[k]), float(low[k]), float(high[k]), float(sample.velocity[k]),
            float(sample.torque[k]), float(state.temperature[k]), float(state.voltage[k]),
            fault_names(int(state.joint_faults[k]), 0),
        )
        for k, joint in enumerate(bus.joints)
    ]  # fmt: skip


def torque_share(buses: Sequence[Bus], n: int) -> Array:
    """Part of each joint's torque limit that temperature and voltage allow (n,)."""
    share = np.ones(n)
    for bus in buses:
        if bus.sample is not None and bus.configure is not None:
            state = bus.sample.state
            share[bus.index] = bus.derating.share(state.temperature, state.voltage)
    return share


def trouble(buses: Sequence[Bus], armed: bool, silence: float = SILENCE) -> Trip | None:
    """The first thing that forbids to arm, or to stay armed; a board on its way to DAMPING is none.

    A board that a joint has stopped is named by that joint also after the joint is well again. ``silence``: how long
    none may be silent [s].
    """
    modes = (*ARMED_MODES, Mode.DISARMED) if armed else (Mode.DISARMED,)
    for bus in buses:
        if not bus.connected:
            return Trip(f"port lost ({bus.problem})" if bus.problem else "port lost", bus.url, 0.0, 1.0)
        if bus.problem:
            return Trip(bus.problem, bus.url, 0.0, 1.0)
        if bus.age() > silence:
            return Trip("board does not answer [s]", bus.name, bus.age(), silence)
        cause = bus.joint_cause()
        if cause is not None:
            return Trip(cause.what, cause.joint, cause.value, cause.limit)
        if not armed and bus.late > TOO_LATE:
            what = "share of late cycles; next: fewer servos per line, a longer period, less other work"
            return Trip(what, bus.name, bus.late, TOO_LATE)
        if bus.mode not in modes:
            assert bus.sample is not None
            if bus.cause is not None:
                what = f"board '{bus.name}' is {bus.mode.name} ({bus.cause.what})"
                return Trip(what, bus.cause.joint, bus.cause.value, bus.cause.limit)
            faults = ", ".join(fault_names(bus.sample.state.faults, 16))
            return Trip(f"board is {bus.mode.name} ({faults or 'no fault'})", bus.name, bus.mode, modes[0])
    return None
