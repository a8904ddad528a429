"""The session in a process of its own, at the pace of the clock: the page asks, the loop never waits for it."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from humanoid_balance.errors import InputError
from humanoid_balance.experiments.workers import START, quiet_start
from humanoid_balance.nodes.realtime import RealTime
from humanoid_balance.skills.plan import RECOVER
from humanoid_balance.stack import RunSettings
from humanoid_balance.viewer.session import LYING, Pull, Session, Snapshot

PATIENCE = 60.0  # a robot may take this long to load [s]
LISTEN = 0.004  # commands are read this often [s]
LATE = 0.05  # time lost beyond this is not caught up [s]
PRIORITY = 1  # SCHED_FIFO, the lowest there is: pictures and everything else that is not real-time come after it
SILENCE = 2.0  # a page that has not been heard for so long is gone, not slow: the robot stops [s]
MEASURED = 1.0  # the pace is measured over this time [s]


@dataclass(frozen=True)
class PushNow:
    force: float  # [N]
    duration: float  # [s]
    direction: float  # [deg]
    link: str | None = None
    height: float | None = None  # above the ground [m]


@dataclass(frozen=True)
class Hold:
    """Pull, or let go."""

    pull: Pull | None


@dataclass(frozen=True)
class Setup:
    """Another robot, strategy or world; starts anew."""

    settings: RunSettings


@dataclass(frozen=True)
class Steer:
    """Where to go and how; silence means stop."""

    velocity: tuple[float, float, float]  # forward, left [m/s], turn [rad/s]
    gait: str = ""


@dataclass(frozen=True)
class Ask:
    skill: str


@dataclass(frozen=True)
class SetGain:
    name: str
    value: float


@dataclass(frozen=True)
class TuneGait:
    """A number of a gait's table."""

    gait: str
    state: int
    key: str
    value: float


PUT, GET_UP, LIE = "put it on its feet", "get up by itself", "leave it there"
AFTER_FALLS = (PUT, GET_UP, LIE)


@dataclass(frozen=True)
class SetPace:
    speed: float  # simulated seconds in a second; 0: pause
    after_fall: str = PUT


@dataclass(frozen=True)
class ResetNow:
    pass


Wanted = PushNow | Hold | Setup | SetPace | ResetNow | Steer | Ask | SetGain | TuneGait


class Simulation:
    """The page's side."""

    def __init__(self, settings: RunSettings) -> None:
        self._pipe, theirs = START.Pipe()
        self._process = START.Process(target=_run, args=(theirs, settings), daemon=True, name="simulation")
        with quiet_start():
            self._process.start()
        theirs.close()

    def exchange(self, commands: Sequence[Wanted]) -> Snapshot:
        """Send commands, get the present."""
        try:
            self._pipe.send(list(commands))
            if not self._pipe.poll(PATIENCE):
                raise InputError(f"the simulation has not answered for {PATIENCE:g} s")
            answer: Snapshot | InputError = self._pipe.recv()
        except (EOFError, OSError):
            raise InputError("the simulation has ended unexpectedly") from None
        if isinstance(answer, InputError):
            raise answer
        return answer

    def close(self) -> None:
        self._pipe.close()  # which ends the process
        self._process.join(5.0)
        if self._process.is_alive():
            self._process.kill()


def _run(pipe: Connection[Any, Any], settings: RunSettings) -> None:
    if (os.cpu_count() or 1) > 1:  # a control loop goes before pictures, where that is allowed and leaves them a core
        RealTime(PRIORITY).apply(lambda why: None)
    try:
        _Runner(pipe, settings).run()
    except InputError as error:
        pipe.send(error)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the page has gone


class _Runner:
    """The simulation's side."""

    def __init__(self, pipe: Connection[Any, Any], settings: RunSettings) -> None:
        self.pipe, self.session = pipe, Session(settings)
        self.pace = SetPace(1.0)
        self.steering, self.steered = Steer((0.0, 0.0, 0.0)), -SILENCE  # the last wish, and when it came [s]
        gc.collect()
        gc.freeze()  # what is there now stays; later rounds are short
        self._start()

    def _start(self) -> None:
        self.due = self.heard = self.since = time.perf_counter()
        self.ticks, self.speed = 0, 0.0

    def run(self) -> None:
        while True:
            now = time.perf_counter()
            if now - self.heard >= LISTEN:
                self.heard = now
                self._listen()
                if now - self.steered < SILENCE:  # the loop itself waits for 0.5 s only
                    self.session.steer(self.steering.velocity, self.steering.gait)
            if not self.pace.speed:
                if self.pipe.poll(LISTEN):
                    self._listen()
                self._start()
            elif now >= self.due:
                self._tick(now)
            else:
                time.sleep(min(self.due - now, LISTEN))

    def _tick(self, now: float) -> None:
        session = self.session
        session.tick()
        if session.fallen > LYING:
            self._after_fall()
        self.due = max(self.due + session.dt / self.pace.speed, now - LATE)
        self.ticks += 1
        if now - self.since > MEASURED:
            self.speed = self.ticks * session.dt / (now - self.since)
            self.since, self.ticks = now, 0

    def _after_fall(self) -> None:
        session = self.session
        if self.pace.after_fall == PUT:
            session.reset()
        elif self.pace.after_fall == GET_UP and not session.command.skill:
            session.ask(RECOVER)

    def _listen(self) -> None:
        while self.pipe.poll():
            for command in self.pipe.recv():
                self._obey(command)
            self.pipe.send(self.session.look(self.speed))
            self.session.notice = ""

    def _obey(self, command: Wanted) -> None:
        session = self.session
        match command:
            case PushNow(force, duration, direction, link, height):
                session.push(force, duration, direction, link, height)
            case Hold(pull):
                session.hold(pull)
            case ResetNow():
                session.reset()
            case Steer():
                self.steering, self.steered = command, time.perf_counter()
            case Ask(skill):
                session.ask(skill)
            case SetGain(name, value):
                session.set_gain(name, value)
            case TuneGait(gait, state, key, value):
                session.tune(gait, state, key, value)
            case SetPace():
                self.pace = command
            case Setup(settings):
                try:
                    self.session = Session(settings, session.generation + 1)
                except InputError as error:
                    session.notice = str(error)
                self._start()
