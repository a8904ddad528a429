"""One push experiment: build the loop, push the robot, measure what happened."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humanoid_balance.balance.supervisor import BalanceSettings, Supervisor
from humanoid_balance.errors import InputError
from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.experiments import metrics, timing
from humanoid_balance.experiments.recorder import Recorder
from humanoid_balance.loop import Loop
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.simulator import Simulator, open_simulator
from humanoid_balance.plants.world import PlantOptions, World
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import SafetyBox
from humanoid_balance.types import Push
from humanoid_balance.wholebody.controller import WholeBody

if TYPE_CHECKING:
    from humanoid_balance.experiments.log import LogWriter

AFTER = 5.0  # a run goes on this long after the last push [s]
SEEN_FOR = 0.5  # a reported push is followed this long after its onset, then it counts as told [s]

Progress = Callable[[float], None]


@dataclass(frozen=True)
class PushSettings:
    """Who is pushed, how the world is, and how the controller may answer."""

    robot: str = "human"
    plant: str = "mujoco"  # simulator
    plant_robot: str | None = None  # specification of the simulated body, if it differs from the controller's
    time: float | None = None  # [s]
    strategy: str = "auto"
    policy: str = "dcm"
    step_policy: str = "capture"
    delay: float = 0.0  # reaction delay after a push begins [s]
    slope: float = 0.0  # [deg]
    friction: float = 0.8
    payload: float = 0.0  # [kg]
    ground: str = "flat"
    torque_scale: float = 1.0
    noise: float = 1.0
    sensor_latency: float = 0.0  # [s]
    actuator_latency: float = 0.0  # [s]
    seed: int = 0

    def __post_init__(self) -> None:
        ranges = {
            "time": (0.01, 1e5), "delay": (0.0, 5.0), "slope": (-45.0, 45.0), "friction": (0.01, 5.0),
            "payload": (0.0, 500.0), "torque_scale": (0.0, 10.0), "noise": (0.0, 100.0),
            "sensor_latency": (0.0, 0.1), "actuator_latency": (0.0, 0.1), "seed": (0, 2**63),
        }  # fmt: skip
        for key, (low, high) in ranges.items():
            value = getattr(self, key)
            if value is not None and not low <= value <= high:
                raise InputError(f"{key.replace('_', '-')} is {value}; allowed: {low:g} to {high:g}")


@dataclass
class PushRun:
    """A finished run: the JSON figures and the record they come from."""

    result: dict[str, Any]
    record: Recorder
    plant: Simulator
    loop: Loop


class PushTeller:
    """Collects the pushes that the observer reported, each as it stood when its impulse was complete."""

    def __init__(self) -> None:
        self.told: list[Push] = []

    def see(self, push: Push, stamp: float) -> None:
        if math.isnan(push.onset):
            return
        if self.told and self.told[-1].onset == push.onset:
            if stamp - push.onset < SEEN_FOR:
                self.told[-1] = push
        else:
            self.told.append(push)


def build_loop(robot: Robot, plant: Simulator, settings: PushSettings) -> Loop:
    """The whole controller on a plant, armed and active."""
    safety = SafetyBox(robot)
    safety.arm()
    safety.activate(plant.read().torque)
    plant.reset()
    balance = Supervisor(
        robot, BalanceSettings(settings.strategy, settings.policy, settings.delay, settings.step_policy)
    )
    return Loop(plant, Estimator(robot), balance, WholeBody(robot), safety)


def other_body(robot: Robot, spec: str) -> Robot:
    """The simulated body where it differs from the controller's model; it has the same joints."""
    body = registry.load(spec)
    if body.joint_names != robot.joint_names:
        raise InputError(f"plant-robot '{spec}' does not have the joints of '{robot.spec}'")
    return body


def open_log(robot: Robot, path: Path | None) -> LogWriter | nullcontext[None]:
    """A log of every tick, or nothing."""
    if path is None:
        return nullcontext()
    from humanoid_balance.experiments.log import LogWriter

    return LogWriter(robot, path)


def run(
    settings: PushSettings, pushes: Sequence[PushProfile], progress: Progress | None = None, log: Path | None = None
) -> PushRun:
    """Simulate one run; ``log`` names an MCAP file for all that passes through the loop. Deterministic for a seed."""
    robot = registry.load(settings.robot)
    body = robot if settings.plant_robot is None else other_body(robot, settings.plant_robot)
    world = World(settings.slope, settings.friction, settings.payload, settings.ground)
    options = PlantOptions(
        world, settings.noise, settings.seed, settings.sensor_latency, settings.actuator_latency, settings.torque_scale
    )
    with closing(open_simulator(settings.plant, body, options, pushes)) as plant:
        loop = build_loop(robot, plant, settings)
        duration = settings.time or max((p.end for p in pushes), default=1.0) + AFTER
        ticks = round(duration / plant.dt)
        record, teller = Recorder(body, ticks), PushTeller()
        with open_log(body, log) as writer:
            wall = simulate(loop, plant, record, teller, writer, progress, ticks)
    result = figures(record, list(pushes), teller.told, loop, wall)
    return PushRun(result, record, plant, loop)


def simulate(
    loop: Loop, plant: Simulator, record: Recorder, teller: PushTeller, writer: LogWriter | None,
    progress: Progress | None, ticks: int,
) -> float:  # fmt: skip
    """Run until the ticks are over or the robot has fallen; the wall time it took [s]."""
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    try:
        for k in range(ticks):
            truth = plant.truth()
            tick = loop.tick()
            record.add(tick, truth)
            if writer is not None:
                writer.add(tick, truth)
            teller.see(tick.state.push, tick.state.stamp)
            if progress is not None and k % 200 == 0:
                progress((k + 1) / ticks)
            if truth.fell:
                break
    finally:
        gc.enable()
    return time.perf_counter() - start


def figures(record: Recorder, pushes: list[PushProfile], told: list[Push], loop: Loop, wall: float) -> dict[str, Any]:
    """The JSON object of ``humanoid-balance push``."""
    robot = record.robot
    impulse = sum(p.impulse for p in pushes)
    ticks = loop.stage_times()["tick"]
    fell = bool(record["true_fell"].any())
    return {
        "robot": robot.spec,
        "mass": robot.mass,
        "fell": fell,
        "steps": metrics.steps(record),
        "modes": [[round(t, 4), name] for t, name in record.mode_changes],
        "impulse": impulse,
        "dv": impulse / robot.mass,
        "recovery_time": metrics.recovery_time(record, pushes),
        "com_error_final": metrics.com_error(record),
        "feet_slip_max": metrics.slip(record),
        "zmp_margin_min": metrics.zmp_margin(record),
        "torque_ratio_max": float((abs(record["true_torque"]) / robot.torque_limit).max()),
        "torso_lean_max_deg": math.degrees(float(record["true_lean"].max())),
        "estimation": metrics.estimation(record, pushes, told),
        "pushes_reported": len(told),
        "tick": timing.percentiles(ticks, tail=True) | {"missed": int((ticks > loop.plant.dt).sum())},
        "rtf": round(record.length * loop.plant.dt / wall, 3),
    }
