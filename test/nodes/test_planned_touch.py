"""A hand on a rail while the estimator runs in a process of its own: the controller's plan reaches it over a topic."""

from __future__ import annotations

import numpy as np
import pytest
from contacts import rail
from contacts.test_rail import start
from nodes.graph import Graph
from std_msgs.msg import Float64MultiArray

from humanoid_balance.loop import Loop
from humanoid_balance.nodes import state_message
from humanoid_balance.nodes.qos import SENSOR
from humanoid_balance.nodes.sensor_topics import SensorTopics
from humanoid_balance.nodes.state_message import StateMessage
from humanoid_balance.nodes.touch_topic import FRESH, TouchReceiver, TouchSender, to_message
from humanoid_balance.plants.ros.joints import WireJoints
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import RobotState, SensorFrame, TouchWrench

TICKS = 600  # the hand loads within the first tenth of a second, a push would be reported within the next


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return rail.reaching_human(tmp_path_factory.mktemp("robot"))


class OtherProcess:
    """The estimator of a loop that is a node: a frame goes out over topics, a state comes back."""

    def __init__(self, graph: Graph, robot: Robot) -> None:
        self._graph, self._topics = graph, SensorTopics(graph.node, robot, WireJoints(robot, []))
        self._wire = StateMessage(robot, lambda what, detail: pytest.fail(f"{what}: {detail}"))
        self._heard = graph.listen(Float64MultiArray, state_message.TOPIC, SENSOR)

    def update(self, frame: SensorFrame, touch: TouchWrench | None = None) -> RobotState:
        """``touch`` does not pass here: the node has to hear of it."""
        for _ in range(100):
            self._topics.publish_all(frame)
            if self._graph.wait(lambda: self._answer(frame) is not None, 0.5):
                answer = self._answer(frame)
                assert answer is not None
                self._heard.clear()
                return answer
        raise AssertionError(f"no state for the frame of {frame.stamp:.3f} s\n{self._graph.told()}")

    def _answer(self, frame: SensorFrame) -> RobotState | None:
        found = self._wire.read(self._heard[-1]) if self._heard else None
        return found[1] if found is not None and abs(found[0].stamp - frame.stamp) < 1e-9 else None


@pytest.mark.parametrize("told", [True, False])
def test_a_hand_on_the_rail_is_a_push_only_where_nobody_tells_the_estimator(
    graph: Graph, robot: Robot, told: bool
) -> None:
    node = graph.start("state_estimator", autostart=True, rate=1000.0, robot=str(robot.config.file))
    plant, here = start(robot, 0.0, hand=True, load=(0.2, 0.5))
    sender = TouchSender(graph.node)
    loop = Loop(plant, OtherProcess(graph, robot), here.balance, here.wholebody, here.safety)
    pushed, tick = False, None
    for _ in range(TICKS):
        tick = loop.tick()
        pushed |= tick.state.push.active
        if told:
            sender.tell(tick)
        if pushed:
            break
    assert tick is not None and tick.solution is not None and tick.solution.touch is not None, node.text
    assert tick.solution.touch.wrench[0, 2] >= 0.19 * robot.weight
    assert pushed is not told


def test_a_plan_counts_while_it_is_fresh_and_ends_with_a_message() -> None:
    refused: list[str] = []
    heard = TouchReceiver(lambda what, detail: refused.append(f"{what}: {detail}"))
    touch = TouchWrench(np.arange(12.0).reshape(2, 6), -np.arange(6.0).reshape(2, 3))
    assert heard.at(0.0) is None
    heard.on_message(to_message(5.0, touch))
    found = heard.at(5.001)
    assert found is not None
    np.testing.assert_array_equal(found.wrench, touch.wrench)
    np.testing.assert_array_equal(found.position, touch.position)
    assert heard.at(5.0 + 1.1 * FRESH) is None and heard.at(5.0 - 1.1 * FRESH) is None
    heard.on_message(Float64MultiArray(data=[1.0, 2.0]))
    assert len(refused) == 1 and "planned_touch refused" in refused[0]
    heard.on_message(to_message(5.001, None))
    assert heard.at(5.002) is None
