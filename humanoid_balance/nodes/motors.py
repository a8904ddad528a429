"""The motors of a plant as a controller sees them: in this process, behind ``plant/status``, or unknown.

One state for the operator: what the controller claims to do, the motors do. Who arms the controller arms the motors;
who resets it resets them; while they do not follow, no balance mode is shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.client import Client
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.waiting import ANSWER, DISCOVERY, ask, until
from humanoid_balance.plants.protocol import Mode
from humanoid_balance.plants.protocol.vocabulary import ARMED_MODES
from humanoid_balance.plants.ros import commands as ros_commands
from humanoid_balance.plants.ros.status import ARMED, TOPIC, Motors, PlantStatus
from humanoid_balance.plants.serial.events import Severity
from humanoid_balance.plants.serial.line import SWITCHED_OFF
from humanoid_balance.plants.serial.plant import SerialPlant
from humanoid_balance.plants.serial.resets import RESETTING
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import Trip
from humanoid_balance.types import Array

STOPPING = 1.0  # a board brakes for 0.5 s before it counts as stopped, and can be reset [s]
UNREPORTED = "the plant has not reported yet; next: try again"
UNHEARD = f"nobody listens to {ros_commands.TOPIC}; next: start the plant"
FOREIGN = 1.0  # a plant that listens for so long and reports nothing is somebody else's effort interface [s]
STOPPED_MEANWHILE = "stopped again meanwhile; next: reset"
ARMING = 1.0  # boards get so long to confirm that they are armed [s]


class PlantMotors(Protocol):
    """What the operator's requests need; also the ``Machinery`` of the bring-up."""

    @property
    def state(self) -> Motors | None:
        """None: nothing is known, as of a plant of somebody else."""
        ...

    @property
    def takes_gains(self) -> bool:
        """Stiffness and damping may be part of a command."""
        ...

    def tell(self) -> str: ...  # in words, with what to do next

    def trouble(self, armed: bool) -> Trip | None: ...

    def torque_share(self) -> Array: ...

    def stop(self, reason: str) -> None: ...

    def reset(self) -> str | None: ...

    async def arm(self, on: bool) -> str: ...  # before the controller is armed, after it was disarmed

    async def release(self) -> str: ...  # before the controller is reset

    async def clear(self) -> str: ...  # after it: until they are disarmed again


