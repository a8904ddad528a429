"""The loop with its arming, as operators meet it: shared by ``balance_controller`` and ``balance_stack``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Lock

from humanoid_balance.balance.laws import Laws
from humanoid_balance.balance.supervisor import BalanceSettings, Supervisor
from humanoid_balance.loop import EstimatorBox, Loop, Tick
from humanoid_balance.nodes.rehearsal import rehearse
from humanoid_balance.nodes.safe_start import SafeStart
from humanoid_balance.plants.plant import Plant
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import Arming, Trip
from humanoid_balance.safety.bringup import BringUp, Stage
from humanoid_balance.types import RobotState, SensorFrame
from humanoid_balance.wholebody.controller import WholeBody

ONE_STEP = "the start has no stages (parameter 'staged'); ~/arm does it in one step"


class Control:
    """Runs the loop tick by tick; operators call the other methods from another thread.

    ``staged``: the robot is brought up as a lab does it, ``arm``, ``stand``, ``balance``, each on request. Otherwise
    ``arm`` takes over at once, from the standing posture only.
    """

    def __init__(
        self,
        robot: Robot,
        plant: Plant,
        estimator: EstimatorBox,
        settings: BalanceSettings,
        auto_arm: bool,
        staged: bool = False,
        plant_refuses: Callable[[], str] = lambda: "",
    ) -> None:
        """``plant_refuses`` says why the plant cannot be driven now; empty when it can."""
        self.robot, self.settings, self.auto_arm, self.staged = robot, settings, auto_arm, staged
        self.bringup = BringUp(robot, restart=self._restart, period=plant.dt)
        self.safety = self.bringup.box
        self.last: Tick | None = None
        self._estimator, self._start, self._plant_refuses = estimator, SafeStart(), plant_refuses
        self._lock = Lock()
        self.wholebody = WholeBody(robot)
        gate = self.bringup if staged else self.safety
        self.loop = Loop(plant, self, Supervisor(robot, settings), self.wholebody, gate)

    def rehearse(self) -> None:
        """When the node is configured, 0.2 s: no tick pays for what is used first."""
        rehearse(self.robot, self.settings, self.wholebody)

    # ---- the loop ----

    def tick(self) -> Tick:
        with self._lock:
            self.last = self.loop.tick()
            return self.last

    def update(self, frame: SensorFrame) -> RobotState:
        """The estimator's place in the loop: between the state and what acts on it, an automatic start may come in."""
        state = self._estimator.update(frame)
        if self.auto_arm and self.safety.arming is Arming.DISARMED and not self._refusal(state):
            self._take_over(frame)
        return state

    @property
    def mode(self) -> str:
        """The balance mode while the controller acts, the stage of the start otherwise."""
        acting = self.bringup.balancing if self.staged else self.safety.arming is Arming.ACTIVE
        if acting and self.last is not None:
            return self.last.reference.mode
        if self.staged:
            return "hoist" if self.bringup.stage is Stage.ACTIVE else self.bringup.stage.value
        return self.safety.arming.value

    # ---- operators; each gives the reason of a refusal, or an empty text ----

    def arm(self) -> str:
        """Take over, or in a staged start: brake, ready to stand up."""
        with self._lock:
            if self.safety.arming is Arming.ACTIVE:
                return ""
            if self.safety.trip is not None:
                return f"tripped: {self.safety.trip}; call ~/reset first"
            if self.last is None:
                return "no sensors yet"
            if self.staged:
                return self._plant_refuses() or self.bringup.arm() or ""
            why = self._refusal(self.last.state)
            if not why:
                self._take_over(self.last.frame)
            return why

    def stand(self) -> str:
        """Move to the standing posture, slowly, and hold it."""
        with self._lock:
            return (self.bringup.stand() or "") if self.staged else ONE_STEP

    def balance(self) -> str:
        """Let the controller take over from the held posture."""
        with self._lock:
            return (self.bringup.activate() or "") if self.staged else ONE_STEP

    def disarm(self) -> None:
        with self._lock:
            self.auto_arm = False
            self.bringup.disarm()

    def stop(self, trip: Trip) -> None:
        """Damping, latched."""
        with self._lock:
            self.safety.stop(trip)

    def reset(self) -> None:
        """Clear a trip; the robot is disarmed afterwards, and an automatic start is off."""
        with self._lock:
            self.auto_arm = False
            self.bringup.reset()

    def set_gain(self, name: str, value: float) -> None:
        """Change a gain of the balance laws while they act."""
        with self._lock:
            self.robot.config = replace(self.robot.config, gains=replace(self.robot.config.gains, **{name: value}))
            balance = self.loop.balance
            if isinstance(balance, Supervisor):
                balance.maker.laws = Laws(self.robot)

    def _refusal(self, state: RobotState) -> str:
        return self._start.refuses(self.robot, state) or self._plant_refuses()

    def _take_over(self, frame: SensorFrame) -> None:
        """In one step, from the torque that the motors give now."""
        self._restart()
        self.safety.arm()
        self.safety.activate(frame.torque)

    def _restart(self) -> None:
        """Balance with a supervisor that has seen nothing yet."""
        self.loop.balance = Supervisor(self.robot, self.settings)
