"""SensorFrame -> RobotState: the estimator box of the loop."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pinocchio as pin

from humanoid_balance.estimation import zmp
from humanoid_balance.estimation.base_filter import ACCEL, GYRO, BaseFilter
from humanoid_balance.estimation.contacts import FootContact
from humanoid_balance.estimation.input_guard import InputGuard
from humanoid_balance.estimation.kinematics import BodyKinematics
from humanoid_balance.estimation.momentum import MomentumObserver
from humanoid_balance.estimation.push import PushDetector
from humanoid_balance.estimation.settings import EstimatorSettings
from humanoid_balance.estimation.support import SupportPolygon
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import GRAVITY, LEFT, RIGHT, Array, Flags, RobotState, SensorFrame

Floats = list[float]
UP = np.array([0.0, 0.0, 1.0])
SIDES = (LEFT, RIGHT)


def _flags(left: bool, right: bool) -> Flags:
    flags = np.array([left, right])
    flags.flags.writeable = False
    return flags


CONTACT = {(left, right): _flags(left, right) for left in (False, True) for right in (False, True)}


class Estimator:
    """What the controller knows, from sensors alone. Starts with the first complete frame, robot at rest."""

    def __init__(self, robot: Robot, settings: EstimatorSettings | None = None) -> None:
        self.robot = robot
        self.settings = s = settings or EstimatorSettings()
        self._guard = InputGuard(robot, s.guard)
        self._body = BodyKinematics(robot)
        self._filter = BaseFilter(s.base, s.guard.period)
        self._feet = [FootContact(robot.weight, s.contact) for _ in SIDES]
        self._momentum = MomentumObserver(s.push.bandwidth)
        self._push = PushDetector(robot.weight, s.push)
        self._support = SupportPolygon(robot.soles)
        self._floor = 0.5 * s.contact.load_off * robot.weight  # below: no centre of pressure [N]
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next complete frame starts the estimate anew at the world origin."""
        self._guard.reset()
        self._push.reset()
        self._started = False
        self._state: RobotState | None = None
        self._normal: Floats = [0.0, 0.0, 1.0]
        self._ground: Floats = [0.0, 0.0, 0.0]
        self._clear_windows()

    def update(self, frame: SensorFrame) -> RobotState:
        """One tick. Never raises on bad sensor values; see ``faults`` and ``valid``."""
        guard = self._guard
        if not guard.accept(frame) and self._state is not None:
            self._state = dataclasses.replace(self._state, valid=guard.valid, faults=guard.faults)
            return self._state
        if not self._started or guard.restart:
            self._start()
        else:
            self._predict()
        self._observe_contacts()
        self._correct()
        self._state = self._report()
        return self._state

    # ---- start ----

    def _start(self) -> None:
        """Level by the accelerometer; heading and place are free: zero at first, kept after a gap in the data."""
        guard, body = self._guard, self._body
        heading, place = 0.0, [0.0, 0.0]
        if self._started:
            heading = math.atan2(body.rotation[1, 0], body.rotation[0, 0])
            place = np.mean([np.array(a) for a in self._filter.anchor], axis=0)[:2].tolist()
            height = self._ground[2]
        else:
            height = 0.0
        up = guard.acceleration / np.linalg.norm(guard.acceleration)
        level = pin.Quaternion.FromTwoVectors(up, UP).toRotationMatrix()
        self._filter.start(level, [0.0, 0.0, 0.0])
        self._place_body()
        turn = heading - math.atan2(body.rotation[1, 0], body.rotation[0, 0])
        self._filter.start(pin.utils.rotate("z", turn) @ level, [0.0, 0.0, 0.0])
        self._place_body()
        loads = [guard.wrench[side, 2] for side in SIDES]
        standing = [load > self._feet[0]._on for load in loads]
        if not any(standing):
            standing = [True, True]
        middle = self.robot.soles.mean(axis=1)  # of each sole's rectangle, in its frame
        centres = [body.sole_position[i] + body.sole_rotation[i] @ middle[i] for i in SIDES if standing[i]]
        centre = np.mean(centres, axis=0)
        self._filter.position = [place[0] - centre[0], place[1] - centre[1], height - centre[2]]
        self._place_body()
        for side in SIDES:
            self._feet[side].reset(bool(loads[side] > self._feet[side]._on))
            self._filter.set_trust(side, self._feet[side].contact, body.sole_position[side].tolist())
        momentum = (self.robot.mass * body.com_velocity).tolist() + body.angular_momentum.tolist()
        self._momentum.reset(momentum)
        self._ground = [place[0], place[1], height]
        self._started = guard.complete

    def _place_body(self) -> None:
        base, guard = self._filter, self._guard
        self._body.update(guard.position, guard.velocity, base.rotation, base.position, base.velocity, base.rate)

    # ---- the tick ----

    def _predict(self) -> None:
        guard = self._guard
        self._filter.predict(guard.gyro.tolist(), guard.acceleration.tolist(), guard.dt)
        self._place_body()

    def _observe_contacts(self) -> None:
        """Soles in the world, their wrenches, contact, slip and rolling."""
        body, base, dt = self._body, self._filter, self._guard.dt
        self._sole = [body.sole_position[0].tolist(), body.sole_position[1].tolist()]
        self._rows = [body.sole_rotation[0].tolist(), body.sole_rotation[1].tolist()]
        self._twist = [body.sole_twist(0), body.sole_twist(1)]
        self._wrench = self._guard.wrench.tolist()
        self._cop = []
        self._disturbed = False
        changed = False
        for side in SIDES:
            foot, sole, twist = self._feet[side], self._sole[side], self._twist[side]
            cop = zmp.centre_of_pressure(self._wrench[side], sole, self._rows[side], self._floor)
            self._cop.append(cop)
            if foot.update(self._wrench[side][2]):
                self._disturbed = True
            if foot.contact:
                vx, vy, vz, wx, wy, wz = twist
                x, y, z = cop[0] - sole[0], cop[1] - sole[1], cop[2] - sole[2]
                rx, ry, rz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x  # the rolling part, w x (cop - sole)
                speed = math.sqrt((vx + rx) ** 2 + (vy + ry) ** 2 + (vz + rz) ** 2)
                if speed == speed:  # no CoP, no judgement
                    foot.watch_slip(speed, dt)
                    turning = (wx * wx + wy * wy + wz * wz) / self.settings.contact.rolling_rate**2
                    if turning > 0.1:
                        roll = -dt * turning / (1.0 + turning)
                        base.roll(side, roll * rx, roll * ry, roll * rz)
            if foot.trusted != base.trusted[side]:
                base.set_trust(side, foot.trusted, sole)
                changed = True
        if changed:
            base.update_covariance()

    def _correct(self) -> None:
        base, guard = self._filter, self._guard
        base.correct(self._sole[0], self._sole[1])
        self._collect_bias_evidence()
        if base.due:
            base.update_covariance()

    # ---- biases ----

    def _clear_windows(self) -> None:
        self._gyro_sum, self._gyro_count = [0.0, 0.0, 0.0], 0
        self._force_sum: Floats = [0.0] * 6
        self._force_time = 0.0
        self._force_start = [0.0] * 3

    def _collect_bias_evidence(self) -> None:
        """Feet at rest show the gyro's bias, force plates the accelerometer's."""

    # ---- output ----

    def _report(self) -> RobotState:
        guard, body, robot = self._guard, self._body, self.robot
        mass, dt = robot.mass, guard.dt
        cx, cy, cz = body.com.tolist()
        kx, ky, kz = body.com_velocity.tolist()
        lx, ly, lz = body.angular_momentum.tolist()
        # wrench of the soles about the CoM, world axes
        fx = fy = fz = nx = ny = nz = 0.0
        for side in SIDES:
            (a, b, c), (d, e, f), (g, h, i) = self._rows[side]
            u, v, w, mu, mv, mw = self._wrench[side]
            px, py, pz = a * u + b * v + c * w, d * u + e * v + f * w, g * u + h * v + i * w
            x, y, z = self._sole[side]
            x, y, z = x - cx, y - cy, z - cz
            fx, fy, fz = fx + px, fy + py, fz + pz
            nx += a * mu + b * mv + c * mw + y * pz - z * py
            ny += d * mu + e * mv + f * mw + z * px - x * pz
            nz += g * mu + h * mv + i * mw + x * py - y * px
        observer, push = self._momentum, self._push
        observer.update(
            [mass * kx, mass * ky, mass * kz, lx, ly, lz], [fx, fy, fz - robot.weight, nx, ny, nz], dt
        )
        rx, ry, rz, sx, sy, sz = observer.residual
        ground_height = self._ground_plane(cx, cy)
        push.update(guard.stamp, dt, observer.residual, cz - ground_height, self._disturbed)
        # CoM velocity: plates and kinematics; kinematics alone when they disagree (a push begins).
        hx, hy, hz = observer.momentum[:3]
        ex, ey, ez = observer.innovation[:3]
        off = (ex * ex + ey * ey + ez * ez) / (0.01 * mass) ** 2
        blend = off / (1.0 + off)
        vx, vy, vz = (hx + blend * (mass * kx - hx)) / mass, (hy + blend * (mass * ky - hy)) / mass, (hz + blend * (mass * kz - hz)) / mass
        bx, by, bz = push.bias
        if push.active:
            (qx, qy, qz), (tx, ty, tz) = push.force, push.moment
        else:
            qx = qy = qz = tx = ty = tz = 0.0
        ax, ay, az = (fx + qx) / mass, (fy + qy) / mass, (fz + qz - robot.weight) / mass
        height = max(cz - ground_height, 0.2 * robot.com_height)
        omega = math.sqrt(GRAVITY / height)
        com = (cx, cy, cz)
        ground, normal = self._ground, self._normal
        floor = self._floor
        measured = zmp.moment_free_point((fx, fy, fz), (nx, ny, nz), com, ground, normal, floor)
        total = (fx + rx - bx, fy + ry - by, fz + rz - bz)
        model = zmp.moment_free_point(total, (nx + sx, ny + sy, nz + sz), com, ground, normal, floor)
        pushed = (
            zmp.moment_free_point(
                (total[0] - qx, total[1] - qy, total[2] - qz), (nx + sx - tx, ny + sy - ty, nz + sz - tz),
                com, ground, normal, floor,
            )
            if push.active
            else model
        )
        left, right = self._feet
        contact = (left.contact, right.contact)
        cop_left = self._cop[0] if contact[0] else zmp.NAN3
        cop_right = self._cop[1] if contact[1] else zmp.NAN3
        support = self._support.update(contact, (self._sole[0], self._sole[1]), body.sole_rotation)
        rows = self._rows
        block = np.array((
            cx, cy, cz,
            vx, vy, vz,
            ax, ay, az,
            lx, ly, lz,
            nx + tx, ny + ty, nz + tz,
            cx + vx / omega, cy + vy / omega, cz + vz / omega,
            *self._sole[0], *self._sole[1],
            *rows[0][0], *rows[0][1], *rows[0][2], *rows[1][0], *rows[1][1], *rows[1][2],
            *self._twist[0], *self._twist[1],
            left.probability, right.probability,
            *cop_left, *cop_right,
            *measured, *model, *pushed, *measured,
            *normal,
        ))  # fmt: skip
        return RobotState(
            guard.stamp,
            self._started and guard.valid,
            guard.faults,
            body.q.copy(),
            body.v.copy(),
            block[0:3],
            block[3:6],
            block[6:9],
            block[9:12],
            block[12:15],
            block[15:18],
            omega,
            block[18:24].reshape(2, 3),
            block[24:42].reshape(2, 3, 3),
            block[42:54].reshape(2, 6),
            CONTACT[contact],
            block[54:56],
            guard.wrench.copy(),
            block[56:62].reshape(2, 3),
            block[62:65],
            block[65:68],
            block[68:71],
            block[71:74],
            support,
            block[74:77],
            ground_height,
            push.report(),
        )

    def _ground_plane(self, x: float, y: float) -> float:
        """Keep the plane through the standing soles; its height at (x, y) [m]."""
        left, right = self._feet
        if left.contact or right.contact:
            if left.contact and right.contact:
                (a, b, c), (d, e, f) = self._sole
                self._ground = [0.5 * (a + d), 0.5 * (b + e), 0.5 * (c + f)]
                rows = self._rows
                normal = [rows[0][k][2] + rows[1][k][2] for k in range(3)]
            else:
                side = LEFT if left.contact else RIGHT
                self._ground = list(self._sole[side])
                normal = [self._rows[side][k][2] for k in range(3)]
            length = math.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
            if length > 1e-3 and normal[2] > 0.5 * length:
                self._normal = [normal[0] / length, normal[1] / length, normal[2] / length]
        (gx, gy, gz), (nx, ny, nz) = self._ground, self._normal
        return gz - (nx * (x - gx) + ny * (y - gy)) / nz


__all__ = ["ACCEL", "GYRO", "Array", "Estimator"]
