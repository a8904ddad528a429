"""Runs virtual boards on their endpoints: free running with the wall clock, or in lock-step with the host."""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_balance.plants.board.body import Body
from humanoid_balance.plants.board.device import Device
from humanoid_balance.plants.board.endpoint import Endpoint
from humanoid_balance.plants.board.faults import FaultPlan, PlannedFault
from humanoid_balance.plants.board.line import Disturbance, Line
from humanoid_balance.plants.protocol import Mode
from humanoid_balance.plants.protocol.vocabulary import LOCKSTEP_REPEAT, LOCKSTEP_TIMEOUT
from humanoid_balance.types import Array

SLIP = 0.005  # a board that is so late lets simulated time fall behind, instead of hurrying after the wall [s]
PATIENCE = 0.05  # longest sleep [s]

RECENT = 100  # turns over which the board remembers how late it was: five watchdogs


@dataclass(frozen=True, slots=True)
class ModeChange:
    """A board has changed its mode."""

    wall: float  # the machine's monotonic clock [s]
    board: Device
    before: Mode
    now: Mode
    starved: float  # since the last valid command, by the board's clock [s]
    late: float  # the most that the board's process was behind the wall's clock of late [s]


ModeLog = Callable[[ModeChange], None]


class Server:
    """The boards of one body, each with its cable."""

    def __init__(
        self,
        body: Body,
        boards: Sequence[Device],
        endpoints: Sequence[Endpoint],
        disturbance: Disturbance | None = None,
        plan: FaultPlan | None = None,
        seed: int = 0,
        log: ModeLog | None = None,
    ) -> None:
        self.body, self.boards, self.endpoints = body, tuple(boards), tuple(endpoints)
        self.plan = plan or FaultPlan()
        lines = [Line(disturbance or Disturbance(), 2 * seed + k) for k in range(2 * len(boards))]
        self._down, self._up = lines[::2], lines[1::2]  # from the host, to the host
        self._was_connected = [False] * len(boards)
        self._modes = [board.mode for board in boards]
        self._replug = [float("inf")] * len(boards)  # when a pulled plug goes back in [s]
        self._log = log
        self._late: deque[float] = deque(maxlen=RECENT)  # of the last turns [s]
        self._turn_ended = self._next = time.monotonic()
        self._asked = 0.0  # when the present lock-step sample was sent first ...
        self._repeated = 0.0  # ... and last [s]
        self._waiting = False  # in lock-step, for the host
        self._torque = np.zeros(body.robot.n)

    def run(self, stopped: Callable[[], bool]) -> None:
        """Serve until ``stopped``."""
        while not stopped():
            if all(board.lockstep for board in self.boards):
                self._lockstep_turn()
            else:
                self._waiting = False
                self._free_turn()

    def close(self) -> None:
        for endpoint in self.endpoints:
            endpoint.close()

    # ---- free running ----

    def _free_turn(self) -> None:
        """One physics step on the wall's clock."""
        step = 1e-6 * self.body.timestep
        while (wall := time.monotonic()) < self._next:
            self._exchange(wall, self.body.now + min(1e6 * (wall - self._turn_ended), self.body.timestep - 1))
            if all(board.lockstep for board in self.boards):
                return
            self._sleep(min(self._next, *self._dues(), wall + PATIENCE) - time.monotonic())
        self._late.append(wall - self._next)
        self._advance(wall)
        self._sample()
        self._turn_ended = wall
        self._exchange(time.monotonic(), self.body.now)
        self._next += step
        late = time.monotonic() - self._next
        if late > SLIP:
            self._next += late
            for board in self.boards:
                board.lose_time(round(1e6 * late))

    def _sample(self) -> None:
        now, sensed = self.body.now, None
        for board in self.boards:
            if board.period and now - board.sampled >= board.period:
                sensed = sensed or self.body.sense()
                board.sample(sensed, now)

    # ---- lock-step ----

    def _lockstep_turn(self) -> None:
        """Wait a moment for the host; when all boards have their answer, step the world."""
        wall = time.monotonic()
        if not self._waiting:
            self._ask(wall)
        self._exchange(wall, self.body.now)
        if all(board.answered for board in self.boards):
            period = max(board.period for board in self.boards)
            for _ in range(max(1, round(period / self.body.timestep))):
                self._advance(wall)
            self._ask(wall)
            self._exchange(wall, self.body.now)
        elif wall - self._asked > LOCKSTEP_TIMEOUT:
            for board in self.boards:
                board.port_closed(self.body.now)
            self._next = self._turn_ended = wall
        elif wall - self._repeated > LOCKSTEP_REPEAT:
            self._repeated = wall
            for board in self.boards:
                board.repeat_sample()
        else:
            self._sleep(min(PATIENCE, *(due - wall for due in self._dues())))

    def _ask(self, wall: float) -> None:
        sensed = self.body.sense()
        for board in self.boards:
            board.sample(sensed, self.body.now)
        self._asked = self._repeated = wall
        self._waiting = True

    # ---- the world ----

    def _advance(self, wall: float) -> None:
        """Faults, watchdogs, one physics step."""
        now = self.body.now
        if self.plan.faults:
            self._inflict(self.plan.present(now), wall)
        for board in self.boards:
            board.tick(now)
        self._report(wall)
        if self.body.held and any(board.following for board in self.boards):
            self.body.held = False
            self.plan.let_go(now)
        self.body.step(self._law)

    def _law(self, position: Array, velocity: Array) -> Array:
        for board in self.boards:
            self._torque[board.index] = board.torque(position, velocity)
        return self._torque

    def _report(self, wall: float) -> None:
        for k, board in enumerate(self.boards):
            if board.mode is not self._modes[k]:
                if self._log is not None:
                    starved, late = 1e-6 * board.starved(self.body.now), max(self._late, default=0.0)
                    self._log(ModeChange(wall, board, self._modes[k], board.mode, starved, late))
                if self._modes[k] is Mode.STOPPED and not any(board.following for board in self.boards):
                    self.body.put_back()  # whoever resets a stop has the robot on its feet again
                self._modes[k] = board.mode

    def _inflict(self, faults: Sequence[PlannedFault], wall: float) -> None:
        for fault in faults:
            for k in range(len(self.boards)):
                if fault.kind == "stall":
                    self._down[k].blocked_until = self._up[k].blocked_until = wall + fault.duration
                elif fault.kind == "silence":
                    self._down[k].silent_until = self._up[k].silent_until = wall + fault.duration
                elif fault.kind == "unplug":
                    self.endpoints[k].unplug()
                    self._replug[k] = wall + fault.duration
                elif fault.kind == "reboot":
                    self.boards[k].power_up()
        for board in self.boards:
            board.ail(faults)

    # ---- the cables ----

    def _exchange(self, wall: float, now: float) -> None:
        """Move bytes; ``now`` is the boards' clock [µs]."""
        for k, (board, endpoint) in enumerate(zip(self.boards, self.endpoints, strict=True)):
            if wall >= self._replug[k]:
                endpoint.plug()
                self._replug[k] = float("inf")
            data = endpoint.read()
            connected = endpoint.connected()
            if self._was_connected[k] and not connected:
                board.port_closed(int(now))
                self._down[k].clear()
                self._up[k].clear()
                self._report(wall)
            self._was_connected[k] = connected
            if data:
                self._down[k].send(data, wall)
            arrived = self._down[k].due(wall)
            if arrived and board.receive(arrived, int(now)) and not board.period:
                board.sample(self.body.sense(), int(now))
            if board.out and (arrived or not board.half_duplex):
                self._up[k].send(b"".join(board.out), wall)
                board.out.clear()
            if leaving := self._up[k].due(wall):
                endpoint.write(leaving)

    def _dues(self) -> list[float]:
        """When delayed bytes arrive, and plugs go back in [s]."""
        dues = [due for line in (*self._down, *self._up) if (due := line.next_due()) is not None]
        return [*dues, *self._replug, float("inf")]

    def _sleep(self, seconds: float) -> None:
        if seconds > 0.0:
            files = [file for endpoint in self.endpoints for file in endpoint.files()]
            select.select(files, [], [], seconds)
