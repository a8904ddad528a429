"""Walk a robot and push a simulated one with a joystick.

The keyboard needs a terminal: ros2 run humanoid_balance push_teleop

ros2 launch humanoid_balance teleop.launch.py robot:=human
"""

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction
from launch_ros.actions import Node

from humanoid_balance.nodes import launching, start


def nodes(context: LaunchContext) -> list[Action]:
    given = launching.values(context)
    joystick = Node(package="joy", executable="joy_node", namespace=given["namespace"], output="screen")
    return [joystick, *launching.actions([start.teleop(given["robot"], "joy")], given)]


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*launching.declared(), OpaqueFunction(function=nodes)])
