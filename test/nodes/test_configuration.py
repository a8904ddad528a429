"""The files of ``config/`` that ROS reads, checked against the robots and the nodes."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import yaml

from humanoid_balance.nodes import balance_controller, balance_stack, simulator, start, state_estimator
from humanoid_balance.nodes.box_node import COMMON
from humanoid_balance.nodes.push_script import load, samples
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry

CONFIG = registry.config_folder()
NODES = {
    "balance_stack": balance_stack,
    "simulator": simulator,
    "state_estimator": state_estimator,
    "balance_controller": balance_controller,
}


def read(folder: str, robot: str) -> dict[str, Any]:
    data = yaml.safe_load((CONFIG / folder / f"{robot}.yaml").read_text())
    return {key.rpartition("/")[2]: value["ros__parameters"] for key, value in data.items()}


@pytest.mark.parametrize("robot", registry.names())
def test_every_robot_has_parameters_that_its_nodes_know_and_allow(robot: str) -> None:
    given = read("ros", robot)
    assert set(given) == set(NODES)
    for name, parameters in given.items():
        entries = {entry.name: entry for entry in (*COMMON, *NODES[name].ENTRIES)}
        assert parameters["robot"] == robot
        for key, value in parameters.items():
            assert entries[key].wrong(value) == "", f"{name}: {key}"


@pytest.mark.parametrize("robot", registry.names())
def test_ros2_control_drives_the_joints_in_the_order_of_the_controller(robot: str) -> None:
    given, model = read("ros2_control", robot), registry.load(robot)
    effort = given["effort_controller"]
    assert tuple(effort["joints"]) == model.joint_names and effort["interface_name"] == "effort"
    controllers = {key for key, value in given["controller_manager"].items() if isinstance(value, dict)}
    assert controllers == {
        "joint_state_broadcaster", "imu_sensor_broadcaster", "left_foot", "right_foot", "effort_controller",
    }  # fmt: skip
    assert given["imu_sensor_broadcaster"]["frame_id"] == model.config.imu


def test_the_parameter_file_of_a_robot_with_options_is_found_and_a_path_has_none() -> None:
    assert [file.name for file in start.parameter_files("human:mass=90")] == ["human.yaml"]
    assert start.parameter_files("somewhere/else.yaml") == []


def test_rviz_shows_what_the_nodes_publish() -> None:
    view = yaml.safe_load((CONFIG / "rviz" / "balance.rviz").read_text())
    topics = {
        display[key]["Value"]
        for display in view["Visualization Manager"]["Displays"]
        for key in ("Topic", "Description Topic")
        if key in display
    }
    assert {"robot_description", "balance/markers"} <= topics


def test_the_pushes_that_come_with_the_package_can_be_played() -> None:
    for file in (CONFIG / "pushes").glob("*.yaml"):
        assert load(file).pushes


def test_a_push_as_messages_has_the_impulse_of_its_profile() -> None:
    """Each message holds until the next one, for 0.1 s at most."""
    for push in (PushProfile(200.0, 0.25, 90.0, 0.0), PushProfile(150.0, 0.3, 0.0, 0.0, "half-sine")):
        sent = list(samples(push))
        assert sent[-1][0] == push.duration and not sent[-1][1].any()
        impulse = sum(
            (later - start) * abs(force @ push.axis) for (start, force), (later, _) in itertools.pairwise(sent)
        )
        assert all(later[0] - earlier[0] <= 0.1 + 1e-9 for earlier, later in itertools.pairwise(sent))
        assert impulse == pytest.approx(push.impulse, rel=0.01)
