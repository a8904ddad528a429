"""The loop with its arming, as operators meet it: shared by ``balance_controller`` and ``balance_stack``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np
import pinocchio as pin

from humanoid_balance.balance.laws import Laws
from humanoid_balance.balance.supervisor import BalanceSettings, Supervisor
from humanoid_balance.loop import EstimatorBox, Loop, Tick
from humanoid_balance.plants.plant import Plant
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import Arming, SafetyBox, Trip
from humanoid_balance.types import RobotState, SensorFrame
from humanoid_balance.wholebody.controller import WholeBody


@dataclass(frozen=True)
class SafeStart:
    """From where the controller may take over. Elsewhere its first torques would be a jump."""

    joint: float = 0.35  # of a joint from the standing posture [rad]
    lean: float = 0.15  # of the base [rad]

    def refuses(self, robot: Robot, state: RobotState) -> str:
        """Why not from here; empty when it may."""
        if not state.valid:
            return f"sensors are not usable: {', '.join(state.faults) or 'no complete sample'}"
        if not state.contact.all():
            return f"the {('left', 'right')[int(np.argmin(state.contact))]} foot is not on the ground"
        away = np.abs(state.q[7:] - robot.posture)
        i = int(np.argmax(away))
        if away[i] > self.joint:
            return f"joint {robot.joint_names[i]} is {away[i]:.2f} rad from the standing posture, limit {self.joint:g}"
        turned = pin.Quaternion(state.q[3:7]) * pin.Quaternion(robot.q_nominal[3:7]).conjugate()
        lean = math.acos(max(-1.0, 1.0 - 2.0 * (turned.x**2 + turned.y**2)))
        return f"the body leans {lean:.2f} rad, limit {self.lean:g}" if lean > self.lean else ""


class Control:
    """Runs the loop tick by tick; operators call the other methods from another thread."""

    def __init__(
        self,
        robot: Robot,
        plant: Plant,
        estimator: EstimatorBox,
        settings: BalanceSettings,
        auto_arm: bool,
        plant_refuses: Callable[[], str] = lambda: "",
    ) -> None:
        """``plant_refuses`` says why the plant cannot be driven now; empty when it can."""
        self.robot, self.settings, self.auto_arm = robot, settings, auto_arm
        self._plant_refuses = plant_refuses
        self.safety = SafetyBox(robot)
        self.last: Tick | None = None
        self._estimator, self._start = estimator, SafeStart()
        self._lock = Lock()
        self.wholebody = WholeBody(robot)
        self.loop = Loop(plant, self, Supervisor(robot, settings), self.wholebody, self.safety)

    # ---- the loop ----

    def tick(self) -> Tick:
        with self._lock:
            self.last = self.loop.tick()
            return self.last

    def update(self, frame: SensorFrame) -> RobotState:
        """The estimator's place in the loop: between the state and what acts on it, an automatic start may come in."""
        state = self._estimator.update(frame)
        if self.auto_arm and self.safety.arming is Arming.DISARMED and not self._refusal(state):
            self._activate(frame)
        return state

    @property
    def mode(self) -> str:
        """The balance mode while the controller acts, the arming otherwise."""
        if self.safety.arming is Arming.ACTIVE and self.last is not None:
            return self.last.reference.mode
        return self.safety.arming.value

    # ---- operators ----

    def arm(self) -> str:
        """Take over; why not, or empty."""
        with self._lock:
            if self.safety.arming is Arming.ACTIVE:
                return ""
            if self.safety.trip is not None:
                return f"tripped: {self.safety.trip}; call ~/reset first"
            if self.last is None:
                return "no sensors yet"
            why = self._refusal(self.last.state)
            if not why:
                self._activate(self.last.frame)
            return why

    def disarm(self) -> None:
        with self._lock:
            self.auto_arm = False
            self.safety.disarm()

    def stop(self, trip: Trip) -> None:
        """Damping, latched."""
        with self._lock:
            self.safety.stop(trip)

    def reset(self) -> None:
        """Clear a trip; the robot is disarmed afterwards, and an automatic start is off."""
        with self._lock:
            self.auto_arm = False
            self.safety.reset()

    def set_gain(self, name: str, value: float) -> None:
        """Change a gain of the balance laws while they act."""
        with self._lock:
            self.robot.config = replace(self.robot.config, gains=replace(self.robot.config.gains, **{name: value}))
            balance = self.loop.balance
            if isinstance(balance, Supervisor):
                balance.maker.laws = Laws(self.robot)

    def _refusal(self, state: RobotState) -> str:
        return self._start.refuses(self.robot, state) or self._plant_refuses()

    def _activate(self, frame: SensorFrame) -> None:
        """From the torque that the motors give now, with a supervisor that has seen nothing yet."""
        self.loop.balance = Supervisor(self.robot, self.settings)
        self.safety.arm()
        self.safety.activate(frame.torque)
