"""One moment of a run as the eye wants it: the true body, and the points that decide about balance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_balance.experiments import metrics
from humanoid_balance.figures import playback as replay
from humanoid_balance.geometry import convex_hull
from humanoid_balance.loop import Tick
from humanoid_balance.plants.truth import Truth
from humanoid_balance.recording.run import Run
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import SOLES, Array, Reference

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
    push_point: Array = field(default_factory=lambda: NOWHERE)  # where it acts (3,)
    grip: Array = field(default_factory=lambda: NOWHERE)  # where a hand pulls; NaN if none does (3,)
    footstep: Array = field(default_factory=lambda: NOTHING)  # corners of the planned foothold (4, 3)

    @property
    def words(self) -> str:
        """The mode, and whether that is no use any more."""
        return f"fell, {self.mode}" if self.fell else self.mode


def believed(tick: Tick, truth: Truth, robot: Robot, grip: Array = NOWHERE) -> Moment:
    """What the controller believes, drawn where the true body stands.

    The estimator's world drifts away from the true one; what it knows about the body fits the body, so both bases are
    laid on each other.
    """
    state = tick.state
    base = pin.XYZQUATToSE3(truth.q[:7])
    shift = base * pin.XYZQUATToSE3(state.q[:7]).inverse()

    def true(points: Array) -> Array:
        return np.asarray(points @ shift.rotation.T + shift.translation)

    flat = np.full(len(state.support), state.ground_height)
    capture = np.array([state.dcm[0], state.dcm[1], state.ground_height])
    force = np.einsum("fij,fj->fi", state.sole_rotation, state.wrench[:, :3]) @ shift.rotation.T
    return Moment(
        time=truth.stamp, mode=tick.reference.mode, fell=truth.fell,
        q=truth.q,
        com=true(state.com), zmp=true(state.zmp), capture=true(capture),
        support=true(np.column_stack([state.support, flat])) if len(state.support) else NOTHING,
        pressure=true(state.cop), force=force, push=truth.push, push_point=truth.push_point, grip=grip,
        footstep=true(foothold(robot, tick.reference)),
    )  # fmt: skip


def foothold(robot: Robot, reference: Reference) -> Array:
    """Corners of the sole that is set down next, in the estimator's world (4, 3); (0, 3) if none is."""
    for step in reference.footholds:
        if step.contact in SOLES:
            corners: Array = robot.soles[SOLES.index(step.contact)] @ step.rotation.T + step.position
            return corners
    return NOTHING


class TrueMoments:
    """Moments of a finished run, from ground truth."""

    def __init__(self, run: Run) -> None:
        self.record = run.record
        self.capture, self.zmp = replay.capture_point(run), metrics.true_zmp(run.record)
        self.corners, self.standing = replay.sole_corners(run), metrics.loaded(run.record)
        self.slope = math.tan(math.radians(run.settings.slope))

    def at(self, k: int) -> Moment:
        """Row ``k`` of the record."""
        record = self.record
        sole, force, moment = (record[f"true_sole_{name}"] for name in ("position", "force", "moment"))
        return Moment(
            time=float(record["time"][k]), mode=record.modes[int(record["mode"][k])],
            fell=bool(record["true_fell"][k]), q=record["true_q"][k], com=record["true_com"][k],
            zmp=self.zmp[k], capture=self.capture[k], support=self._support(k),
            pressure=pressure(record.robot, sole[k], force[k], moment[k]),
            force=force[k], push=record["true_push"][k], push_point=record["true_push_point"][k],
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
