"""What every simulator is told: the world, and how the simulated robot differs from a perfect one."""

from __future__ import annotations

from dataclasses import dataclass, field

SIMULATORS = ("mujoco", "gazebo")
GROUNDS = ("flat", "rough", "cart")


@dataclass(frozen=True)
class World:
    """What the robot stands in, and how its simulated body differs from the controller's model."""

    slope: float = 0.0  # the ground rises forward by this angle [deg]
    friction: float = 0.8
    payload: float = 0.0  # mass fixed at the centre of the torso [kg]
    ground: str = "flat"  # what lies on it, see GROUNDS
    timestep: float = 0.001  # of the physics [s]
    visual: bool = False  # load the meshes that are only seen


@dataclass(frozen=True)
class PlantOptions:
    """How the simulated robot differs from a perfect one."""

    world: World = field(default_factory=World)
    noise: float = 0.0  # scale of the sensor noise
    seed: int = 0
    sensor_latency: float = 0.0  # [s]
    actuator_latency: float = 0.0  # [s]
    torque_scale: float = 1.0  # of the torque limits
    dt: float = 0.001  # control period [s]
