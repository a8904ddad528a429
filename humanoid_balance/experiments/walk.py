"""One walk: send a robot somewhere, push it if wanted, measure how well it obeyed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_balance.balance.freedom import missing
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import comeback, footstep_plan, metrics, stride, timing
from humanoid_balance.experiments.footstep_plan import Plan
from humanoid_balance.experiments.simulation import Progress, simulate
from humanoid_balance.loop import Tick
from humanoid_balance.motions import tracking
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.simulator import Simulator
from humanoid_balance.recording.run import Run
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import Command
from humanoid_balance.yaml_file import Reader, read

BEGIN = 0.5  # the robot stands this long before it is sent [s]
WALK_TIME = 10.0  # length of a run unless told [s]
AFTER = 4.0  # a push counts as survived when the robot is still up so long after it [s]

Velocity = tuple[float, float, float]  # forward, left [m/s], turn [rad/s]


@dataclass(frozen=True)
class Itinerary:
    """Velocities, footstep plans and when they are commanded; each holds until the next of either [s]."""

    lines: tuple[tuple[float, Velocity], ...] = ()
    plans: tuple[tuple[float, Plan], ...] = ()

    def at(self, time: float) -> Velocity:
        begun, wanted = -math.inf, (0.0, 0.0, 0.0)
        for start, velocity in self.lines:
            if time >= start:
                begun, wanted = start, velocity
        return wanted if begun >= self._plan_at(time)[0] else (0.0, 0.0, 0.0)

    def plan_at(self, time: float) -> Plan:
        begun, plan = self._plan_at(time)
        return plan if all(not begun < start <= time for start, _ in self.lines) else ()

    def _plan_at(self, time: float) -> tuple[float, Plan]:
        found: tuple[float, Plan] = -math.inf, ()
        for start, plan in self.plans:
            if time >= start:
                found = start, plan
        return found

    @staticmethod
    def load(file: Path) -> Itinerary:
        """YAML: ``commands``, a list of ``{at: S, velocity: [forward, left, turn]}`` in the order of time.

        ``footsteps`` instead of ``velocity`` is a list as in ``footstep_plan.load``.
        """
        reader = read(file)
        lines: list[tuple[float, Velocity]] = []
        plans: list[tuple[float, Plan]] = []
        last = -math.inf
        for section in reader.sections("commands"):
            at = section.number("at", low=0.0, high=1e5)
            if at <= last:
                raise InputError(f"{file}: commands: at {at:g} s follows {last:g} s; allowed: rising times")
            last = at
            if "footsteps" in section.data:
                plans.append((at, footstep_plan.footsteps(section)))
                section.done("at, footsteps")
            else:
                lines.append((at, _velocity(section)))
        reader.done("commands")
        return Itinerary(tuple(lines), tuple(plans))


def _velocity(section: Reader) -> Velocity:
    values = section.listed("velocity")
    if len(values) != 3:
        raise section.bad("velocity", values, "[forward, left, turn]")
    forward, left, turn = (section.check_number("velocity", value, -10.0, 10.0) for value in values)
    section.done("at, velocity or footsteps")
    return forward, left, turn


class CommandSender:
    """The operator of a walk. With a ``phase`` each push waits for that share of the step after its time.

    ``style``: path of a robot's clip to walk by, instead of the velocities of the script. ``enough``: a robot that has
    fallen and then walked for so long has shown what there is to see [s].
    """

    def __init__(
        self,
        script: Itinerary,
        pushes: Sequence[PushProfile],
        phase: float | None,
        style: str = "",
        enough: float = math.inf,
    ) -> None:
        self.script, self.phase, self.style, self.enough = script, phase, style, enough
        self._down = self._walks = math.inf  # when it was down first, and since when it walks again [s]
        self.waiting = sorted(pushes, key=lambda push: push.start) if phase is not None else []
        self.pushes: list[PushProfile] = [] if phase is not None else list(pushes)
        self.commanded: list[Velocity] = []
        self.refused: list[str] = []  # why a command was not obeyed, each reason once
        self._landed: list[float] = []  # stamps
        self._both = True
        self.over = False

    def command(self, stamp: float) -> Command:
        velocity = self.script.at(stamp)
        self.commanded.append(velocity)
        if self.style:
            return Command(stamp, gait=self.style if stamp >= BEGIN else "")
        return Command(stamp, np.array(velocity), footsteps=self.script.plan_at(stamp))

    def see(self, tick: Tick, plant: Simulator) -> None:
        """A step begins when a foot has landed; it lasts as long as the one before."""
        if tick.refused and tick.refused not in self.refused:
            self.refused.append(tick.refused)
        mode, now = tick.reference.mode, tick.state.stamp
        self._down = min(self._down, now) if mode == "lying" else self._down
        self._walks = min(self._walks, now) if mode == comeback.WALKING and now > self._down else math.inf
        self.over = now - self._walks > self.enough
        both = bool(tick.state.contact.all())
        if both and not self._both:
            self._landed.append(tick.state.stamp)
            if self.waiting and len(self._landed) > 1 and tick.state.stamp >= self.waiting[0].start:
                wait = (self.phase or 0.0) * (self._landed[-1] - self._landed[-2])
                push = replace(self.waiting.pop(0), start=tick.state.stamp + wait)
                plant.add_push(push)
                self.pushes.append(push)
        self._both = both


def run(
    settings: RunSettings,
    script: Itinerary,
    pushes: Sequence[PushProfile] = (),
    phase: float | None = None,
    progress: Progress | None = None,
    log: Path | None = None,
    style: Path | None = None,
    enough: float = math.inf,
) -> Run:
    """Walk; the result is the JSON object of ``humanoid-balance walk``. ``style``: a robot's clip to walk by.

    ``enough``: the run ends when a robot that fell has walked on for so long [s].
    """
    robot = registry.load(settings.robot)
    if style is None and (why := missing(robot)):
        raise InputError(f"robot '{settings.robot}': {why}")
    if style is not None:
        found = tracking.choice(robot, str(style))
        if isinstance(found, str):
            raise InputError(found)
    last = max((p.end for p in pushes), default=0.0)
    seconds = settings.time or max(WALK_TIME, last + AFTER)
    if last > seconds:
        raise InputError(f"time is {seconds:g} s, the last push ends at {last:g} s; allowed: a time not before that")
    sender = CommandSender(script, pushes, phase, "" if style is None else str(style), enough)
    goes_on = settings.get_up == "auto"  # a fall is not the end
    given = () if phase is not None else pushes
    done = simulate(settings, given, seconds, progress, log, sender, to_the_end=goes_on)
    done.pushes = tuple(sender.pushes)
    done.commanded = np.array(sender.commanded)
    done.plan = script.plans[-1][1] if script.plans else ()
    done.result = figures(done)
    if script.plans:
        since, plan = script.plans[-1]
        followed = footstep_plan.followed(done.record, stride.Way.of(done).landings, plan, since)
        done.result["footsteps"] = followed
    if goes_on:
        done.result |= comeback.figures(done)
    done.result["refused"] = sender.refused
    done.title = title(done)
    return done


def figures(run: Run) -> dict[str, Any]:
    """The JSON object of ``humanoid-balance walk``."""
    robot, record, ticks = run.robot, run.record, run.times["tick"]
    way = stride.Way.of(run)
    fell = bool(record["true_fell"].any())
    end = float(record["time"][-1])
    down = float(record["time"][np.argmax(record["true_fell"])]) if fell else math.inf
    velocity, error = way.velocity()
    pushes = [
        {
            "at": round(push.start, 4), "phase": way.phase(push.start), "direction": push.direction,
            "impulse": push.impulse, "dv": push.impulse / robot.mass, "survived": down > push.end + AFTER,
            **metrics.push_place(run, push),
        }
        for push in run.pushes
    ]  # fmt: skip
    return {
        "robot": robot.spec,
        "mass": robot.mass,
        "fell": fell,
        "time": end,
        "distance": way.distance,
        "velocity": velocity,
        "velocity_error": error,
        "heading_error_deg": math.degrees(way.heading_error()),
        "steps": len(way.landings),
        "step_time": way.step_time,
        "step_length": way.step_length,
        "slip_max": metrics.slip(record),
        "cost_of_transport": way.cost_of_transport(),
        "pushes": pushes,
        "steps_to_recover": way.steps_to_recover(max((p.end for p in run.pushes), default=math.nan)),
        "torque_ratio_max": float((abs(record["true_torque"]) / robot.torque_limit).max()),
        "torque_roughness": metrics.torque_roughness(record),
        "estimation": metrics.estimation(record, run.pushes, run.reported) | way.odometry(),
        "modes": [[round(t, 4), name] for t, name in record.mode_changes],
        "pushes_reported": len(run.reported),
        "tick": timing.percentiles(ticks, tail=True) | {"missed": int((ticks > run.dt).sum())},
        "rtf": round(record.length * run.dt / run.wall, 3),
    }


def title(run: Run) -> str:
    """The run in one line."""
    result = run.result
    x, y, turn = result["velocity"]
    how = f"{x:.2f} m/s forward, {y:.2f} to the left, {turn:.2f} rad/s"
    pushed = f", pushed {len(run.pushes)} time{'s' * (len(run.pushes) != 1)}" if run.pushes else ""
    verdict = f"fell after {result['time']:.1f} s" if result["fell"] else f"{result['distance']:.1f} m"
    return f"{result['robot']}, {result['mass']:.0f} kg, walks {how}{pushed}: {verdict}, {result['steps']} steps"
