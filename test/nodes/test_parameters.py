"""Parameters as operators meet them: described, refused by name, live while active where that is safe."""

from __future__ import annotations

from typing import Any

import pytest
from lifecycle_msgs.msg import Transition
from nodes.graph import ROOT, Graph
from nodes.test_bringup import transition
from rcl_interfaces.msg import Parameter, ParameterDescriptor, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, SetParameters

from humanoid_balance.nodes import (
    balance_controller,
    balance_stack,
    hardware,
    push_teleop,
    recorder,
    simulator,
    state_estimator,
)  # fmt: skip
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.robot.config import Gains

EVERY = {
    entry.name: entry
    for node in (balance_controller, balance_stack, hardware, push_teleop, recorder, simulator, state_estimator)
    for entry in node.ENTRIES
}


def set_number(graph: Graph, node: str, name: str, value: float) -> Any:
    number = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)
    request = SetParameters.Request(parameters=[Parameter(name=name, value=number)])
    return graph.call(SetParameters, f"{node}/set_parameters", request).results[0]


@pytest.mark.parametrize("name", EVERY)
def test_every_parameter_is_described_and_its_default_is_allowed(name: str) -> None:
    entry = EVERY[name]
    assert entry.description and entry.allowed
    assert entry.wrong(entry.default) == ""
    if isinstance(entry.default, float):
        assert entry.low is not None and entry.high is not None, "a number has a range"


def test_every_parameter_stands_in_the_documentation() -> None:
    page = (ROOT / "docs" / "ros.md").read_text(encoding="utf-8")
    assert [name for name in EVERY if f"| `{name}` |" not in page] == []


def test_every_gain_has_the_range_it_was_declared_with_here_and_in_the_documentation() -> None:
    ros = (ROOT / "docs" / "ros.md").read_text(encoding="utf-8")
    robots = (ROOT / "docs" / "robots.md").read_text(encoding="utf-8")
    for name, of in Gains.ranges().items():
        default = getattr(Gains(), name)
        assert of.low < default < of.high and of.about.endswith("]"), name
        assert f"| `{name}` | {default:g} | {of.low:g} to {of.high:g} |" in robots
        if entry := EVERY.get(f"gains.{name}"):
            assert (entry.low, entry.high) == (of.low, of.high)
            assert f"| `gains.{name}` | -1 | {of.low:g} to {of.high:g}, or -1 | {entry.description};" in ros
    assert len({(of.low, of.high) for of in Gains.ranges().values()}) > 5


RATE = Entry("rate", 500.0, "[Hz]", 50.0, 1000.0)


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        (RATE, 10.0),
        (RATE, float("nan")),
        (RATE, True),
        (RATE, "fast"),
        (Entry("gain", -1.0, "", 0.5, 9.0, or_else=-1.0), -0.5),
        (Entry("seed", 0, "", 0, 9), 1.5),
        (Entry("flag", False, ""), 1),
        (Entry("joints", [], ""), [1, 2]),
        (Entry("mode", "a", "", choices=("a", "b")), "c"),
    ],
)
def test_a_wrong_value_is_refused_with_name_value_and_what_is_allowed(entry: Entry, value: Any) -> None:
    told = entry.wrong(value)
    assert f"'{entry.name}'" in told and repr(value) in told and entry.allowed in told


def test_a_whole_number_is_as_good_as_one_with_a_point() -> None:
    assert RATE.wrong(500) == ""


def test_a_bad_value_is_refused_at_configure_and_can_be_put_right(graph: Graph) -> None:
    node = graph.start("state_estimator", rate=3.0)
    assert not transition(graph, "state_estimator", Transition.TRANSITION_CONFIGURE)
    assert node.says("not configured: parameter 'rate' is 3.0; allowed: a number from 50 to 2000"), node.text
    assert set_number(graph, "state_estimator", "rate", 400.0).successful
    assert transition(graph, "state_estimator", Transition.TRANSITION_CONFIGURE), node.text


def test_a_node_that_starts_by_itself_ends_with_2_when_it_cannot(graph: Graph) -> None:
    node = graph.start("balance_controller", autostart=True, robot="r2d2")
    assert node.popen.wait(60) == 2
    assert "robot 'r2d2': unknown" in node.text and "Traceback" not in node.text


def test_a_mistyped_name_is_refused_and_the_right_one_is_told(graph: Graph) -> None:
    node = graph.start("state_estimator", autostart=True, publish_rat=50.0)
    assert node.popen.wait(60) == 2
    assert "parameter 'publish_rat' does not exist; did you mean 'publish_rate'?" in node.text, node.text


def test_a_parameter_of_another_node_may_stand_in_a_file_for_all(graph: Graph) -> None:
    node = graph.start("state_estimator", strategy="auto")
    assert transition(graph, "state_estimator", Transition.TRANSITION_CONFIGURE), node.text


def test_gains_change_while_active_and_the_rest_does_not(graph: Graph) -> None:
    node = graph.start("balance_controller", autostart=True)
    name = "balance_controller"
    answer = graph.call(DescribeParameters, f"{name}/describe_parameters", DescribeParameters.Request(names=["rate"]))
    described: ParameterDescriptor = answer.descriptors[0]
    assert "[Hz]" in described.description and described.floating_point_range[0].to_value == 2000.0
    assert graph.wait(lambda: set_number(graph, name, "gains.dcm", 2.0).successful), node.text
    too_much = set_number(graph, name, "gains.dcm", 1000.0)
    assert not too_much.successful and "gains.dcm" in too_much.reason and "10.0" in too_much.reason
    between = set_number(graph, name, "gains.dcm", -0.5)  # neither a gain nor the word for the robot's own
    assert not between.successful and "to 10, or -1" in between.reason
    assert set_number(graph, name, "gains.dcm", -1.0).successful
    refused = set_number(graph, name, "rate", 400.0)
    assert not refused.successful and "while the node is active" in refused.reason
