"""A robot that stands in Gazebo Classic, to be pushed over the topic `push`. `make gazebo` sets Gazebo up.

ros2 launch humanoid_balance gazebo.launch.py robot:=g1 ground:=rough gui:=true teleop:=true
"""

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import ExecuteProcess, OpaqueFunction, SetEnvironmentVariable, TimerAction

from humanoid_balance.nodes import launching, start
from humanoid_balance.plants.gazebo import home as gazebo_home
from humanoid_balance.plants.world import GROUNDS

MASTER = "http://127.0.0.1:11345"  # where gzclient looks for gzserver
ARGUMENTS = {
    "separate": ("false", "simulator, estimator and controller in separate processes"),
    "ground": ("flat", f"what lies on the ground: {', '.join(GROUNDS)}"),
    "slope": ("0.0", "the ground rises forward [deg]"),
    "friction": ("0.8", "of the ground"),
    "gui": ("false", "show the world in gzclient; needs a display"),
    "teleop": ("false", "push with a joystick"),
}


def nodes(context: LaunchContext) -> list[Action]:
    given = launching.values(context, *ARGUMENTS)
    world = {"ground": given["ground"], "slope": float(given["slope"]), "friction": float(given["friction"])}
    separate, recorded = launching.true(given["separate"]), bool(given["record"])
    made = start.simulation(given["robot"], float(given["rate"]), separate, recorded, simulator="gazebo", **world)
    if launching.true(given["teleop"]):
        made.append(start.teleop(given["robot"], "joy"))
    started = launching.actions(made, given)
    if launching.true(given["gui"]):
        client = ExecuteProcess(cmd=gazebo_home.find().command("gzclient"), output="screen")
        started.append(TimerAction(period=5.0, actions=[client]))  # gzserver, which the simulator starts, comes first
    return [SetEnvironmentVariable("GAZEBO_MASTER_URI", MASTER), *started]


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*launching.declared(**ARGUMENTS), OpaqueFunction(function=nodes)])
