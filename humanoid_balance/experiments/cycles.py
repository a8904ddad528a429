"""A gait from motion (Y20): the joint curves of a recorded run as Fourier series, with balance feedback on top."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pinocchio as pin
import yaml
from numpy.typing import NDArray

from humanoid_balance.errors import InputError
from humanoid_balance.gaits.cycle import Cycle, FourierCurve
from humanoid_balance.gaits.fourier import fit
from humanoid_balance.gaits.limbs import Hinge, JointedBody
from humanoid_balance.recording.run import Run
from humanoid_balance.types import RIGHT, Array

SETTLED = 4.0  # of a run are left out at its beginning [s]
CYCLES = 7  # are taken from its end, at most
# A quarter of the cycle the swinging foot may still touch the ground it is leaving; afterwards contact is a landing.
LEAVING = 0.25
# The 3-D walk's, in all its states (Y17): gains of a hip that follows a smooth curve.
C_D, C_V = 0.5, 0.2
# A body that walks is nearer to any of these gaits than one that stands: from rest even the fitted walk falls.
ENTER = {"plane": "walk", "space": "walk-3d"}


@dataclass(frozen=True)
class LegCurves:
    """Angles of one leg and of the trunk as a table has them, sample by sample (k,) [rad]."""

    hip: Array
    knee: Array
    ankle: Array
    torso: Array
    standing: Array  # 1 where the foot is on the ground
    speed: Array  # of the CoM, forward [m/s]

    def last(self, count: int) -> LegCurves:
        return LegCurves(*(getattr(self, part.name)[-count:] for part in fields(self)))

    def fit(self, dt: float) -> Cycle:
        landed: NDArray[np.intp] = np.flatnonzero(np.diff(self.standing) > 0.5) + 1
        return fit(self.hip, self.knee, self.ankle, dt, landed)


def leg_curves(run: Run) -> LegCurves:
    """What the right leg did, by the estimated configuration."""
    if run.result.get("fell"):
        raise InputError("a run that fell has no cycle to fit; allowed: one that ends on its feet")
    robot = run.robot
    body, data = JointedBody(robot), robot.model.createData()
    limb = body.limbs[RIGHT]
    record, settled = run.record, run.record["time"] >= SETTLED
    configurations = record["q"][settled]
    hip, torso = np.zeros(len(configurations)), np.zeros(len(configurations))
    for k, q in enumerate(configurations):
        pin.forwardKinematics(robot.model, data, q)
        hip[k] = forward(data.oMi[limb.thigh].rotation @ limb.upright)
        torso[k] = forward(data.oMi[1].rotation @ body.level)
    joints = configurations[:, 7:]
    standing, speed = record["contact"][settled, RIGHT], record["com_velocity"][settled, 0]
    return LegCurves(hip, _angle(joints, limb.knee), _angle(joints, limb.ankle), torso, standing, speed)


def forward(rotation: Array) -> float:
    """How far a link's lower end is swung forward, in the plane of its own heading [rad]; see ``limb_views.posed``."""
    return math.atan2(float(rotation[2, 0]), math.hypot(float(rotation[0, 0]), float(rotation[1, 0])))


def fitted(run: Run) -> tuple[Cycle, LegCurves]:
    """The cycle of a run's last steps, and what it was fitted to."""
    curves = leg_curves(run)
    count = round(CYCLES * curves.fit(run.dt).period / run.dt)
    curves = curves.last(count)
    return curves.fit(run.dt), curves


def text(run: Run, about: str) -> str:
    """The YAML of a gait that does what a run did."""
    cycle, curves = fitted(run)
    # The feedback was at work when the curves were recorded: at the recorded speed it shall add nothing.
    offset, torso = round(-C_V * float(curves.speed.mean()), 4), round(float(curves.torso.mean()), 4)
    states: list[dict[str, Any]] = [{"time": round(LEAVING * cycle.period, 4)}, {"until": "swing"}]
    for state in states:
        state |= {"c_d": C_D, "c_v": C_V, "torso": torso, "swing_hip": offset}
        if not run.robot.planar:
            state["lateral"] = [C_D, C_V]
    series = {key: _numbers(getattr(cycle, key)) for key in ("hip", "knee", "ankle")}
    space = "plane" if run.robot.planar else "space"
    data = {
        "about": about,
        "space": space,
        "enter": [ENTER[space]],
        "cycle": {"period": round(cycle.period, 5), **series},
        "states": states,
    }
    head = "# Fourier series of a recorded run (humanoid-balance gait --fit), balance feedback on top; docs/gaits.md.\n"
    return head + yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=118)


def _angle(joints: Array, hinge: Hinge) -> Array:
    angle: Array = hinge.zero + hinge.sign * joints[:, hinge.index]
    return angle


def _numbers(curve: FourierCurve) -> list[float]:
    return [round(v, 5) for v in (curve.mean, *(number for part in curve.parts for number in part))]
