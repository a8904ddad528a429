"""One moment of a run as the eye wants it: the true body, and the points that decide about balance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.estimation.support import convex_hull
from humanoid_balance.experiments import metrics, replay
from humanoid_balance.loop import Tick
from humanoid_balance.plants.truth import Truth
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

if TYPE_CHECKING:
    from humanoid_balance.experiments.push import PushRun

NOWHERE = np.full(3, np.nan)
NOTHING = np.zeros((0, 3))


@dataclass(frozen=True, slots=True)
class Moment:
    """World frame of the simulation, SI units. A point that does not exist is NaN."""

    time: float
    mode: str
    fell: bool
    q: Array  # true pose: base position, base quaternion x y z w, joints (7 + n,)
    com: Array  # (3,)
    zmp: Array  # (3,)
    capture: Array  # capture point on the ground (3,)
    support: Array  # vertices of the support polygon (k, 3)
    pressure: Array  # where each foot's force acts (2, 3)
    force: Array  # of the ground on each foot (2, 3) [N]
    push: Array  # external force on the body (3,) [N]
    grip: Array = field(default_factory=lambda: NOWHERE)  # where a hand pulls; NaN for a push through the CoM (3,)
    footstep: Array = field(default_factory=lambda: NOTHING)  # corners of the planned foothold (4, 3)


def believed(tick: Tick, truth: Truth, balance: Supervisor, grip: Array = NOWHERE) -> Moment:
    """What the controller believes, drawn where the true body stands.

    The estimator's world drifts away from the true one; what it knows about the body fits the body, so both bases are
    laid on each other.
    """
    state = tick.state
    base = pin.XYZQUATToSE3(np.concatenate([truth.base_position, truth.base_quaternion]))
    shift = base * pin.XYZQUATToSE3(state.q[:7]).inverse()

    def true(points: Array) -> Array:
        return np.asarray(points @ shift.rotation.T + shift.translation)

    flat = np.full(len(state.support), state.ground_height)
    capture = np.array([state.dcm[0], state.dcm[1], state.ground_height])
    force = np.einsum("fij,fj->fi", state.sole_rotation, state.wrench[:, :3]) @ shift.rotation.T
    return Moment(
        time=truth.stamp, mode=tick.reference.mode, fell=truth.fell,
        q=np.concatenate([truth.base_position, truth.base_quaternion, truth.joint_position]),
        com=true(state.com), zmp=true(state.zmp), capture=true(capture),
        support=true(np.column_stack([state.support, flat])) if len(state.support) else NOTHING,
        pressure=true(state.cop), force=force, push=truth.push, grip=grip, footstep=true(foothold(balance)),
    )  # fmt: skip


def foothold(balance: Supervisor) -> Array:
    """Corners of the sole where the swinging foot is going to land, in the estimator's world (4, 3); (0, 3) if none."""
    cycle = getattr(balance.mode, "cycle", None)
    if cycle is None or cycle.swing is None or cycle.phase != "swing":
        return NOTHING
    corners: Array = balance.robot.soles[cycle.side] @ cycle.swing.target_rotation.T + cycle.swing.target
    return corners


class TrueMoments:
    """Moments of a finished run, from ground truth."""

    def __init__(self, done: PushRun) -> None:
        self.record = done.record
        self.capture, self.zmp = replay.capture_point(done), metrics.true_zmp(done.record)
        self.corners, self.standing = replay.sole_corners(done), metrics.loaded(done.record)
        self.slope = math.tan(math.radians(done.plant.options.world.slope))

    def at(self, k: int) -> Moment:
        """Row ``k`` of the record."""
        record = self.record
        return Moment(
            time=float(record["time"][k]), mode=record.modes[int(record["mode"][k])],
            fell=bool(record["true_fell"][k]), q=record["true_q"][k], com=record["true_com"][k],
            zmp=self.zmp[k], capture=self.capture[k], support=self._support(k),
            pressure=pressure(record.robot, record["true_sole"][k], record["true_force"][k], record["true_moment"][k]),
            force=record["true_force"][k], push=record["true_push"][k],
        )  # fmt: skip

    def _support(self, k: int) -> Array:
        if not self.standing[k].any():
            return NOTHING
        corners = self.corners[k][self.standing[k]].reshape(-1, 3)
        hull = np.array(convex_hull([(x, y) for x, y, _ in corners.tolist()]))
        return np.column_stack([hull, self.slope * hull[:, 0]])


def pressure(robot: Robot, sole: Array, force: Array, moment: Array) -> Array:
    """Centre of pressure of each foot at the height of its sole, from its wrench in the world (2, 3)."""
    fz = np.where(force[:, 2] > metrics.LOADED * robot.weight, force[:, 2], np.nan)
    return sole + np.column_stack([-moment[:, 1] / fz, moment[:, 0] / fz, np.zeros(2)])
