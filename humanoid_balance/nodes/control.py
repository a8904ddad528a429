"""The loop with its arming, as operators meet it: shared by ``balance_controller`` and ``balance_stack``."""

from __future__ import annotations

import math
from collections.abc import Callable
from threading import Lock

from humanoid_balance import stack
from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.loop import EstimatorBox, Tick
from humanoid_balance.nodes.motors import PlantMotors
from humanoid_balance.nodes.rehearsal import rehearse
from humanoid_balance.plants.plant import Plant
from humanoid_balance.plants.ros.status import Motors
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import Arming, Trip
from humanoid_balance.safety.bringup import BringUp, Stage
from humanoid_balance.safety.takeover import SafeStart
from humanoid_balance.types import STILL, Command, RobotState, SensorFrame
from humanoid_balance.wholebody.controller import WholeBody

FOLLOW = 0.2  # motors that are given torques get so long to follow them [s]
ONE_STEP = "the start has no stages (parameter 'staged'); ~/arm does it in one step"
STAGES_ONLY = "motors that have to be armed are brought up in stages: set parameter 'staged' to true"


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
        motors: PlantMotors | None = None,
        plant_refuses: Callable[[], str] = lambda: "",
    ) -> None:
        """``motors`` as far as they have to be armed; ``plant_refuses``: why it cannot be driven now, or empty."""
        self.robot, self.settings, self.auto_arm, self.staged = robot, settings, auto_arm, staged
        self.bringup = BringUp(robot, motors, restart=self._restart, period=plant.dt)
        self.safety, self.motors = self.bringup.box, motors
        self.last: Tick | None = None
        self._start, self._plant_refuses = SafeStart(), plant_refuses
        self._followed = math.inf  # stamp at which the motors followed last, or were asked to first [s]
        self._lock = Lock()
        self._next: Supervisor | None = None  # that balances when the controller takes over
        self.loop = stack.build(robot, plant, settings, estimator, self.bringup if staged else self.safety)

    def prepare(self) -> None:
        """Have a supervisor ready that has seen nothing yet: making one takes 20 ms, as long as motors wait for a tick.

        From a thread that the loop does not wait for, while the motors are off.
        """
        if self._next is None:
            self._next = stack.balance(self.robot, self.settings)

    def rehearse(self) -> None:
        """When the node is configured, 0.2 s: no tick pays for what is used first."""
        self.prepare()
        assert isinstance(self.loop.wholebody, WholeBody)
        rehearse(self.robot, self.settings, self.loop.wholebody)

    # ---- the loop ----

    def tick(self, command: Command = STILL) -> Tick:
        """Once around the loop; what the tick before it saw may have started or stopped the controller."""
        with self._lock:
            if self.last is not None:
                self._start_by_itself(self.last)
                self._watch_motors(self.last.frame.stamp)
            self.last = self.loop.tick(command)
            return self.last

    def _start_by_itself(self, seen: Tick) -> None:
        if self.auto_arm and self.safety.arming is Arming.DISARMED and not self._refusal(seen.state):
            self._take_over(seen.frame)

    def _watch_motors(self, now: float) -> None:
        """Motors that do not follow: the robot is not where the controller thinks it drives it."""
        if self.motors is None or self.safety.arming is not Arming.ACTIVE:
            self._followed = math.inf
            return
        state = self.motors.state
        if state in (None, Motors.FOLLOWING) or self._followed > now:
            self._followed = now
        elif now - self._followed > FOLLOW:
            assert state is not None
            self.safety.stop(Trip("motors do not follow [s]", state.value, now - self._followed, FOLLOW))

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

    @property
    def ready(self) -> bool:
        """Sensors come, and the plant listens and has reported: what takes a moment after a start."""
        return self.last is not None and not self._plant_refuses()

    def may_arm(self) -> str:
        """Why not, before the motors are armed for it."""
        with self._lock:
            if self.safety.trip is not None:
                return f"tripped: {self.safety.trip}; next: reset, then arm"
            if self.last is None:
                return "no sensors yet; next: look at /diagnostics of the plant and the estimator"
            why = self._stages_only() or self._plant_refuses()
            if not why and self.staged and self.bringup.stage is Stage.DISARMED:
                why = self.bringup.may_arm() or ""
            return why

    def arm(self) -> str:
        """Take over, or in a staged start: brake, ready to stand up."""
        why = self.may_arm()
        with self._lock:
            if why or self.safety.arming in (Arming.ACTIVE, Arming.ARMED) or self.last is None:
                return why
            if self.staged:
                return self.bringup.arm() or ""
            why = self._refusal(self.last.state)
            if not why:
                self._take_over(self.last.frame)
            return why

    def stand(self) -> str:
        """Move to the standing posture, slowly, and hold it."""
        with self._lock:
            return (self._motors_refuse() or self.bringup.stand() or "") if self.staged else ONE_STEP

    def balance(self) -> str:
        """Let the controller take over from the held posture."""
        self.prepare()  # where it has been lifted and put down since it was armed
        with self._lock:
            return (self._motors_refuse() or self.bringup.activate() or "") if self.staged else ONE_STEP

    def hoist(self, on: bool) -> str:
        """The robot hangs: hold the posture, balance nothing."""
        with self._lock:
            return (self.bringup.set_hoist(on) or "") if self.staged else ONE_STEP

    def _motors_refuse(self) -> str:
        """Motors that are not armed."""
        if self.motors is None or self.bringup.stage is Stage.TRIPPED or self.motors.trouble(armed=True) is None:
            return ""
        return self.motors.tell()

    def disarm(self) -> None:
        with self._lock:
            self.auto_arm = False
            self.bringup.disarm()

    def stop(self, trip: Trip) -> None:
        """Damping, latched."""
        with self._lock:
            self.safety.stop(trip)

    def reset(self) -> str:
        """Clear a trip; the robot is disarmed afterwards, and an automatic start is off."""
        with self._lock:
            self.auto_arm = False
            return self.bringup.reset() or ""

    def set_gain(self, name: str, value: float) -> None:
        """Change a gain of the balance laws while they act."""
        with self._lock:
            for balance in (self.loop.balance, self._next):
                if isinstance(balance, Supervisor):
                    balance.set_gain(name, value)

    def _refusal(self, state: RobotState) -> str:
        return self._start.refuses(self.robot, state) or self._stages_only() or self._plant_refuses()

    def _stages_only(self) -> str:
        known = self.motors is not None and self.motors.state is not None
        return STAGES_ONLY if known and not self.staged else ""

    def _take_over(self, frame: SensorFrame) -> None:
        """In one step, from the torque that the motors give now."""
        self._restart()
        self.safety.arm()
        self.safety.activate(frame.torque)

    def _restart(self) -> None:
        """Balance with a supervisor that has seen nothing yet."""
        self.prepare()
        assert self._next is not None
        self.loop.balance, self._next = self._next, None
