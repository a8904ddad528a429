"""The body as one mass: CoM motion, angular momentum, DCM, ZMP by soles and by model, FRI, push."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import add
from typing import Any

import numpy as np

from humanoid_balance.estimation.foot_rotation import FootInertia, Rolling
from humanoid_balance.estimation.ground import GroundPlane
from humanoid_balance.estimation.kinematics import BodyKinematics
from humanoid_balance.estimation.momentum import MomentumObserver
from humanoid_balance.estimation.onset import OnsetWatch
from humanoid_balance.estimation.push import PushDetector
from humanoid_balance.estimation.settings import EstimatorSettings
from humanoid_balance.estimation.sole import Sole
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, LEFT, RIGHT, Array, TouchWrench

Floats = list[float]
Numbers = tuple[float, ...]
DISAGREE = 0.01  # between plates and kinematics, from where on the latter are believed [m/s]
# A planned force that no sensor sees may be wrong by this share of itself: the rail gives way, the model is off by some
# per cent of the weight. What is beyond that is a push.
UNSURE = 0.5
LOWEST = 0.2  # share of the standing CoM height below which the pendulum frequency rises no more


def planned_wrench(touch: TouchWrench, com: Array) -> tuple[Numbers, float]:
    """What planned contacts do about the CoM [N, N m], and the force by which that may be wrong [N]."""
    force = touch.wrench[:, :3]
    moment = touch.wrench[:, 3:] + np.cross(touch.position - com, force)
    return (*force.sum(axis=0).tolist(), *moment.sum(axis=0).tolist()), UNSURE * float(np.linalg.norm(force))


class Centroid:
    """Whole-body quantities of one tick, from the placed body, the soles and the ground."""

    def __init__(
        self, robot: Robot, settings: EstimatorSettings, soles: tuple[Sole, Sole], ground: GroundPlane
    ) -> None:
        self._mass, self._weight = robot.mass, robot.weight
        self._lowest = LOWEST * robot.com_height
        self._floor = 0.5 * settings.contact.load_off * robot.weight  # below this normal force there is no ZMP [N]
        self._turning = settings.contact.turning
        self._soles, self._ground = soles, ground
        self._feet = [FootInertia(robot, side) for side in (LEFT, RIGHT)]
        self.push = PushDetector(robot.mass, settings.push, robot.config.estimation.foot_sensors)
        self._onset = OnsetWatch(robot.mass, settings.push, robot.config.estimation.foot_sensors)
        self._observer = MomentumObserver(settings.push.bandwidth)
        self._impulse: Floats = [0.0] * 3  # of both soles since it was taken, world [N s]
        self.omega, self.ground_height = robot.omega, 0.0
        self._planned: Numbers | None = None  # wrench of planned contacts about the CoM [N, N m]

    def start(self, body: BodyKinematics) -> None:
        """The momentum is what the kinematics say, and nobody pushes."""
        self._onset.reset()
        self._observer.reset((self._mass * body.com_velocity).tolist() + body.angular_momentum.tolist())

    def update(
        self, body: BodyKinematics, stamp: float, dt: float, variance: float, changed: bool, touch: TouchWrench | None
    ) -> Numbers:
        """The velocity of the CoM, world [m/s].

        ``variance``: of the base velocity [m²/s²]; ``changed``: a contact changed at this tick; ``touch``: planned
        wrenches of contacts without a sensor.
        """
        mass, observer, push, ground = self._mass, self._observer, self.push, self._ground
        com: Floats = body.com.tolist()
        cx, cy, cz = com
        kx, ky, kz = body.com_velocity.tolist()
        lx, ly, lz = body.angular_momentum.tolist()
        fx, fy, fz, nx, ny, nz = self._total_wrench(cx, cy, cz)
        impulse = self._impulse
        impulse[0] += fx * dt
        impulse[1] += fy * dt
        impulse[2] += fz * dt
        known: Sequence[float] = fx, fy, fz - self._weight, nx, ny, nz
        unsure = 0.0
        self._planned = None
        if touch is not None:
            self._planned, unsure = planned_wrench(touch, body.com)
            known = [a + b for a, b in zip(known, self._planned, strict=True)]
        observer.update([mass * kx, mass * ky, mass * kz, lx, ly, lz], known, dt)
        left, right = self._soles
        standing = left.contact.contact and right.contact.contact and not changed
        began = self._onset.update(observer.innovation, dt, variance, standing, unsure)
        if began:
            observer.jump(began)
            push.begin(stamp, dt, began, observer.residual)
        self.ground_height = floor_height = ground.height(cx, cy)
        height = cz - floor_height
        push.update(stamp, dt, observer, height, variance, changed, unsure)

        # Velocity: plates and kinematics together; kinematics alone where they disagree, as when a push begins.
        ex, ey, ez, _, _, _ = observer.innovation
        hx, hy, hz, _, _, _ = observer.momentum
        off = (ex * ex + ey * ey + ez * ez) / (DISAGREE * mass) ** 2
        trust = off / (1.0 + off)
        keep = (1.0 - trust) / mass
        vx, vy, vz = keep * hx + trust * kx, keep * hy + trust * ky, keep * hz + trust * kz
        self.omega = math.sqrt(GRAVITY / max(height, self._lowest))

        velocity = vx, vy, vz
        self._here = com, velocity, ((fx, fy, fz), (nx, ny, nz))
        self._rolling = self._foot_rotation(dt)
        return velocity

    def late(self, left: Sole, right: Sole) -> tuple[Any, ...]:
        """What ``late_fields`` needs of this tick."""
        com, velocity, soles = self._here
        push, ground, residual = self.push, self._ground, self._observer.residual
        return (
            self._mass,
            com,
            velocity,
            self.omega,
            soles,
            tuple(residual if self._planned is None else map(add, residual, self._planned)),
            tuple(push.bias),
            (push.force, push.moment) if push.active else None,
            (ground.point, ground.normal, self.ground_height),
            self._floor,
            (left.position, left.rows, left.twist, left.pressure if left.pressed else None),
            (right.position, right.rows, right.twist, right.pressure if right.pressed else None),
            (left.contact.probability, right.contact.probability),
            self._rolling,
        )

    def correct(self, change: Floats) -> None:
        """The base velocity was corrected by ``change``, world [m/s]: that is no force."""
        self._observer.shift([self._mass * value for value in change])

    def take_impulse(self) -> Floats:
        """Of the force plates since the last call, world [N s]."""
        impulse, self._impulse = self._impulse, [0.0] * 3
        return impulse

    def _total_wrench(self, x: float, y: float, z: float) -> Numbers:
        """Of both soles, about the CoM."""
        left, right = self._soles
        (ax, ay, az), (bx, by, bz) = left.position, right.position
        (fx, fy, fz), (gx, gy, gz) = left.force, right.force
        (mx, my, mz), (nx, ny, nz) = left.moment, right.moment
        ax, ay, az, bx, by, bz = ax - x, ay - y, az - z, bx - x, by - y, bz - z
        return (
            fx + gx,
            fy + gy,
            fz + gz,
            mx + nx + ay * fz - az * fy + by * gz - bz * gy,
            my + ny + az * fx - ax * fz + bz * gx - bx * gz,
            mz + nz + ax * fy - ay * fx + bx * gy - by * gx,
        )

    def _foot_rotation(self, dt: float) -> Rolling | None:
        """The standing feet that turn; None when both are still, so that the FRI is the ZMP."""
        left, right = self._soles
        self._feet[LEFT].remember(left.twist)
        self._feet[RIGHT].remember(right.twist)
        if (left.flat or not left.pressed) and (right.flat or not right.pressed):
            return None
        feet = zip(self._feet, self._soles, strict=True)
        return [foot.turning(sole, dt) for foot, sole in feet if sole.pressed and sole.turning() > self._turning]
