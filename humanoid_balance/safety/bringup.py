"""Switching a robot on as a lab does it, one explicit request a stage; a refused request says why.

``disarmed`` (reads only) -> ``armed`` (damping) -> ``stand`` (ramp to the nominal posture) -> ``active`` (the
controller's torques). In hoist mode the robot hangs: ``active`` holds the posture, nothing balances or steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from typing import Protocol

import numpy as np

from humanoid_balance.robot.model import Robot
from humanoid_balance.safety import plausibility
from humanoid_balance.safety.box import Arming, SafetyBox
from humanoid_balance.safety.lifted import LiftWatch
from humanoid_balance.safety.stand import StandRamp, StandSettings
from humanoid_balance.safety.trip import Trip
from humanoid_balance.types import Array, RobotState, SensorFrame, TorqueCommand

HANGING = 0.2  # share of the weight on the soles below which the robot hangs
OFF = 0.15  # a joint farther from the nominal posture is not standing [rad]
LOST = 0.5  # a joint so far from the ramp does not follow it [rad]
REST = 0.02  # share of the newest sample in the accelerometer's mean


class Stage(Enum):
    DISARMED = "disarmed"
    ARMED = "armed"
    STAND = "stand"
    ACTIVE = "active"
    TRIPPED = "tripped"


class Machinery(Protocol):
    """What bring-up asks of a plant with real motors."""

    def trouble(self, armed: bool) -> Trip | None:
        """What forbids to arm, or to stay armed."""
        ...

    def torque_share(self) -> Array:
        """Part of each joint's torque limit that temperature and voltage allow (n,)."""
        ...

    def stop(self, reason: str) -> None: ...

    def reset(self) -> str | None: ...


