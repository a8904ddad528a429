"""What the whole-body controller found in a tick."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from humanoid_balance.geometry import convex_hull, margin
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, TouchWrench
from humanoid_balance.wholebody.hierarchy import Optimum


class Status(Enum):
    """How the tick ended; see docs/wholebody.md for what is sent to the motors in each case."""

    SOLVED = "solved"  # the first level is met
    RELAXED = "relaxed"  # contact and limits hold, but the first level or a contact asked for cannot be had
    INFEASIBLE = "infeasible"  # contact and limits contradict each other
    NOT_CONVERGED = "not converged"  # no answer was found within the bound on iterations


class Sent(Enum):
    """Which torque was sent."""

    OPTIMUM = "optimum"  # SOLVED, or RELAXED: as near to the first level as all the constraints allow
    LEAST_EXCESS = "least excess"  # INFEASIBLE: contact and torque limits hold, joint limits as nearly as they let
    BRAKE = "brake"  # neither exists: weight carried, joints braked, clipped to the torque limits


@dataclass(frozen=True)
class Residuals:
    """Of the last QP, rows scaled to about 1."""

    primal: float  # largest violation of an inequality
    dual: float  # largest entry of the gradient of the Lagrangian
    gap: float  # sum of multiplier times distance to its bound


@dataclass(eq=False)
class Solution:
    """Optimum of one tick. Wrenches are of the ground on each sole, in and about the sole frame."""

    status: Status
    sent: Sent
    missing: tuple[int, ...]  # soles that should push but have no ground under them
    acceleration: Array  # generalised (nv,)
    torque: Array  # (n,) [N m]
    wrenches: Array  # (2, 6) [N, N m]
    Ag: Array  # centroidal momentum per generalised velocity (6, nv), see Terms
    drift: Array  # CoM acceleration and rate of angular momentum at zero acceleration (6,)
    wanted_com_acceleration: Array  # (3,) [m/s²]
    com_weight: Array  # (3,)
    sole_position: Array  # world (2, 3) [m]
    sole_rotation: Array  # (2, 3, 3)
    optimum: Optimum
    robot: Robot
    names: tuple[str, ...]  # of all constraint rows
    touch: TouchWrench | None = None  # of the planned contacts beside the soles

    @property
    def feasible(self) -> bool:
        """Everything that was asked on the first level can be had."""
        return self.status is Status.SOLVED

    @cached_property
    def com_acceleration(self) -> Array:
        """(3,) [m/s²]"""
        return np.asarray(self.Ag[:3].dot(self.acceleration) / self.robot.mass + self.drift[:3])

    @cached_property
    def angular_momentum_rate(self) -> Array:
        """About the CoM (3,) [N m]."""
        return np.asarray(self.Ag[3:].dot(self.acceleration) + self.drift[3:])

    @property
    def com_residual(self) -> Array:
        """CoM acceleration reached less wanted, zero on free axes (3,) [m/s²]."""
        return np.where(self.com_weight > 0, self.com_acceleration - self.wanted_com_acceleration, 0.0)

    @property
    def residuals(self) -> Residuals:
        return Residuals(self.optimum.violation, self.optimum.dual, self.optimum.gap)

    @property
    def iterations(self) -> int:
        """Changes of the active set and iterations of ProxQP."""
        return self.optimum.iterations

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the constraints that hold the optimum back."""
        return tuple(self.names[i] for i in self.optimum.active)

    @property
    def torque_slack(self) -> float:
        """Smallest 1 - |torque| / limit over the joints."""
        return float(1 - np.max(np.abs(self.torque) / self.robot.torque_limit))

    @cached_property
    def zmp(self) -> Array:
        """Zero moment point of the planned wrenches on the plane through the loaded soles, world (3,) [m]."""
        force = np.einsum("sij,sj->si", self.sole_rotation, self.wrenches[:, :3])
        normal = self.wrenches[:, 2]
        total = normal.sum()
        if total <= 0:
            return np.full(3, np.nan)
        origin = (normal[:, None] * self.sole_position).sum(axis=0) / total
        moment = np.einsum("sij,sj->i", self.sole_rotation, self.wrenches[:, 3:])
        moment += np.cross(self.sole_position - origin, force).sum(axis=0)
        n = np.einsum("sij,s->ij", self.sole_rotation, normal)[:, 2]
        n /= np.linalg.norm(n)
        return np.asarray(origin + np.cross(n, moment) / n.dot(force.sum(axis=0)))

    @cached_property
    def zmp_slack(self) -> float:
        """Distance of the ZMP to the edge of the support polygon, negative outside [m]; NaN in flight."""
        loaded = self.wrenches[:, 2] > 0
        if not loaded.any():
            return float("nan")
        corners = np.einsum("sij,skj->ski", self.sole_rotation, self.robot.soles) + self.sole_position[:, None]
        polygon = convex_hull([(x, y) for x, y, _ in corners[loaded].reshape(-1, 3).tolist()])
        return margin(np.array(polygon), self.zmp)
