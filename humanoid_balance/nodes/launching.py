"""What the launch files share. Needs ``launch`` and ``launch_ros``, which come with a ROS installation."""

from __future__ import annotations

import os

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import Action, LaunchContext
from launch.actions import DeclareLaunchArgument, LogInfo
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from humanoid_balance.nodes import start
from humanoid_balance.nodes.executables import PARENT
from humanoid_balance.nodes.start import NodeStart
from humanoid_balance.robot import registry

PACKAGE = "humanoid_balance"
COMMON = {
    "robot": ("human", "a robot: name, name:option=value, or the path of a YAML file"),
    "namespace": ("", "of all nodes, for a second robot beside the first"),
    "rate": ("0", "of the loop [Hz]; 0: the wiring file's, or 1000 in one process, 500 in separate ones"),
    "record": ("", "record all topics into this MCAP file"),
    "rviz": ("false", "show the robot, its CoM, ZMP, support polygon and the push in RViz"),
}


def declared(**more: tuple[str, str]) -> list[DeclareLaunchArgument]:
    """The common arguments and those of one launch file: name=(default, description)."""
    return [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in {**COMMON, **more}.items()
    ]


def values(context: LaunchContext, *more: str) -> dict[str, str]:
    """What was given for the common arguments and ``more``."""
    return {name: LaunchConfiguration(name).perform(context) for name in (*COMMON, *more)}


def true(text: str) -> bool:
    return text.lower() in ("true", "1", "yes")


def action(node: NodeStart, given: dict[str, str], **options: object) -> Node:
    """A node as launch starts it."""
    return Node(
        package=PACKAGE,
        executable=node.executable,
        namespace=given["namespace"],
        parameters=[*(str(file) for file in start.parameter_files(given["robot"])), node.parameters],
        remappings=list(node.remappings.items()),
        output="screen",
        emulate_tty=True,
        additional_env={PARENT: str(os.getpid())},
        **options,
    )


def actions(nodes: list[NodeStart], given: dict[str, str]) -> list[Action]:
    """The nodes, with recording and RViz where they are asked for."""
    made: list[Action] = [action(node, given) for node in nodes]
    if given["record"]:
        made.append(action(start.recorder(given["robot"], given["record"]), given))
    if true(given["rviz"]):
        made += rviz(given)
    return made


def rviz(given: dict[str, str]) -> list[Action]:
    """RViz, and the transforms of the robot's links for it; without them the robot runs all the same."""
    for package in ("robot_state_publisher", "rviz2"):
        try:
            get_package_prefix(package)
        except PackageNotFoundError:
            return [LogInfo(msg=f"rviz:=true: package '{package}' is not installed; going on without RViz")]
    urdf = registry.load(given["robot"]).urdf
    view = registry.config_folder() / "rviz" / "balance.rviz"
    common = {"namespace": given["namespace"], "output": "screen"}
    return [
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            parameters=[{"robot_description": urdf}],
            **common,
        ),
        Node(package="rviz2", executable="rviz2", arguments=["-d", str(view)], **common),
    ]