class BringUp:
    """Takes the place of the safety box in the loop, and has one inside. Requests may come between two updates."""

    def __init__(
        self,
        robot: Robot,
        machinery: Machinery | None = None,
        settings: StandSettings | None = None,
        restart: Callable[[], None] | None = None,
        period: float = 0.001,
    ) -> None:
        """``restart`` is called when balancing begins: estimator and controller have to start from there."""
        self.robot, self.machinery = robot, machinery
        self.box = SafetyBox(robot)
        self.hoist = False
        self._settings, self._restart, self._period = settings or StandSettings(), restart, period
        self._stage = Stage.DISARMED
        self._ramp: StandRamp | None = None
        self._frame: SensorFrame | None = None
        self._state: RobotState | None = None
        self._felt: Array | None = None  # mean of the accelerometer of late (3,)
        self._lift = LiftWatch(robot)
        self._carried = math.nan  # share of the weight that the soles carried when they were last read

    @property
    def stage(self) -> Stage:
        return Stage.TRIPPED if self.box.arming is Arming.TRIPPED else self._stage

    @property
    def trip(self) -> Trip | None:
        """Why everything was stopped."""
        return self.box.trip

    @property
    def stopped(self) -> bool:
        """Only the brake leaves, whatever is asked for, until ``reset``."""
        return self.box.stopped

    @property
    def doubt(self) -> str | None:
        """What the sensors contradict each other in, while the controller goes on."""
        if self._stage is Stage.ACTIVE and self._lift.dead_soles:
            return "the soles read no load, but the legs carry the robot: foot sensors have failed"
        return None

    @property
    def balancing(self) -> bool:
        """The controller's torques go to the motors."""
        return self.stage is Stage.ACTIVE and not self.hoist

    # ---- requests: None, or the reason of the refusal ----

    def may_arm(self) -> str | None:
        """What the sensors have against it: to be asked before the motors are led up."""
        if self.stage is not Stage.DISARMED or self._frame is None:
            return self._not_from(Stage.DISARMED)
        felt = np.full(3, np.nan) if self._felt is None else self._felt
        return plausibility.positions(self.robot, self._frame) or plausibility.gravity(felt)

    def arm(self) -> str | None:
        """From ``disarmed`` to ``armed``."""
        trouble = None
        if self.stage is Stage.DISARMED and self.machinery is not None:
            trouble = self.machinery.trouble(armed=False)
        reason = str(trouble) if trouble else self.may_arm()
        if reason is None:
            self.box.arm()
            self._stage = Stage.ARMED
        return reason

    def stand(self) -> str | None:
        """From ``armed`` to ``stand``."""
        frame = self._frame
        if self.stage is not Stage.ARMED or frame is None:
            return self._not_from(Stage.ARMED)
        reason = plausibility.positions(self.robot, frame) or self._hoist_fits()
        if reason is None:
            base = np.array([0.0, 0.0, 0.0, 1.0]) if self._state is None else self._state.q[3:7]
            self._ramp = self._new_ramp(frame, base)
            self.box.activate(frame.torque)
            self._stage = Stage.STAND
        return reason

    def _new_ramp(self, frame: SensorFrame, base: Array) -> StandRamp:
        return StandRamp(self.robot, frame, base, self._load(), self._settings, self._period)

    def activate(self) -> str | None:
        """From ``stand`` to ``active``."""
        frame, ramp = self._frame, self._ramp
        if self.stage is not Stage.STAND or frame is None or ramp is None:
            return self._not_from(Stage.STAND)
        if ramp.progress(frame.stamp) < 1.0:
            return f"the ramp is at {ramp.progress(frame.stamp):.0%}"
        off = np.abs(frame.position - self.robot.posture)
        i = int(np.nanargmax(off))
        if off[i] > OFF:
            return f"joint '{self.robot.joint_names[i]}' is {off[i]:.2f} rad from its posture; allowed: {OFF}"
        reason = self._hoist_fits() or (None if self.hoist else plausibility.weight(self.robot, self._wrench()))
        if reason is None:
            self._stage = Stage.ACTIVE
            self._lift.reset()
            if not self.hoist and self._restart is not None:
                self._restart()
        return reason

    def set_hoist(self, on: bool) -> str | None:
        """Hoist mode on or off; not while the robot is active."""
        if self.stage is Stage.ACTIVE:
            return "the robot is active; allowed: in the stages before"
        self.hoist = on
        return None

    def disarm(self) -> str | None:
        """To ``disarmed`` from every stage but ``tripped``: the motors let go at once."""
        if self.stage is Stage.TRIPPED:
            return f"tripped: {self.trip}; allowed: reset first"
        self.box.disarm()
        self._stage = Stage.DISARMED
        return None

    def stop(self, reason: str = "operator") -> None:
        """Emergency stop, latched."""
        self.box.stop(Trip("emergency stop", reason, 1.0, 0.0))
        self._stage = Stage.DISARMED
        if self.machinery is not None:
            self.machinery.stop(reason)

    def reset(self) -> str | None:
        """Clear a trip or an emergency stop; ``disarmed`` afterwards."""
        reason = None if self.machinery is None else self.machinery.reset()
        if reason is None:
            self.box.reset()
            self._stage = Stage.DISARMED
        return reason

    def _not_from(self, needed: Stage) -> str:
        if self._frame is None:
            return "no sensors have been read yet"
        tripped = f" ({self.trip})" if self.stage is Stage.TRIPPED else ""
        return f"the robot is {self.stage.value}{tripped}; allowed: from {needed.value} only"

    def _hoist_fits(self) -> str | None:
        load = self._load()
        if self.hoist and not load < HANGING:
            return f"hoist mode, but the soles carry {load:.0%} of the weight; allowed: below {HANGING:.0%}"
        return None

    def _wrench(self) -> Array:
        """Of the soles (2, 6): measured, or estimated where the robot has no sensors there."""
        assert self._frame is not None and self._state is not None
        return self._frame.wrench if self.robot.config.estimation.foot_sensors else self._state.wrench

    def _load(self) -> float:
        """Share of the weight on the soles; without a reading the last one, for as long as the box allows that."""
        load = plausibility.load(self.robot, self._wrench())
        if math.isfinite(load):
            self._carried = load
        return self._carried

    # ---- the loop ----

    def update(self, frame: SensorFrame, state: RobotState, command: TorqueCommand) -> TorqueCommand:
        """The command that may go to the motors."""
        self._frame, self._state = frame, state
        if np.isfinite(frame.acceleration).all():
            felt = frame.acceleration if self._felt is None else self._felt
            self._felt = felt + REST * (frame.acceleration - felt)
        self._watch(frame)
        if self._posing(frame, state):
            assert self._ramp is not None
            command = self._ramp.command(frame, state.q[3:7], self._load())
        sent = self.box.update(frame, state, command)
        if self.box.arming is Arming.TRIPPED:
            self._stage = Stage.DISARMED
        return sent

    def _watch(self, frame: SensorFrame) -> None:
        """Trouble of the machinery, strength, and a ramp that is not followed."""
        strength = 1.0
        if self._stage is Stage.STAND and self._ramp is not None:
            strength = self._ramp.strength(frame.stamp)
            self._check_ramp(frame, self._ramp)
        share = np.ones(self.robot.n)
        if self.machinery is not None and self._stage is not Stage.DISARMED:
            trouble = self.machinery.trouble(armed=True)
            if trouble is not None:
                self.box.stop(trouble)
            share = self.machinery.torque_share()
            known = np.isfinite(share)
            if not known.all():
                where = self.robot.joint_names[int(np.argmin(known))]
                self.box.stop(
                    Trip("torque share is not a number", where, float("nan"), 1.0, "", "machinery.torque_share")
                )
        self.box.bounds.share = strength * share

    def _check_ramp(self, frame: SensorFrame, ramp: StandRamp) -> None:
        off = np.abs(frame.position - ramp.posture(frame.stamp)[0])
        i = int(np.argmax(np.where(np.isnan(off), 0.0, off)))  # a missing reading is the box's business
        if off[i] > LOST:
            where = self.robot.joint_names[i]
            self.box.stop(
                Trip("joint does not follow into the stance", where, float(off[i]), LOST, "rad", "frame.position")
            )

    def _posing(self, frame: SensorFrame, state: RobotState) -> bool:
        """The posture is held instead of the controller's torques: standing up, hanging, or just lifted."""
        if self._stage is Stage.STAND:
            return True
        if self._stage is not Stage.ACTIVE:
            return False
        if self.hoist:
            return True
        if self._lift.update(frame, state.q, self._load()):
            # No stepping in the air: slowly back to the stance; ``activate`` goes on when it stands again.
            self._stage, self._ramp = Stage.STAND, self._new_ramp(frame, state.q[3:7])
            return True
        return False
