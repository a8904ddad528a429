"""What all modes look at in a tick: the state in pendulum words, and the standing feet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import sub

from humanoid_balance.balance.trunk import Trunk
from humanoid_balance.geometry import Point, Polygon
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, MIN_LOAD, STILL, Array, Command, RobotState

# A push is expected to last this much longer [s]: the time that a foot needs to leave the ground; the second, if a foot
# is light already: that one cannot help any more, and the other can only follow.
SHORT, LONG = 0.02, 0.1
LIGHT = 0.05  # share of the weight below which a foot may leave at once: what a standing one keeps is 4 %
MOVED = 5e-4  # a sole that moved by this much has a new polygon [m]: less than the estimator knows
INNER = 1.0  # the DCM is driven inside a polygon that is smaller by this many margins: on the edge it would stand still


class Stance:
    """The feet that carry: the hull of their soles, shrunk by a margin. Kept while the soles do not move."""

    def __init__(self, robot: Robot, margin: float) -> None:
        self.robot, self.margin = robot, margin
        self._key: tuple[float, ...] = ()
        self._state: RobotState | None = None
        self._contact = (False, False)
        self.polygon = Polygon([(0.0, 0.0)])

    def update(self, state: RobotState, contact: tuple[bool, bool]) -> Polygon:
        """The shrunk hull of the soles in ``contact``, world x y."""
        if state is self._state and contact == self._contact:  # asked again in the same tick
            return self.polygon
        self._state, self._contact = state, contact
        left, right = state.sole_position.tolist()
        key = (*contact, *(left if contact[0] else ()), *(right if contact[1] else ()))
        if len(key) != len(self._key) or max(map(abs, map(sub, key, self._key))) > MOVED:
            points: list[Point] = []
            for side in range(2):
                if contact[side]:
                    corners = self.robot.soles[side] @ state.sole_rotation[side].T + state.sole_position[side]
                    if contact[1 - side]:  # the other sole keeps its smallest load
                        corners += MIN_LOAD * (state.sole_position[1 - side] - state.sole_position[side])
                    points += [(x, y) for x, y, _ in corners.tolist()]
            self.polygon = Polygon(points).shrunk(self.margin)
            self.polygon.inset = INNER * self.margin
            self._key = key
        return self.polygon


@dataclass(slots=True)
class Situation:
    """One tick as a pendulum sees it; plain floats, world frame."""

    state: RobotState
    omega: float
    com: Point
    com_velocity: Point
    dcm: Point  # divergent component of motion = capture point = XcoM [m]
    lean: Point  # horizontal part of the trunk's up axis: sine of the angle
    spin: Point  # what stopping the body's rotation would add to the DCM, omega (L_y, -L_x) / (m g) [m]
    centre: tuple[Point, Point]  # of each sole
    yaw: float  # mean heading of the feet [rad]
    height: float  # CoM above the ground [m]
    ground: Array  # normal of the ground, learnt while standing quietly (3,)
    pushed: Point  # acceleration that a push gives the CoM now [m/s²]
    lasting: float  # how much longer a push is expected to last [s]
    command: Command = STILL  # what the operator wants
    grade: Point = (0.0, 0.0)  # slope of the way of the CoM over the ground, along x and y
    climb: float = 0.0  # speed with which that way rises below the CoM [m/s]

    @property
    def caught(self) -> Point:
        """The DCM once all rotation is stopped: it grows with the centre of pressure only, whatever the body turns."""
        return self.dcm[0] + self.spin[0], self.dcm[1] + self.spin[1]

    @property
    def middle(self) -> Point:
        (ax, ay), (bx, by) = self.centre
        return (ax + bx) / 2, (ay + by) / 2


def look(robot: Robot, state: RobotState, trunk: Trunk, ground: Array, command: Command = STILL) -> Situation:
    """The situation of a state on ground with a known normal, and what is wanted in it."""
    omega = state.omega
    x, y, _ = state.com.tolist()
    vx, vy, _ = state.com_velocity.tolist()
    lx, ly, _ = state.angular_momentum.tolist()
    push = state.push
    fx, fy = push.force[:2].tolist() if push.active else (0.0, 0.0)
    scale = omega / (robot.mass * GRAVITY)
    left, right = state.sole_rotation.tolist()
    sole_l, sole_r = state.sole_position.tolist()
    centre_l, centre_r = robot.sole_centres.tolist()
    yaw = math.atan2(left[1][0] + right[1][0], left[0][0] + right[0][0])
    return Situation(
        state=state,
        omega=omega,
        com=(x, y),
        com_velocity=(vx, vy),
        dcm=(x + vx / omega, y + vy / omega),
        lean=trunk.lean(state),
        spin=(scale * ly, -scale * lx),
        centre=(_placed(centre_l, left, sole_l), _placed(centre_r, right, sole_r)),
        yaw=yaw,
        height=GRAVITY / omega**2,
        ground=ground,
        pushed=(fx / robot.mass, fy / robot.mass),
        lasting=_lasting(robot, state) if push.active else 0.0,
        command=command,
    )


def _placed(point: list[float], rotation: list[list[float]], origin: list[float]) -> Point:
    """x and y of a point of a sole in the world."""
    x, y, z = point
    (a, b, c), (d, e, f), _ = rotation
    return a * x + b * y + c * z + origin[0], d * x + e * y + f * z + origin[1]


def _lasting(robot: Robot, state: RobotState) -> float:
    """How much longer a push is expected to last; one that has lifted a foot is taken more seriously [s]."""
    return LONG if state.wrench[:, 2].min() < LIGHT * robot.weight else SHORT