class Boards:
    """Motor boards in this process."""

    takes_gains = True

    def __init__(self, plant: SerialPlant) -> None:
        self.plant = plant
        self.trouble, self.torque_share = plant.trouble, plant.torque_share
        self.stop, self.reset = plant.stop, plant.reset
        self._frames = [(time.monotonic(), 0, "")] * len(plant.buses)  # when, bad frames by then, what came of it

    @property
    def armed(self) -> bool:
        """Something else than DISARMED is asked of them."""
        return any(mode in (*ARMED_MODES, Mode.LAPSED) for mode in self.plant.modes)

    @property
    def state(self) -> Motors:
        return motors_of(self.plant, self.armed)

    @property
    def sign(self) -> object:
        """Changes with what the motors do."""
        plant = self.plant
        return [(bus.connected, bus.mode) for bus in plant.buses], plant.gate.stopped, plant.gate.latched

    def log(self, log: Any) -> None:
        """What happened on the lines since the last time."""
        for event in self.plant.events():
            if event.severity is Severity.ERROR:
                log.error(str(event))
            elif event.severity is Severity.WARN:
                log.warning(str(event))
            else:
                log.info(str(event))

    def status(self, node: str, process: str, armed: bool) -> PlantStatus:
        """For ``plant/status``; ``armed``: they shall be."""
        state = motors_of(self.plant, armed)
        trouble = None if state in (Motors.DISARMED, Motors.DISARMING, *ARMED) else self.plant.trouble(armed)
        if self.plant.gate.stopped and state is Motors.STOPPED:  # the boards may not have said so yet
            trouble = Trip(self.plant.gate.reason, "all boards", 1.0, 0.0)
        share = self.plant.config.torque * self.plant.torque_share()  # of the limits that the controller knows
        low = {self.plant.robot.joint_names[i]: float(share[i]) for i in np.flatnonzero(share < 1.0)}
        return PlantStatus(node, process, True, state, trouble, low)

    def tell(self) -> str:
        return self.status("", "", self.armed).text

    def figures(self) -> dict[str, object]:
        """For diagnostics."""
        figures: dict[str, object] = {"boards": ", ".join(mode.name for mode in self.plant.modes)}
        for bus in self.plant.bus_health():
            figures |= {f"{bus.board} lost frames": bus.lost, f"{bus.board} damaged frames": bus.errors}
        return figures

    def warnings(self) -> list[str]:
        """Frames that were lost or came damaged in the last second, and motors with less torque than usual."""
        now, told = time.monotonic(), []
        for k, bus in enumerate(self.plant.bus_health()):
            then, bad, what = self._frames[k]
            if now - then >= 1.0:
                new = bus.lost + bus.errors - bad
                what = f"{bus.board}: {new} frames lost or damaged in {now - then:.0f} s" if new > 0 else ""
                self._frames[k] = (now, bus.lost + bus.errors, what)
            told.append(what)
        share = self.plant.torque_share()
        weak = int(np.argmin(share))
        if share[weak] < 1.0:
            told.append(f"{self.plant.robot.joint_names[weak]} may use {share[weak]:.0%} of its torque (heat, voltage)")
        return [what for what in told if what]

    async def arm(self, on: bool) -> str:
        """They follow the controller's commands by themselves: damping arms them, nothing disarms them."""
        return ""

    async def release(self) -> str:
        """A board brakes before it can be reset."""
        await until(lambda: Mode.STOPPING not in self.plant.modes, STOPPING)
        return ""

    async def clear(self) -> str:
        disarmed = await until(lambda: self.state is Motors.DISARMED, RESETTING)
        return "" if disarmed else self.tell()


def motors_of(plant: SerialPlant, armed: bool) -> Motors:
    """What the boards do; ``armed``: they shall be."""
    gate, modes = plant.gate, plant.modes
    if not all(bus.connected for bus in plant.buses):
        return Motors.LOST
    if gate.stopped or any(mode in SWITCHED_OFF for mode in modes):
        return Motors.STOPPED
    if gate.latched:
        return Motors.LATCHED
    if all(mode in (Mode.TORQUE, Mode.IMPEDANCE) for mode in modes):
        return Motors.FOLLOWING
    if armed:
        return Motors.BRAKING if all(mode in ARMED_MODES for mode in modes) else Motors.ARMING
    if all(mode is Mode.DISARMED for mode in modes):
        return Motors.DISARMED
    return Motors.DISARMING if all(mode in (Mode.DISARMED, *ARMED_MODES) for mode in modes) else Motors.LATCHED


