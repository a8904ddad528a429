"""A simulated robot that stands, to be pushed over the topic `push`.

ros2 launch humanoid_balance sim.launch.py robot:=talos namespace:=left record:=run.mcap rviz:=true
"""

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction

from humanoid_balance.nodes import launching, start


def nodes(context: LaunchContext) -> list[Action]:
    given = launching.values(context, "separate")
    separate, recorded = launching.true(given["separate"]), bool(given["record"])
    made = start.simulation(given["robot"], float(given["rate"]), separate, recorded)
    return launching.actions(made, given)


def generate_launch_description() -> LaunchDescription:
    separate = ("false", "simulator, estimator and controller in separate processes")
    return LaunchDescription([*launching.declared(separate=separate), OpaqueFunction(function=nodes)])
