"""A real robot on serial motor boards: plant, estimator and controller. It stays disarmed until `~/arm` is called.

ros2 launch humanoid_balance hardware.launch.py robot:=robot.yaml ports:=/dev/ttyACM0,/dev/ttyACM1
"""

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction

from humanoid_balance.nodes import launching, start


def nodes(context: LaunchContext) -> list[Action]:
    given = launching.values(context, "ports")
    rate = float(given["rate"]) or start.SEPARATE_RATE
    plant = start.hardware(given["robot"], [port for port in given["ports"].split(",") if port], rate)
    return launching.actions([plant, *start.controller(given["robot"], rate, simulated=False)], given)


def generate_launch_description() -> LaunchDescription:
    ports = ("", "serial ports of the boards, commas between them")
    return LaunchDescription([*launching.declared(ports=ports), OpaqueFunction(function=nodes)])
