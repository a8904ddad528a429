"""SensorFrame -> RobotState: the estimator box of the loop."""

from __future__ import annotations

import dataclasses
import math
import struct

import numpy as np
import pinocchio as pin

from humanoid_balance.estimation.base_filter import BaseFilter
from humanoid_balance.estimation.contacts import FootContact
from humanoid_balance.estimation.foot_rotation import FootInertia
from humanoid_balance.estimation.foot_wrench import FootWrenchObserver
from humanoid_balance.estimation.force_plates import ForcePlateWindow
from humanoid_balance.estimation.ground import GroundPlane
from humanoid_balance.estimation.input_guard import InputGuard
from humanoid_balance.estimation.kinematics import BodyKinematics
from humanoid_balance.estimation.momentum import MomentumObserver
from humanoid_balance.estimation.push import PushDetector
from humanoid_balance.estimation.settings import EstimatorSettings
from humanoid_balance.estimation.sole import Sole
from humanoid_balance.estimation.support import SupportPolygon
from humanoid_balance.estimation.zmp import moment_free_point
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, LEFT, RIGHT, Array, Flags, RobotState, SensorFrame

Floats = list[float]
UP = np.array([0.0, 0.0, 1.0])
SIDES = (LEFT, RIGHT)
DISAGREE = 0.01  # between plates and kinematics, from where on the latter are believed [m/s]
PACK = struct.Struct("78d").pack  # three times faster than an array from floats


def _flags(left: bool, right: bool) -> Flags:
    flags = np.array([left, right])
    flags.flags.writeable = False
    return flags


CONTACT = {(left, right): _flags(left, right) for left in (False, True) for right in (False, True)}


