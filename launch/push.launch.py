"""Push a simulated robot and report whether it stays on its feet; needs no display.

ros2 launch humanoid_balance push.launch.py robot:=talos force:=200 direction:=180
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import LaunchConfiguration
from launch_ros.substitutions import ExecutableInPackage

ARGUMENTS = {
    "robot": ("human", "robot to push: human, talos, g1, or the path of a YAML file that describes one"),
    "force": ("300", "force of the push [N]"),
    "duration": ("0.1", "how long the push lasts [s]"),
    "direction": ("0", "where the force points [deg] about +z: 0 forward, 90 to the left"),
}


def generate_launch_description() -> LaunchDescription:
    # A process, not a launch_ros Node: a Node is always given --ros-args, which the command line tool does not take.
    push = ExecuteProcess(
        cmd=[
            ExecutableInPackage(executable="humanoid-balance", package="humanoid_balance"),
            "push",
            *(part for name in ARGUMENTS for part in (f"--{name}", LaunchConfiguration(name))),
        ],
        output="screen",
    )
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, push])
