"""The boxes wired together: the one place that builds a loop, for command line, viewer, experiments and nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from humanoid_balance.balance.settings import BalanceSettings
from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.errors import InputError
from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.estimation.settings import EstimatorSettings
from humanoid_balance.loop import EstimatorBox, Loop, SafetyStage
from humanoid_balance.plants.plant import Plant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.simulator import Simulator, open_simulator
from humanoid_balance.plants.springs import STIFFNESS
from humanoid_balance.plants.terrain import terrain
from humanoid_balance.plants.world import DROP_AT, GROUNDS, RISING, SIMULATORS, TILTED, PlantOptions, World
from humanoid_balance.repertoire import WHOLE
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.box import SafetyBox
from humanoid_balance.types import Array, HeightMap
from humanoid_balance.wholebody.controller import WholeBody


@dataclass(frozen=True)
class RunSettings:
    """Which robot, in which world, and how the controller may answer."""

    robot: str = "human"
    plant: str = "mujoco"  # simulator
    plant_robot: str | None = None  # specification of the simulated body, if it differs from the controller's
    time: float | None = None  # length of the run [s]
    strategy: str = "auto"
    policy: str = "dcm"
    step_policy: str = "capture"
    delay: float = 0.0  # reaction delay after a push begins [s]
    fall: str = "protect"  # what is done with a fall that cannot be helped
    get_up: str = "on command"  # after it
    slope: float = 0.0  # [deg]
    friction: float = 0.8
    payload: float = 0.0  # [kg]
    ground: str = "flat"
    blind: bool = True  # nobody tells the controller what ground it is
    planar: bool = False  # on a boom
    drop: float = 0.0  # of the ground, a step down or a hole on the way [m] ...
    drop_at: float = DROP_AT  # ... and where it begins [m]
    rise: float | None = None  # height of a stair; tiles are so much higher or lower [m]
    tread: float | None = None  # length of a stair, side of a tile [m]
    stiffness: float = STIFFNESS  # of a ground of springs, per point of a sole [N/m]
    torque_scale: float = 1.0
    torque_limit: float | None = None  # no motor is stronger than this, and the controller knows it [N m]
    noise: float = 1.0
    sensor_latency: float = 0.0  # [s]
    actuator_latency: float = 0.0  # [s]
    seed: int = 0
    period: float = 0.001  # of the control loop [s]

    def __post_init__(self) -> None:
        ranges = {
            "time": (0.01, 1e5), "delay": (0.0, 5.0), "slope": (-45.0, 45.0), "friction": (0.01, 20.0),
            "payload": (0.0, 500.0), "drop": (0.0, 1.0), "drop_at": (0.3, 20.0),
            "rise": (0.001, 0.4), "tread": (0.1, 1.0), "stiffness": (100.0, 1e5), "torque_scale": (0.0, 10.0),
            "torque_limit": (1.0, 1e4), "noise": (0.0, 100.0),
            "sensor_latency": (0.0, 0.1), "actuator_latency": (0.0, 0.1), "seed": (0, 2**63),
            "period": (0.001, 0.01),
        }  # fmt: skip
        for key, (low, high) in ranges.items():
            value = getattr(self, key)
            if value is not None and not low <= value <= high:
                raise InputError(f"{key.replace('_', '-')} is {value}; allowed: {low:g} to {high:g}")
        for key, allowed in {"plant": SIMULATORS, "ground": GROUNDS}.items():
            if getattr(self, key) not in allowed:
                raise InputError(f"{key} is '{getattr(self, key)}'; allowed: {', '.join(allowed)}")
        if self.drop and (self.ground not in ("flat", "drop", "hole") or self.slope):
            raise InputError(f"drop is {self.drop:g}; allowed: on level ground, with ground drop or hole")
        if self.ground in ("drop", "hole") and not self.drop:
            raise InputError(f"ground is '{self.ground}'; allowed: together with a drop, its depth")
        for key, value in (("rise", self.rise), ("tread", self.tread)):
            if value is not None and self.ground not in RISING:
                raise InputError(f"{key} is {value:g}; allowed: together with ground {' or '.join(RISING)}")
        if self.slope and self.ground not in (*TILTED, "slope"):
            raise InputError(f"slope is {self.slope:g}; allowed: together with ground {', '.join(TILTED)} or slope")
        if self.ground == "slope" and not self.slope:
            raise InputError("ground is 'slope'; allowed: together with a slope, its angle")
        _ = self.balance  # which complains about an unknown strategy or policy

    @property
    def balance(self) -> BalanceSettings:
        """How the controller may answer."""
        return BalanceSettings(self.strategy, self.policy, self.delay, self.step_policy, self.get_up, self.fall)

    @property
    def world(self) -> World:
        rise, tread = RISING.get(self.ground, (0.0, 0.0))
        return World(
            self.slope, self.friction, self.payload, self.ground, planar=self.planar, drop=self.drop,
            drop_at=self.drop_at,
            rise=rise if self.rise is None else self.rise, tread=tread if self.tread is None else self.tread,
            seed=self.seed if self.ground == "tiles" else 0, stiffness=self.stiffness,
        )  # fmt: skip


def body(settings: RunSettings, robot: Robot) -> Robot:
    """The simulated body: the controller's robot, or another one with the same joints."""
    if settings.plant_robot is None:
        return robot
    other = registry.load(settings.plant_robot)
    if other.joint_names != robot.joint_names:
        raise InputError(f"plant-robot '{settings.plant_robot}' does not have the joints of '{robot.spec}'")
    return other


