"""A human with one hand on a rail in front: a mode of its own, in one file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pinocchio as pin

from humanoid_balance.balance.memory import BOTH, Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.modes.standing import goal
from humanoid_balance.balance.situation import Situation
from humanoid_balance.balance.transitions import Repertoire
from humanoid_balance.geometry import Point, Polygon
from humanoid_balance.plants.mujoco.plant import SINK
from humanoid_balance.plants.world import Fixture
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference, PlannedContact, Reference

HAND = "right_hand"
# The arm reaches forward, palm down: shoulder, elbow and wrist together bend by 90 degrees.
ARM = {"r_shoulder_pitch": -0.55, "r_elbow": -0.85, "r_wrist_pitch": -0.17, "r_shoulder_roll": 0.0}
LOAD = (0.0, 0.5)  # shares of the weight
FRICTION = 0.4


def reaching_human(folder: Path) -> Robot:
    """The human whose posture has the right arm out in front."""
    text = (registry.config_folder() / "robots" / "human.yaml").read_text()
    arm = "".join(f"  {joint}: {angle}\n" for joint, angle in ARM.items())
    file = folder / "reaching.yaml"
    file.write_text(text.replace("groups:", arm + "groups:", 1))
    return registry.load(str(file))


def palm(robot: Robot, q: Array) -> Array:
    """Middle of the palm, world (3,) [m]."""
    surface = next(s for s in robot.contacts if s.name == HAND)
    pin.forwardKinematics(robot.model, robot.data, q)
    place: Array = robot.data.oMi[surface.joint].act(surface.placement.translation)
    return place


def rail(robot: Robot) -> Fixture:
    """Across, just under the palm."""
    x, y, z = palm(robot, robot.q_nominal)
    return Fixture("rail", (x, y, z - SINK - 0.02), (0.05, 0.4, 0.04))


@dataclass(frozen=True)
class Grip:
    """Where the hand rests, as planned."""

    touch: PlannedContact

    @staticmethod
    def of(robot: Robot, load: tuple[float, float] = LOAD) -> Grip:
        up = np.array([0.0, 0.0, 1.0])
        return Grip(PlannedContact(HAND, palm(robot, robot.q_nominal), up, load, FRICTION))


def support(feet: Polygon, touch: PlannedContact) -> Polygon:
    """Where the line of the contact forces to the CoM can come from: the feet, and more with a hand that carries.

    A share s of the weight at the hand (x_h, height z_h) and 1 - s at a point p of the feet, with the hand's friction
    mu, reach e = (1 - s) p + s x_h + mu s z_h u for any horizontal u: moments about the CoM are zero.
    """
    share, friction = touch.load[1], touch.friction or 0.0
    x, y, z = touch.position.tolist()
    brake = friction * share * z / np.sqrt(2)  # inside the linearised cone in any direction
    points: list[Point] = list(feet.vertices)
    for px, py in feet.vertices:
        ex, ey = (1 - share) * px + share * x, (1 - share) * py + share * y
        points += [(ex + dx, ey + dy) for dx in (-brake, brake) for dy in (-brake, brake)]
    grown = Polygon(points)
    grown.inset = feet.inset
    return grown


def on_rail(grip: Grip) -> Repertoire:
    """A repertoire with this mode only: the feet stay where they are."""

    class OnRail(BalanceMode):
        name: ClassVar[str] = "on the rail"
        flat: ClassVar[bool] = True

        def __init__(self, memory: Memory) -> None:
            super().__init__(memory)

        def update(self, now: Situation) -> Reference:
            maker = self.memory.maker
            polygon = support(self.memory.stance.update(now.state, BOTH), grip.touch)
            wish = maker.laws.catch(now, polygon, goal(self.memory, now))
            reference = maker.make(self.name, now, wish, height=maker.height(now))
            assert isinstance(reference, BodyReference)
            return replace(reference, touches=(grip.touch,))

    return Repertoire((OnRail,), ())
