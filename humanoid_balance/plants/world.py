"""What every simulator is told: the world, and how the simulated robot differs from a perfect one."""

from __future__ import annotations

from dataclasses import dataclass, field

from humanoid_balance.plants.springs import STIFFNESS, TIMESTEP

SIMULATORS = ("mujoco", "gazebo")
GROUNDS = ("flat", "rough", "stairs", "tiles", "drop", "hole", "slope", "cart", "springs")
TILTED = ("flat", "rough", "cart", "springs")  # on these ``slope`` tilts the whole plane, and the robot starts on it
RISING = {"stairs": (0.10, 0.30), "tiles": (0.02, 0.40)}  # what has a rise and a tread, and which unless told [m]
DROP_AT = 3.0  # where a step down is, before the start [m]


@dataclass(frozen=True)
class Fixture:
    """A box that does not move: a rail, a wall, a table."""

    name: str
    position: tuple[float, float, float]  # of its centre, world [m]
    size: tuple[float, float, float]  # whole length, width, height [m]
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [rad]
    friction: float = 0.8


@dataclass(frozen=True)
class World:
    """What the robot stands in, and how its simulated body differs from the controller's model."""

    slope: float = 0.0  # the ground rises forward by this angle [deg]
    friction: float = 0.8
    payload: float = 0.0  # mass fixed at the centre of the torso [kg]
    ground: str = "flat"  # what lies on it, see GROUNDS
    timestep: float = 0.001  # of the physics [s]
    visual: bool = False  # load the meshes that are only seen
    planar: bool = False  # a boom: the base moves in the sagittal plane of its start only, x, z and pitch
    drop: float = 0.0  # the ground ends DROP_AT before the start and goes on so much lower [m]
    rise: float = 0.02  # height of a stair; tiles are so much higher or lower [m]
    tread: float = 0.30  # length of a stair, side of a tile [m]
    seed: int = 0  # of the heights of tiles
    stiffness: float = STIFFNESS  # of each point of a sole on a ground of springs [N/m]
    fixtures: tuple[Fixture, ...] = ()  # what stands on the ground beside the robot

    @property
    def step(self) -> float:
        """Of the physics [s]; springs and dampers that act on light feet want a shorter one."""
        return min(self.timestep, TIMESTEP) if self.ground == "springs" else self.timestep

    @property
    def tilt(self) -> float:
        """Of the plane on which the robot starts, rising forward [deg]."""
        return self.slope if self.ground in TILTED else 0.0


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
