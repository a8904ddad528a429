"""How people and programs meet a controller: its parameters, services, mode and diagnostics."""

from __future__ import annotations

from geometry_msgs.msg import PoseArray
from rclpy.callback_groups import ReentrantCallbackGroup
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import MarkerArray

from humanoid_balance.balance.settings import GET_UP, POLICIES, STRATEGIES, BalanceSettings
from humanoid_balance.balance.steps import STEP_POLICIES
from humanoid_balance.loop import Tick
from humanoid_balance.nodes import footstep_topics
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.control import Control
from humanoid_balance.nodes.markers import markers
from humanoid_balance.nodes.motors import ARMING, STOPPED_MEANWHILE
from humanoid_balance.nodes.parameters import Entry, Parameters
from humanoid_balance.nodes.qos import CHANGES, EACH
from humanoid_balance.nodes.touch_topic import TouchSender
from humanoid_balance.nodes.waiting import DISCOVERY, until
from humanoid_balance.plants.ros.status import ARMED
from humanoid_balance.robot.config import Gains
from humanoid_balance.safety.box import Trip
from humanoid_balance.types import Foothold

MARKERS = 0.05  # [s]
OWN = -1.0  # as a gain: the robot's own
# Of the balance laws; safe to change while the robot stands.
GAINS = ("height", "height_damping", "dcm", "flywheel", "spin", "upright")

ENTRIES = (
    Entry("strategy", "auto", "how a push may be answered", choices=STRATEGIES),
    Entry("policy", POLICIES[0], "how the feet-in-place mode decides", choices=POLICIES),
    Entry("step_policy", STEP_POLICIES[0], "how a foothold is predicted", choices=STEP_POLICIES),
    Entry("delay", 0.0, "reaction delay: only the stable mode acts for so long after a push begins [s]", 0.0, 5.0),
    Entry("get_up", "on command", "after a fall: lie still, play skills that are asked for, or get up", choices=GET_UP),
    Entry("auto_arm", False, "take over as soon as the robot stands safely; for simulations"),
    Entry("staged", False, "bring the robot up in stages: ~/arm, ~/stand, ~/balance; for real robots"),
    *(
        Entry(f"gains.{name}", OWN, f"{of.about}; -1 takes the robot's own", of.low, of.high, or_else=OWN, live=True)
        for name, of in Gains.ranges().items()
        if name in GAINS
    ),
)


def balance_settings(parameters: Parameters) -> BalanceSettings:
    p = parameters
    return BalanceSettings(p["strategy"], p["policy"], p["delay"], p["step_policy"], p["get_up"])


BAD = ("tripped", "falling")  # modes that are logged as errors