def simulator(settings: RunSettings, pushes: Sequence[PushProfile] = ()) -> tuple[Robot, Simulator]:
    """The robot as the controller knows it, and its simulation, standing. Close the latter."""
    robot = registry.load(settings.robot)
    if settings.torque_limit is not None:
        robot = robot.limited(settings.torque_limit)
    options = PlantOptions(
        settings.world, settings.noise, settings.seed, settings.sensor_latency, settings.actuator_latency,
        settings.torque_scale, settings.period,
    )  # fmt: skip
    return robot, open_simulator(settings.plant, body(settings, robot), options, pushes)


def balance(robot: Robot, settings: BalanceSettings | None = None, heights: HeightMap | None = None) -> Supervisor:
    """The balance stage with all that a robot can do."""
    supervisor = Supervisor(robot, settings, WHOLE)
    supervisor.know(heights)
    return supervisor


def known(settings: RunSettings, robot: Robot) -> HeightMap | None:
    """What the controller is told of the ground."""
    return None if settings.blind else terrain(settings.world, robot).seen()


def build(
    robot: Robot,
    plant: Plant,
    settings: BalanceSettings | None = None,
    estimator: EstimatorBox | None = None,
    safety: SafetyStage | None = None,
    heights: HeightMap | None = None,
) -> Loop:
    """The whole controller on a plant; ``safety`` is a disarmed box unless given, ``heights`` what ground is known."""
    return Loop(
        plant,
        estimator or Estimator(robot, EstimatorSettings.at(plant.dt)),
        balance(robot, settings, heights),
        WholeBody(robot),
        safety or SafetyBox(robot),
    )


def active(robot: Robot, torque: Array) -> SafetyBox:
    """A safety box that lets commands through at once, beginning from the torque the motors give now (n,) [N m]."""
    safety = SafetyBox(robot)
    safety.arm()
    safety.activate(torque)
    return safety


def simulated(
    robot: Robot,
    plant: Simulator,
    settings: BalanceSettings | None = None,
    start: Array | None = None,
    heights: HeightMap | None = None,
) -> Loop:
    """The whole controller on a simulator, armed and active, at the beginning of a run.

    ``start``: the configuration of a body that lies still; in the stance, and held by its motors, without one.
    ``heights``: what is known of the ground.
    """
    if start is not None:
        plant.lay(start)
        return build(robot, plant, settings, safety=active(robot, plant.read().torque), heights=heights)
    safety = active(robot, plant.read().torque)
    plant.reset()
    estimator = None
    if plant.options.world.ground == "springs":  # the operator knows on what it walks
        estimator = Estimator(robot, EstimatorSettings.at(plant.dt).yielding())
    return build(robot, plant, settings, estimator, safety, heights=heights)
