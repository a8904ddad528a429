"""A real robot on serial motor boards: plant, estimator and controller. It stays disarmed until `~/arm` is called.

ros2 launch humanoid_balance hardware.launch.py robot:=robot.yaml ports:=/dev/ttyACM0,/dev/ttyACM1
ros2 launch humanoid_balance hardware.launch.py robot:=robot.yaml wiring:=wiring.yaml torque:=0.3
"""

from pathlib import Path

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction

from humanoid_balance.nodes import launching, start
from humanoid_balance.nodes.rank import PRIORITY

ARGUMENTS = {
    "ports": ("", "serial ports of the boards, commas between them"),
    "wiring": ("", "wiring file instead of ports: calibration, servos, torque"),
    "torque": ("-1.0", "share of the torque limits that the boards are allowed; -1: the wiring file's"),
    "priority": (str(PRIORITY), "SCHED_FIFO priority of the nodes where permitted; 0: none"),
    "separate": ("true", "boards, estimator and controller in processes of their own, 500 Hz; false: one, 1 kHz"),
}


def nodes(context: LaunchContext) -> list[Action]:
    given = launching.values(context, *ARGUMENTS)
    boards: dict[str, object] = {"torque": float(given["torque"])}
    if given["wiring"]:
        boards["wiring"] = str(Path(given["wiring"]).resolve())
    if given["ports"]:
        boards["ports"] = [port for port in given["ports"].split(",") if port]
    how = {"separate": launching.true(given["separate"]), "priority": int(given["priority"])}
    return launching.actions(start.boards(given["robot"], float(given["rate"]), **how, **boards), given)


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*launching.declared(**ARGUMENTS), OpaqueFunction(function=nodes)])
