"""When did the legs touch each other? The recorded motion again, looked at by the simulator's collision geometry."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from humanoid_balance.plants.mujoco.model import LEFT_LEG, RIGHT_LEG, build
from humanoid_balance.plants.world import World
from humanoid_balance.recording.run import Run

EVERY = 0.004  # [s]: a foot at 3 m/s moves by 1 cm


@dataclass(frozen=True)
class LegContact:
    stamp: float  # when it began [s]
    links: tuple[str, str]  # of the left and the right leg


def leg_contacts(done: Run) -> list[LegContact]:
    """Each pair of links that met, at the time it began to; of the simulated body, on the poses that it really had."""
    robot = done.robot
    model = build(robot, World())
    data, record = mujoco.MjData(model), done.record
    time, configurations = record["time"], record["true_q"]
    addresses = [model.joint(name).qposadr[0] for name in robot.joint_names]
    stride = max(1, round(EVERY / float(np.median(np.diff(time)))))
    found, touching = [], set[tuple[str, str]]()
    for row in range(0, len(time), stride):
        q = configurations[row]  # base position, quaternion x y z w, joints
        data.qpos[:3], data.qpos[3:7], data.qpos[addresses] = q[:3], q[[6, 3, 4, 5]], q[7:]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        pairs = {_links(model, pair) for pair in data.contact.geom.tolist() if _legs(model, pair)}
        found += [LegContact(float(time[row]), pair) for pair in sorted(pairs - touching)]
        touching = pairs
    return found


def _legs(model: mujoco.MjModel, pair: list[int]) -> bool:
    return {int(model.geom_contype[geom]) for geom in pair} == {LEFT_LEG, RIGHT_LEG}


def _links(model: mujoco.MjModel, pair: list[int]) -> tuple[str, str]:
    left, right = sorted(pair, key=lambda geom: int(model.geom_contype[geom]))
    return model.body(model.geom_bodyid[left]).name, model.body(model.geom_bodyid[right]).name
