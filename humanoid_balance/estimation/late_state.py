"""The state a tick reports: what the controller reads at once; the rest is made when somebody reads it."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from humanoid_balance.estimation.foot_rotation import Rolling, rest_of_body
from humanoid_balance.estimation.sole import pressure_point, turned_twist
from humanoid_balance.estimation.zmp import NAN3, moment_free_point
from humanoid_balance.layout import Layout
from humanoid_balance.types import GRAVITY, Array, RobotState

Vector = Sequence[float]
SolePlace = tuple[list[float], list[list[float]], list[float], tuple[float, float] | None]

PLACES = Layout(RobotState, 0).places  # none of the fields here depends on the number of joints


class Packed:
    """Fields that are made from plain floats in one piece of memory, three times faster than arrays one by one."""

    def __init__(self, *names: str) -> None:
        self.names = names
        shapes = [PLACES[name].shape for name in names]
        ends = list(accumulate(math.prod(shape) for shape in shapes))
        packer = struct.Struct(f"{ends[-1]}d")
        self.pack = packer.pack
        size = packer.size // ends[-1]
        self._views = [(shape, size * (end - math.prod(shape))) for shape, end in zip(shapes, ends, strict=True)]

    def views(self, packed: bytes) -> list[Array]:
        """An array of each field; they are read only."""
        return [np.ndarray(shape, float, packed, offset) for shape, offset in self._views]


SOON = Packed("dcm", "zmp")  # what recorders and figures read of every tick
PACKED = Packed("com_acceleration", "angular_momentum_rate", "zmp_model", "sole_velocity", "cop")
LATER = (*PACKED.names, "contact_probability", "zmp_push", "fri")
LATE = (*SOON.names, *LATER)


class LateState(RobotState):
    """A RobotState whose fields ``LATE`` come from ``late``, the arguments of ``late_fields``, at their first reading.

    An empty slot asks ``__getattr__``, a filled one never does again.
    """

    __slots__ = ("late",)
    late: tuple[Any, ...]

    def __getattr__(self, name: str) -> Array:
        if name in SOON.names:
            fields, values = SOON.names, soon_fields(*self.late[:10])
        elif name in LATER:
            fields, values = LATER, late_fields(self.zmp, *self.late)
        else:
            raise AttributeError(f"RobotState has no field '{name}'")
        for field, value in zip(fields, values, strict=True):
            object.__setattr__(self, field, value)
        found: Array = object.__getattribute__(self, name)
        return found


def soon_fields(
    mass: float, com: Vector, velocity: Vector, omega: float, soles: tuple[Vector, Vector], residual: Vector,
    bias: Vector, push: tuple[Vector, Vector] | None, ground: tuple[Vector, Vector, float], floor: float,
) -> Sequence[Array]:  # fmt: skip
    """The fields ``SOON``, world axes; arguments as of ``late_fields``."""
    (x, y, z), (vx, vy, vz), (force, moment) = com, velocity, soles
    zmp = moment_free_point(force, moment, com, ground[0], ground[1], floor)
    return SOON.views(SOON.pack(x + vx / omega, y + vy / omega, z + vz / omega, *zmp))


def late_fields(
    zmp: Array,
    mass: float,
    com: Vector,
    velocity: Vector,
    omega: float,
    soles: tuple[Vector, Vector],
    residual: Vector,
    bias: Vector,
    push: tuple[Vector, Vector] | None,
    ground: tuple[Vector, Vector, float],
    floor: float,
    left: SolePlace,
    right: SolePlace,
    probabilities: tuple[float, float],
    rolling: Rolling | None,
) -> tuple[Array, ...]:
    """The fields ``LATER``, world axes.

    ``soles``: force and moment about the CoM of both; ``residual`` wrench and its ``bias``; ``push``: force and moment
    while it is active; ``ground``: point, normal, height below the CoM; below ``floor`` [N] there is no ZMP; ``left``,
    ``right``: position, rows, twist and centre of pressure of a sole, the latter two in its frame; ``rolling``: the
    feet that turn while they stand, so that the FRI differs from the ZMP.
    """
    (fx, fy, fz), (nx, ny, nz) = soles
    point, normal, height = ground
    x, y, _ = com
    rx, ry, rz, sx, sy, sz = residual
    bx, by, bz = bias
    (px, py, pz), (qx, qy, qz) = push or ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    # K5: acceleration from the plates, while pushed also from the kinematics; a payload hides in the bias.
    needed, turning = (fx + rx - bx, fy + ry - by, fz + rz - bz), (nx + sx, ny + sy, nz + sz)  # m (c'' + g), L'
    model: Vector = (x, y, height)  # in flight
    if needed[2] > floor:
        model = moment_free_point(needed, turning, com, point, normal, floor)
    packed = PACKED.pack(
        (fx + bx + px) / mass, (fy + by + py) / mass, (fz + bz + pz) / mass - GRAVITY, nx + qx, ny + qy, nz + qz,
        *model, *_twist(left), *_twist(right), *_cop(left), *_cop(right),
    )  # fmt: skip
    at_once = dict(zip(PACKED.names, PACKED.views(packed), strict=True))
    zmp_push = at_once["zmp_model"]
    if push is not None and needed[2] - pz > floor:  # Yin Y0: what the ground has to give
        rest, turn = (
            (needed[0] - px, needed[1] - py, needed[2] - pz),
            (turning[0] - qx, turning[1] - qy, turning[2] - qz),
        )
        zmp_push = np.array(moment_free_point(rest, turn, com, point, normal, floor))
    fri = zmp
    if rolling is not None:
        fri = np.array(moment_free_point(*rest_of_body(soles, com, rolling), com, point, normal, floor))
    return (*at_once.values(), np.array(probabilities), zmp_push, fri)


def _twist(sole: SolePlace) -> list[float]:
    _, rows, twist, _ = sole
    return turned_twist(rows, twist)


def _cop(sole: SolePlace) -> tuple[float, float, float]:
    position, rows, _, pressure = sole
    return NAN3 if pressure is None else pressure_point(position, rows, pressure)
