"""Parameters of the simulated world; shared by ``simulator`` and ``balance_stack``."""

from __future__ import annotations

from humanoid_balance.errors import InputError
from humanoid_balance.nodes.parameters import Entry, Parameters
from humanoid_balance.plants.push_place import link_of
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.simulator import Simulator, open_simulator
from humanoid_balance.plants.world import GROUNDS, SIMULATORS, PlantOptions, World
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot

ENTRIES = (
    Entry("simulator", "mujoco", "which simulator", choices=SIMULATORS),
    Entry("plant_robot", "", "the simulated body, where it differs from the controller's model"),
    Entry("seed", 0, "of the sensor noise", 0, 2**31),
    Entry("noise", 1.0, "scale of the sensor noise", 0.0, 100.0),
    Entry("slope", 0.0, "the ground rises forward by this angle [deg]", -45.0, 45.0),
    Entry("friction", 0.8, "of the ground", 0.01, 20.0),
    Entry("ground", "flat", "what lies on the ground", choices=GROUNDS),
    Entry("rise", 0.02, "height of a stair; tiles are so much higher or lower [m]", 0.001, 0.4),
    Entry("tread", 0.4, "length of a stair, side of a tile [m]", 0.1, 1.0),
    Entry("drop", 0.0, "depth of a step down or a hole, 3 m ahead [m]", 0.0, 1.0),
    Entry("push_link", "", "pushes of the topic act on the origin of this link; none: on the torso at the CoM"),
    Entry("push_height", -1.0, "pushes act so high above the ground [m]; below 0: at the CoM or the link", -1.0, 3.0),
    Entry("payload", 0.0, "mass fixed at the torso [kg]", 0.0, 500.0),
    Entry("torque_scale", 1.0, "of the simulated motors' limits", 0.0, 10.0),
    Entry("sensor_latency", 0.0, "[s]", 0.0, 0.1),
    Entry("actuator_latency", 0.0, "[s]", 0.0, 0.1),
    Entry("speed", 1.0, "simulated over real time", 0.01, 100.0),
    Entry("harness", True, "hold the robot until somebody takes over"),
    Entry("recorded", False, "begin with the first tick when a recorder is ready"),
    Entry("publish_clock", False, "publish /clock"),
)


def push_place(robot: Robot, parameters: Parameters) -> tuple[str | None, float | None]:
    """Link and height [m] at which pushes of the topic act; complains about what the robot has not."""
    link, height = parameters["push_link"] or None, parameters["push_height"]
    place = link, None if height < 0.0 else height
    link_of(robot, PushProfile(0.0, 0.0, link=place[0], height=place[1]))
    return place


def make_plant(robot: Robot, parameters: Parameters) -> Simulator:
    """The simulated robot."""
    body = robot
    if parameters["plant_robot"]:
        body = registry.load(parameters["plant_robot"])
        if body.joint_names != robot.joint_names:
            raise InputError(f"parameter 'plant_robot': '{body.spec}' does not have the joints of '{robot.spec}'")
    p = parameters
    world = World(
        p["slope"], p["friction"], p["payload"], p["ground"], rise=p["rise"], tread=p["tread"], drop=p["drop"],
        seed=p["seed"],
    )  # fmt: skip
    options = PlantOptions(
        world, parameters["noise"], parameters["seed"], parameters["sensor_latency"], parameters["actuator_latency"],
        parameters["torque_scale"], 1.0 / parameters["rate"],
    )  # fmt: skip
    return open_simulator(parameters["simulator"], body, options, ())