class PlantLink:
    """A plant behind topics. One that never reports on ``plant/status`` is somebody else's effort interface."""

    def __init__(
        self, node: BoxNode, robot: Robot, drive_gains: str, silence: float, listeners: Callable[[], int]
    ) -> None:
        """``drive_gains``: ``auto`` sends gains to plants that report, ``false`` to none.

        A plant with motors that reports nothing for ``silence`` [s] is lost. ``listeners``: to commands, now.
        """
        self._node, self._robot, self._gains, self._silence = node, robot, drive_gains == "auto", silence
        self._status: PlantStatus | None = None
        self._arrived = 0.0  # on the steady clock [s]
        self._listeners = listeners
        self._listens: float | None = None  # since when a plant that has not reported does, on the steady clock [s]
        self._group = ReentrantCallbackGroup()
        self._clients: dict[str, Client] = {}
        self._stops: list[tuple[Client, Any]] = []  # emergency stops that were asked for, with their answers
        self._ones = np.ones(robot.n)

    def on_status(self, message: DiagnosticStatus) -> None:
        """In the loop's thread."""
        status = PlantStatus.of(message)
        if status is None:
            self._node.refuse(f"{TOPIC} refused: not of our form", f"from '{message.name}'")
        else:
            self._status, self._arrived = status, time.monotonic()

    def missing(self) -> str:
        """Why it is not known yet what the plant is, or empty.

        A node's topics are not discovered at once: one that listens already may be about to report.
        """
        if not self._listeners():
            self._listens = None
            return UNHEARD
        if self._status is not None:
            return ""
        self._listens = self._listens or time.monotonic()
        young = time.monotonic() - self._listens < FOREIGN
        return UNREPORTED if young or self._node.count_publishers(TOPIC) else ""

    @property
    def takes_gains(self) -> bool:
        return self._gains and self._status is not None

    @property
    def _armable(self) -> PlantStatus | None:
        status = self._status
        return status if status is not None and status.armable else None

    @property
    def state(self) -> Motors | None:
        status = self._armable
        if status is None:
            return None
        return status.motors if time.monotonic() - self._arrived <= self._silence else Motors.LOST

    def tell(self) -> str:
        status = self._armable
        if status is None:
            return "the plant does not report"
        return status.text if self.state is status.motors else str(self._lost())

    def _lost(self) -> Trip:
        assert self._status is not None
        return Trip("the plant is silent [s]", self._status.node, time.monotonic() - self._arrived, self._silence)

    def trouble(self, armed: bool) -> Trip | None:
        """What forbids the controller to be armed: its motors have to be so before it, and all the time."""
        status, state = self._armable, self.state
        if status is None or state in ARMED:
            return None
        if state is not status.motors:
            return self._lost()
        return status.trouble or Trip(f"motors are {status.motors.value}", status.node, 0.0, 1.0)

    def torque_share(self) -> Array:
        status = self._armable
        if status is None or not status.shares:
            return self._ones
        return np.array([status.shares.get(name, 1.0) for name in self._robot.joint_names])

    def stop(self, reason: str) -> None:
        """Without waiting for an answer; ``release`` does."""
        client = self._client(Trigger, "estop")
        if client is not None and client.service_is_ready():
            self._stops.append((client, client.call_async(Trigger.Request())))

    async def _stopped(self) -> bool:
        """Every stop has been answered: one that arrived behind a reset would stop the plant again, for good."""
        stops, self._stops = self._stops, []
        answered = await until(lambda: all(answer.done() for _, answer in stops), ANSWER)
        for client, answer in stops:
            client.remove_pending_request(answer)
        return answered

    def reset(self) -> str | None:
        """``release`` does it, and waits."""
        return None

    async def arm(self, on: bool) -> str:
        client = self._client(SetBool, "arm")
        if client is None or self._armable is None:
            return ""
        if self.state is Motors.LOST and on:
            return self.tell()
        why = await ask(client, SetBool.Request(data=on), ANSWER)
        if why or not on:
            return why
        return "" if await until(lambda: self.state in ARMED, ARMING) else self.tell()

    async def release(self) -> str:
        """A plant that has just been started, or this node, is waited for: what it holds has to be reset, too."""
        if not await until(lambda: not self.missing(), DISCOVERY):
            return self.missing()
        if not await self._stopped():
            return "the plant did not answer the emergency stop; next: reset again"
        client = self._client(Trigger, "reset")
        return "" if client is None else await ask(client, Trigger.Request(), ANSWER + RESETTING + STOPPING)

    async def clear(self) -> str:
        if self._armable is None or await until(lambda: self.state is Motors.DISARMED, ARMING):
            return ""
        return self.tell()

    def _client(self, kind: type, service: str) -> Client | None:
        """Of the plant's service; None while no plant has reported."""
        if self._status is None:
            return None
        name = f"{self._status.node}/{service}"
        if name not in self._clients:
            self._clients[name] = self._node.create_client(kind, name, callback_group=self._group)
        return self._clients[name]