class Operator:
    """Of a controller: its services, and the topics of ``balance``.

    A request is granted as a whole or refused with the reason: where the plant has motors, ``~/arm`` arms them too,
    ``~/estop`` stops them, ``~/reset`` resets them.
    """

    def __init__(self, node: BoxNode, control: Control) -> None:
        self._node, self._control, self._mode = node, control, ""
        self._stops = 0  # that were asked for
        self._shown: Tick | None = None
        group = ReentrantCallbackGroup()  # these wait for motors, and for other nodes
        node.create_service(SetBool, "~/arm", self._on_arm, callback_group=group)
        node.create_service(Trigger, "~/estop", self._on_estop)
        node.create_service(SetBool, "~/hoist", self._on_hoist)
        node.create_service(Trigger, "~/stand", self._on_stand)
        node.create_service(Trigger, "~/balance", self._on_balance)
        self._publisher = node.create_publisher(String, "balance/mode", CHANGES)
        self._footsteps = node.create_publisher(PoseArray, footstep_topics.PLANNED, EACH)
        self._footholds: tuple[Foothold, ...] = ()  # that were shown last
        self._markers = node.create_publisher(MarkerArray, "balance/markers", EACH)
        self._touches = TouchSender(node)
        node.create_timer(MARKERS, self._show)

    def tell_mode(self) -> None:
        """Publish the mode when it changed, and planned contacts; log why the safety box tripped."""
        self._touches.tell(self._control.last)
        mode = self._control.mode
        if mode != self._mode:
            self._mode = mode
            self._publisher.publish(String(data=mode))
            trip, log = self._control.safety.trip, self._node.get_logger()
            text = f"mode: {mode}" + (f" ({trip}); next: reset, then arm" if trip is not None else "")
            if mode in BAD:
                log.error(text)
            else:
                log.info(text)

    def _show(self) -> None:
        """In the executor's thread: the loop has better things to do. Costs nothing while nobody looks."""
        last = self._control.last
        if last is None or last is self._shown:
            return
        self._shown = last
        if self._markers.get_subscription_count():
            self._markers.publish(markers(last))
        before, self._footholds = self._footholds, last.reference.footholds
        if (before or self._footholds) and self._footsteps.get_subscription_count():
            self._footsteps.publish(footstep_topics.planned(self._footholds, last.frame.stamp))

    async def _on_arm(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.message = await (self._arm() if request.data else self._disarm())
        response.success = not response.message
        if response.message:
            self._node.unwell(f"{'arm' if request.data else 'disarm'} refused: {response.message}")
        return response

    async def _arm(self) -> str:
        """The motors first, so that nothing claims to act that does not; and all or nothing."""
        control, motors = self._control, self._control.motors
        control.prepare()
        await until(lambda: control.ready or control.safety.trip is not None, DISCOVERY)
        why = control.may_arm()
        if why or motors is None:
            return why or control.arm()
        why = await motors.arm(True) or control.arm()
        if not why and motors.state is not None and not await until(lambda: motors.state in ARMED, ARMING):
            why = motors.tell()
        if why:
            await self._disarm()
        return why

    async def _disarm(self) -> str:
        control = self._control
        control.disarm()
        return "" if control.motors is None else await control.motors.arm(False)

    async def reset(self) -> str:
        """Motors and controller; afterwards all are disarmed."""
        control, motors = self._control, self._control.motors
        if motors is None:
            return control.reset()
        if control.safety.trip is None:
            control.disarm()  # before the plant: a simulated robot that was put back would be driven for a moment
        stops = self._stops
        why = await motors.release() or (STOPPED_MEANWHILE if self._stops != stops else "")
        return why or control.reset() or await motors.clear()

    def _on_hoist(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.message = self._control.hoist(request.data)
        response.success = not response.message
        return response

    def _on_stand(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.message = self._control.stand()
        response.success = not response.message
        return response

    def _on_balance(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.message = self._control.balance()
        response.success = not response.message
        return response

    def _on_estop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Damping at once; motors brake for a moment, then they are off."""
        self._stops += 1
        self._control.stop(Trip("emergency stop", "operator", 1.0, 0.0))
        if self._control.motors is not None:
            self._control.motors.stop("emergency stop by the operator")
        response.success = True
        return response


def diagnose(control: Control) -> tuple[str, dict[str, object]]:
    """What is wrong with a controller, and its figures."""
    trip, last = control.safety.trip, control.last
    figures: dict[str, object] = {"mode": control.mode, "arming": control.safety.arming.value}
    if control.motors is not None and control.motors.state is not None:
        figures["motors"] = control.motors.tell()
    if last is not None:
        contact = " ".join(name for name, on in zip(("left", "right"), last.state.contact, strict=True) if on)
        figures |= {"estimator faults": ", ".join(last.state.faults), "contacts": contact or "none"}
    if last is not None and last.solution is not None:
        figures["QP"] = last.solution.status.value
    return str(trip) if trip is not None else "", figures


def apply_gains(parameters: Parameters, control: Control) -> None:
    """Gains that were set by parameter replace the robot's."""
    for name in GAINS:
        value = parameters[f"gains.{name}"]
        if value != OWN:
            control.set_gain(name, value)


def live_gain(control: Control, own: Gains, name: str, value: float) -> None:
    """A gain was set while the controller may be active."""
    gain = name.removeprefix("gains.")
    if gain in GAINS:
        control.set_gain(gain, value if value != OWN else getattr(own, gain))


def warnings(control: Control) -> list[str]:
    """What a controller goes on with, though it is not well."""
    doubt = control.bringup.doubt if control.staged else None
    return [str(doubt)] if doubt else []