class Estimator:
    """What the controller knows, from sensors alone. Starts with the first complete frame, robot at rest.

    Small vectors are plain floats here: a numpy call costs as much as ten multiplications.
    """

    def __init__(self, robot: Robot, settings: EstimatorSettings | None = None) -> None:
        self.robot = robot
        self.settings = s = settings or EstimatorSettings()
        self._floor = 0.5 * s.contact.load_off * robot.weight
        measured = robot.config.estimation.foot_sensors
        self._guard = InputGuard(robot, s.guard)
        self._body = BodyKinematics(robot)
        self._base = BaseFilter(s.base, s.guard.period)
        self._soles = [Sole(FootContact(robot.weight, s.contact, measured), robot.soles[i], self._floor) for i in SIDES]
        self._feet = [FootInertia(robot, side) for side in SIDES]
        self._ground = GroundPlane()
        self._plates = ForcePlateWindow(s.base.sole_window)
        self._momentum = MomentumObserver(s.push.bandwidth)
        self._push = PushDetector(robot.mass, s.push, measured)
        self._support = SupportPolygon(robot.soles)
        self._observer = None if measured else FootWrenchObserver(robot, s.contact.observer_bandwidth)
        self._state: RobotState | None = None
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next complete frame starts the estimate anew at the world origin."""
        self._guard.reset()
        self._push.reset()
        if self._observer is not None:
            self._observer.reset()
        self._started = False
        self._coasting = False
        self._state = None

    def update(self, frame: SensorFrame) -> RobotState:
        """One tick. Never raises on bad sensor values; see ``faults`` and ``valid``."""
        with np.errstate(all="ignore"):  # broken sensors send infinities; they are handled, not printed
            self._state = self._tick(frame)
        return self._state

    def _tick(self, frame: SensorFrame) -> RobotState:
        guard, base = self._guard, self._base
        if not guard.accept(frame) and self._state is not None:
            return dataclasses.replace(self._state, valid=self._started and guard.valid, faults=guard.faults)
        if not self._started:
            self._start()
        elif guard.gap or self._coasting > guard.imu_lost:
            self._resume()
        elif guard.imu_lost:
            base.coast(guard.dt)
            self._place_body()
        else:
            base.predict(guard.gyro.tolist(), guard.acceleration.tolist(), guard.dt)
            self._place_body()
        self._coasting = guard.imu_lost
        self._observe_soles()
        state = self._report()
        if base.due:
            self._correct()
        return state

    # ---- start ----

    def _start(self) -> None:
        """Level by accelerometer and soles, heading zero, origin between the soles."""
        guard, body, base = self._guard, self._body, self._base
        base.start(np.eye(3), [0.0, 0.0, 0.0])
        self._place_body()
        base.start(self._level(), [0.0, 0.0, 0.0])
        self._place_body()
        turn = -math.atan2(body.rotation[1, 0], body.rotation[0, 0])
        base.start(pin.utils.rotate("z", turn) @ base.rotation, [0.0, 0.0, 0.0])
        self._stand(np.zeros(3))
        self._started = guard.complete

    def _resume(self) -> None:
        """Go on after a gap in the data: at rest, soles where they were."""
        place = self._centre_of_soles()
        self._base.resume()
        self._stand(place)

    def _stand(self, place: Array) -> None:
        """Put the soles in contact to a place in the world and begin to observe from there."""
        body, base = self._body, self._base
        self._place_body()
        wrench = self._sole_wrench()
        for side, sole in enumerate(self._soles):
            sole.contact.reset(bool(wrench[side, 2] > 2.0 * self._floor))
        shift = place - self._centre_of_soles()
        base.position = (base.position + shift).tolist()
        self._place_body()
        for side, sole in enumerate(self._soles):
            base.set_trust(side, sole.contact.contact, body.sole_position[side].tolist())
        self._momentum.reset((self.robot.mass * body.com_velocity).tolist() + body.angular_momentum.tolist())
        self._plates.clear()
        self._ground.start(place.tolist())
        self._fresh = True

    def _level(self) -> Array:
        """Orientation world <- IMU at rest: up is where accelerometer and soles say, each by its noise."""
        guard, body = self._guard, self._body
        up = guard.acceleration / self.settings.base.acceleration_bias**2
        wrench = self._sole_wrench()
        force = sum(body.sole_rotation[side] @ wrench[side, :3] for side in SIDES) / self.robot.mass
        if self._observer is None and 0.5 * GRAVITY < np.linalg.norm(force) < 2.0 * GRAVITY:
            up = up + force / self.settings.base.sole_force**2  # the body stands with the IMU as its world here
        rotation: Array = pin.Quaternion.FromTwoVectors(up, UP).toRotationMatrix()
        return rotation

    def _centre_of_soles(self) -> Array:
        """Middle of the rectangles of the soles in contact, of both when none is, world [m]."""
        body, middle = self._body, self.robot.soles.mean(axis=1)
        standing = [side for side in SIDES if self._soles[side].contact.contact] or SIDES
        centre: Array = np.mean([body.sole_position[i] + body.sole_rotation[i] @ middle[i] for i in standing], axis=0)
        return centre

    def _sole_wrench(self) -> Array:
        """Measured by the soles, or seen by the joint torques (2, 6)."""
        guard, body = self._guard, self._body
        if self._observer is None:
            return guard.wrench
        return self._observer.update(body.q, body.v, guard.torque, guard.dt)

    def _place_body(self) -> None:
        base, guard = self._base, self._guard
        self._body.update(guard.position, guard.velocity, base.rotation, base.position, base.velocity, base.rate)

    # ---- the tick ----

    def _observe_soles(self) -> None:
        """Soles in the world, their wrenches and contacts; what they tell the base filter."""
        body, base, dt = self._body, self._base, self._guard.dt
        self._wrench = self._sole_wrench()
        wrench = self._wrench.tolist()
        self._changed = False
        for side in SIDES:
            sole = self._soles[side]
            sole.update(
                body.sole_position[side].tolist(), body.sole_rotation[side].tolist(), body.sole_twist(side),
                wrench[side], base.speed_spread**2, dt,
            )  # fmt: skip
            self._feet[side].remember(sole.twist)
            self._changed |= sole.contact.changed
            trusted = sole.contact.trusted
            if trusted != base.trusted[side]:
                base.set_trust(side, trusted, sole.position)
            elif trusted:
                if sole.flat:
                    base.collect_rate(sole.twist)
                elif sole.pressed:
                    x, y, z = sole.rolling()
                    base.roll(side, x * dt, y * dt, z * dt)
                base.collect(side, sole.position)
        if self._changed or base.due or self._fresh:  # standing soles do not move in a few milliseconds
            self._fresh = False
            self._ground.update(*self._soles)
            self._support.update(*self._soles)

    def _correct(self) -> None:
        """Kalman step of the base; a light or rolling sole is a poor fixed point."""
        s, base = self.settings.base, self._base
        for side, sole in enumerate(self._soles):
            load = max(sole.normal_force / self.robot.weight, 0.01)
            creep = s.anchor * (1.0 + (s.light / load) ** 4)
            base.creep[side] = creep if sole.flat else creep + s.rolling * sole.turning()
        base.correct()
        x, y, z = base.velocity
        if not x * x + y * y + z * z < s.speed_limit**2:  # run away: no feet and a wild IMU for long
            self._resume()

    def _total_wrench(self, com: Floats) -> Floats:
        """Of both soles, about the CoM, world axes."""
        left, right = self._soles
        x, y, z = com
        (ax, ay, az), (bx, by, bz) = left.position, right.position
        (fx, fy, fz), (gx, gy, gz) = left.force, right.force
        (mx, my, mz), (nx, ny, nz) = left.moment, right.moment
        ax, ay, az, bx, by, bz = ax - x, ay - y, az - z, bx - x, by - y, bz - z
        return [
            fx + gx,
            fy + gy,
            fz + gz,
            mx + nx + ay * fz - az * fy + by * gz - bz * gy,
            my + ny + az * fx - ax * fz + bz * gx - bx * gz,
            mz + nz + ax * fy - ay * fx + bx * gy - by * gx,
        ]

    def _calibrate(self, force: Floats) -> None:
        """Quiet standing on force plates shows the accelerometer's bias."""
        if self._observer is not None:
            return  # its wrenches come from this IMU
        left, right = self._base.trusted
        if self._push.quiet and (left or right) and not self._changed:
            if self._plates.add(self._base.acceleration, force, self._guard.dt):
                error = self._plates.result(self._base.velocity, self._body.com_velocity.tolist())
                if error is not None:
                    self._base.observe_acceleration(error)
        else:
            self._plates.clear()

    def _com_velocity(self, kinematic: Floats) -> Floats:
        """Plates and kinematics together; kinematics alone when they disagree, as when a push begins [m/s]."""
        mass, observer = self.robot.mass, self._momentum
        ex, ey, ez, _, _, _ = observer.innovation
        hx, hy, hz, _, _, _ = observer.momentum
        x, y, z = kinematic
        off = (ex * ex + ey * ey + ez * ez) / (DISAGREE * mass) ** 2
        share = off / (1.0 + off)
        keep = (1.0 - share) / mass
        return [keep * hx + share * x, keep * hy + share * y, keep * hz + share * z]

    def _report(self) -> RobotState:
        guard, body, robot, observer, push = self._guard, self._body, self.robot, self._momentum, self._push
        left, right = self._soles
        mass, dt = robot.mass, guard.dt
        com: Floats = body.com.tolist()
        kinematic: Floats = body.com_velocity.tolist()
        spin: Floats = body.angular_momentum.tolist()
        cx, cy, cz = com
        wrench = self._total_wrench(com)
        fx, fy, fz, nx, ny, nz = wrench
        self._calibrate(wrench)
        wrench[2] = fz - robot.weight
        observer.update([mass * kinematic[0], mass * kinematic[1], mass * kinematic[2], *spin], wrench, dt)
        ground_height = self._ground.height(cx, cy)
        push.update(guard.stamp, dt, observer.residual, cz - ground_height, self._base.speed_spread, self._changed)
        (px, py, pz), (qx, qy, qz) = push.force, push.moment
        vx, vy, vz = self._com_velocity(kinematic)
        omega = math.sqrt(GRAVITY / max(cz - ground_height, 0.2 * robot.com_height))

        point, normal, floor = self._ground.point, self._ground.normal, self._floor
        rx, ry, rz, sx, sy, sz = observer.residual
        bx, by, bz = push.bias
        measured = moment_free_point((fx, fy, fz), (nx, ny, nz), com, point, normal, floor)
        rotating = self._fri(measured, (fx, fy, fz), (nx, ny, nz), com)
        force = (fx + rx - bx, fy + ry - by, fz + rz - bz)  # m (c'' + g), K3
        moment = (nx + sx, ny + sy, nz + sz)
        model = pushed = (cx, cy, ground_height)  # in flight
        if force[2] > floor:
            model = pushed = moment_free_point(force, moment, com, point, normal, floor)
        if push.active and force[2] - pz > floor:
            rest = (force[0] - px, force[1] - py, force[2] - pz)
            still = (moment[0] - qx, moment[1] - qy, moment[2] - qz)
            pushed = moment_free_point(rest, still, com, point, normal, floor)
        # fmt: off
        flat = PACK(
            cx, cy, cz,
            vx, vy, vz,
            (fx + px) / mass, (fy + py) / mass, (fz + pz) / mass - GRAVITY,
            *spin,
            nx + qx, ny + qy, nz + qz,
            cx + vx / omega, cy + vy / omega, cz + vz / omega,
            *measured, *model, *pushed, *rotating,
            *normal,
            left.contact.probability, right.contact.probability, 0.0,
            *left.position, *right.position,
            *left.cop, *right.cop,
            *left.twist, *right.twist,
            *left.rows[0], *left.rows[1], *left.rows[2], *right.rows[0], *right.rows[1], *right.rows[2],
        )
        block = np.frombuffer(flat).reshape(26, 3)  # read only
        (
            com_now, com_velocity, com_acceleration, angular_momentum, angular_momentum_rate, dcm,
            zmp, zmp_model, zmp_push, fri, ground_normal, probability,
        ) = block[:12]
        return RobotState(
            guard.stamp, self._started and guard.valid, guard.faults, body.q.copy(), body.v.copy(),
            com_now, com_velocity, com_acceleration, angular_momentum, angular_momentum_rate, dcm, omega,
            block[12:14],  # sole_position
            block[20:26].reshape(2, 3, 3),  # sole_rotation
            block[16:20].reshape(2, 6),  # sole_velocity
            CONTACT[left.contact.contact, right.contact.contact], probability[:2], self._wrench.copy(),
            block[14:16],  # cop
            zmp, zmp_model, zmp_push, fri, self._support.vertices, ground_normal, ground_height, push.report(),
        )
        # fmt: on

    def _fri(
        self, zmp: tuple[float, ...], force: tuple[float, ...], moment: tuple[float, ...], com: Floats
    ) -> tuple[float, ...]:
        """The ZMP, but for feet that turn while they stand."""
        left, right = self._soles
        if left.flat and right.flat:
            return zmp
        fast = self.settings.contact.turning
        turning = [i for i in SIDES if self._soles[i].pressed and self._soles[i].turning() > fast]
        if not turning:
            return zmp
        f, m = np.array(force), np.array(moment)
        for side in turning:
            own_force, own_moment = self._feet[side].wrench(self._soles[side], com, self._guard.dt)
            f, m = f - own_force, m - own_moment
        return moment_free_point(f.tolist(), m.tolist(), com, self._ground.point, self._ground.normal, self._floor)
