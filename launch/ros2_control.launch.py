"""Estimator and controller for a robot that is driven through ros2_control; an example to start from.

The robot's own launch file starts the controller manager with config/ros2_control/ROBOT.yaml; this one spawns the
broadcasters and the effort controller, then starts our two nodes. The robot stays disarmed until `~/arm` is called.

ros2 launch humanoid_balance ros2_control.launch.py robot:=talos
"""

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction
from launch_ros.actions import Node

from humanoid_balance.nodes import launching, start
from humanoid_balance.nodes.rank import PRIORITY

CONTROLLERS = ("joint_state_broadcaster", "imu_sensor_broadcaster", "left_foot", "right_foot", "effort_controller")


def nodes(context: LaunchContext) -> list[Action]:
    given = launching.values(context)
    rate = float(given["rate"]) or start.SEPARATE_RATE
    spawner = Node(
        package="controller_manager", executable="spawner", namespace=given["namespace"], arguments=list(CONTROLLERS)
    )
    estimator, controller = start.controller(given["robot"], rate, simulated=False, priority=PRIORITY)
    estimator.remappings["imu"] = "imu_sensor_broadcaster/imu"
    estimator.parameters["sync_wait"] = 0.0
    return [spawner, *launching.actions([estimator, controller], given)]


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*launching.declared(), OpaqueFunction(function=nodes)])
