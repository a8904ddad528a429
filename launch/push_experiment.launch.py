"""Push a simulated robot by a list and write what came of each push to a CSV file; ends when the list is done.

ros2 launch humanoid_balance push_experiment.launch.py robot:=human pushes:=round.yaml csv:=round.csv
"""

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction, Shutdown

from humanoid_balance.nodes import launching, start
from humanoid_balance.robot import registry


def nodes(context: LaunchContext) -> list[Action]:
    given = launching.values(context, "pushes", "csv")
    robot = given["robot"]
    script = start.teleop(robot, "script", script=given["pushes"], csv=given["csv"])
    player = launching.action(script, given, on_exit=Shutdown())
    simulation = start.simulation(robot, float(given["rate"]), recorded=bool(given["record"]))
    return [*launching.actions(simulation, given), player]


def generate_launch_description() -> LaunchDescription:
    round_ = str(registry.config_folder() / "pushes" / "round.yaml")
    more = {"pushes": (round_, "YAML list of pushes"), "csv": ("pushes.csv", "what came of each push")}
    return LaunchDescription([*launching.declared(**more), OpaqueFunction(function=nodes)])
