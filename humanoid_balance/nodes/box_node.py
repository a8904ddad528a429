"""What all nodes share: a lifecycle, checked parameters, a loop in a thread of its own, a latched fault, diagnostics.

configure validates and allocates, activate starts the loop, deactivate ends it in damping, cleanup lets go. When the
loop raises, the node goes to damping, keeps the reason as its fault and deactivates itself; ``~/reset`` clears it.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from lifecycle_msgs.msg import State
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from std_srvs.srv import Trigger

from humanoid_balance.errors import InputError
from humanoid_balance.nodes import rank
from humanoid_balance.nodes.claims import Claims
from humanoid_balance.nodes.inbox import Inbox
from humanoid_balance.nodes.parameters import Entry, Parameters
from humanoid_balance.nodes.realtime import Breaks, QuietCollector, RealTime, Stopwatch
from humanoid_balance.nodes.throttle import Throttle
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
DIAGNOSTICS = 0.2  # [s]
SELDOM = 10  # rounds of diagnostics between two sweeps of young garbage, and two looks at the times of the ticks
SWEEP, LOOK = 3, 7  # the rounds in which these are done: each is short enough for one break of the loop, both are not
JOIN = 5.0  # the loop gets this long to end [s]
LATE = 0.01  # share of late ticks from which on a loop is slow
FEW = 200  # ticks that say something about that

COMMON = (
    Entry("robot", "human", "the robot: a name, name:option=value or the path of a YAML file"),
    Entry("autostart", False, "configure and activate when the process starts, without a lifecycle manager"),
    Entry("priority", 0, "SCHED_FIFO priority of the loop, its process gets the one below; 0: none", 0, 99),
    Entry("cpus", [], "CPUs the loop may run on; none: all", of=int),
    Entry("lock_memory", False, "keep all memory of the process in RAM"),
)


class BoxNode(LifecycleNode):
    """Subclasses give ``setup``, ``loop`` and ``teardown``, and may add to ``diagnose``."""

    roles: tuple[str, ...] = ()  # that only one node of a namespace may have, see ``claims``

    def __init__(self, name: str, entries: Iterable[Entry], **options: Any) -> None:
        super().__init__(name, **options)
        self.parameters = Parameters(self, (*COMMON, *entries), lambda: self.active)
        self.parameters.changed = self._on_change
        self.log = self.get_logger()
        self.refuse = Throttle(self.log.warning)
        self.watch = Stopwatch()
        self.breaks = Breaks()  # of the loop, for the executor; not held: it runs whenever it likes
        self.fault = ""  # latched
        self.running = False  # the loop goes on while this is True
        self.finished = False  # the node has done its work, the process may end
        self.configured = False
        self.unwell = Throttle(self.log.warning)
        self._rounds = 0
        self._counted = (0, 0, "")  # ticks and late ones when they were last looked at, and what came of it
        self._percentiles: dict[str, object] = {}
        self._thread: threading.Thread | None = None
        self._own: set[Any] = set()  # entities that are there before ``setup``
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_timer(DIAGNOSTICS, self._on_timer)
        self.create_service(Trigger, "~/reset", self._on_reset, callback_group=ReentrantCallbackGroup())
        self._claims = Claims(self, self.roles)
        self._own = set(self._entities())

    # ---- for subclasses ----

    def setup(self, robot: Robot) -> None:
        """Allocate what the loop needs; raise InputError for what cannot be used."""
        raise NotImplementedError

    def loop(self) -> None:
        """Run while ``self.running``; end in damping however it ends."""
        raise NotImplementedError

    def teardown(self) -> None:
        """Close what ``setup`` opened; its publishers, subscriptions, services and timers go by themselves."""

    async def reset(self) -> str:
        """Clear what is latched; why it cannot be cleared, or empty."""
        return ""

    def on_live_change(self, name: str, value: Any) -> None:
        """A live parameter has a new value."""

    def diagnose(self) -> tuple[str, dict[str, object]]:
        """What is wrong, or empty, and the figures."""
        return "", {}

    def warnings(self) -> list[str]:
        """What goes on, but not well."""
        return []

    # ---- lifecycle ----

    @property
    def active(self) -> bool:
        return bool(self._state_machine.current_state[0] == State.PRIMARY_STATE_ACTIVE)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            self.parameters.check()
            self.robot = registry.load(self.parameters["robot"])
            self.realtime = RealTime(
                self.parameters["priority"], tuple(self.parameters["cpus"]), self.parameters["lock_memory"]
            )
            self.inbox = Inbox(self, self.refuse)
            self.setup(self.robot)
        except InputError as error:
            self.log.error(f"not configured: {error}")
            self._destroy_entities()
            return FAILURE
        self.configured = True
        self.log.info(f"configured for {self.robot.spec}")  # the first line takes 20 ms: not the loop's time
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        if self.fault:
            self.log.error(f"not activated, a fault is latched: {self.fault}; call ~/reset")
            return FAILURE
        if rival := self._claims.refused():
            self.log.error(f"not activated: {rival}; end it, or take another namespace")
            return FAILURE
        result = super().on_activate(state)
        self.watch = Stopwatch()
        self._percentiles = {}
        rank.take_up()
        self.running = True
        self._thread = threading.Thread(target=self._run, name=self.get_name(), daemon=True)
        self._thread.start()
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.halt()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.close()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.halt()
        return super().on_shutdown(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.halt()
        self.fault = self.fault or f"error while {state.label}"
        return SUCCESS

    def close(self) -> None:
        """Let go of all that ``setup`` made."""
        self.halt()
        if self.configured:
            self.configured = False
            self.teardown()
            self._destroy_entities()

    def _entities(self) -> list[Any]:
        return [*self.publishers, *self.subscriptions, *self.services, *self.clients, *self.timers, *self.guards]

    def _destroy_entities(self) -> None:
        destroyers: tuple[tuple[Iterable[Any], Callable[[Any], object]], ...] = (
            (self.publishers, self.destroy_publisher), (self.subscriptions, self.destroy_subscription),
            (self.services, self.destroy_service), (self.clients, self.destroy_client),
            (self.timers, self.destroy_timer), (self.guards, self.destroy_guard_condition),
        )  # fmt: skip
        for entities, destroy in destroyers:
            for entity in [e for e in entities if e not in self._own]:
                destroy(entity)

    def halt(self) -> None:
        """End the loop; it leaves the robot in damping."""
        self.running = False
        self._claims.drop()
        if self._thread is not None:
            self.inbox.wake()
            self._thread.join(JOIN)
            self._thread = None

    def _run(self) -> None:
        self.realtime.apply(self.log.warning)
        try:
            with QuietCollector():
                self.loop()
        except Exception as error:
            self.latch(f"{type(error).__name__}: {error}" if not isinstance(error, InputError) else str(error))
            if not isinstance(error, InputError):
                self.log.error(traceback.format_exc())
        self.running = False

    def latch(self, fault: str) -> None:
        """Keep the first fault until it is reset."""
        if not self.fault:
            self.fault = fault
            self.log.error(f"fault, latched until ~/reset: {fault}")

    def _on_change(self, name: str, value: Any) -> None:
        if self.configured:
            self.on_live_change(name, value)

    async def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.message = await self.reset() if self.configured else ""
        response.success = not response.message
        if response.success:
            self.fault = ""
        return response

    # ---- diagnostics ----

    def _on_timer(self) -> None:
        if self.active and not self.running:  # the loop ended by itself
            self.trigger_deactivate()
        if self.running and (rival := self._claims.hold()):
            self.latch(f"{rival}; end it, or take another namespace")
            self.trigger_deactivate()
        self._rounds += 1
        if self.running and self._rounds % SELDOM == SWEEP:
            QuietCollector.sweep()
        wrong, figures = self.diagnose() if self.running else ("", {})
        wrong = self.fault or wrong
        slow = self._slow() if self.running else ""
        unwell = "; ".join(filter(None, (slow, *self.warnings()))) if self.running else ""
        label = self._state_machine.current_state[1]
        figures = {"state": label, "robot": self.parameters["robot"], **figures, **self._timing()}
        figures |= {f"refused: {kind}": count for kind, count in list(self.refuse.counts.items())}
        status = DiagnosticStatus(
            level=DiagnosticStatus.ERROR if wrong else DiagnosticStatus.WARN if unwell else DiagnosticStatus.OK,
            name=f"humanoid_balance: {self.get_fully_qualified_name()}",
            hardware_id=self.parameters["robot"],
            message=wrong or unwell or label,
            values=[KeyValue(key=key, value=_text(value)) for key, value in figures.items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(array)

    def _slow(self) -> str:
        """Too many late ticks of late; told in the log as well, now and then."""
        watch, (ticks, late, slow) = self.watch, self._counted
        if watch.ticks < ticks:  # the loop was started again
            ticks = late = 0
            slow = ""
        if watch.ticks - ticks >= FEW:
            share = (watch.overruns - late) / (watch.ticks - ticks)
            slow = f"{share:.0%} of the ticks are late" if share > LATE else ""
            ticks, late = watch.ticks, watch.overruns
            if slow:
                self.unwell("the loop does not keep its period", f"{slow}; see docs/ros.md, real-time set-up")
        self._counted = (ticks, late, slow)
        return slow

    def _timing(self) -> dict[str, object]:
        watch = self.watch
        if not watch.ticks:
            return {}
        if not self._percentiles or self._rounds % SELDOM == LOOK:
            self._percentiles = {"tick median [us]": watch.percentile(50), "tick p99 [us]": watch.percentile(99)}
        return {"ticks": watch.ticks, "overruns": watch.overruns, **self._percentiles}

    def starts_by_itself(self) -> bool:
        """Configure and activate where ``autostart`` asks for it; False when that was refused."""
        if self.parameters["autostart"] is not True:
            return True
        return self.trigger_configure() == SUCCESS and self.trigger_activate() == SUCCESS


def _text(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
