"""A robot's clip as a web page of its own, with a time slider."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_balance.motions.robot_clip import RobotClip
from humanoid_balance.plants.world import World
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array
from humanoid_balance.viewer.moment import NOTHING, Moment
from humanoid_balance.viewer.server import PageServer
from humanoid_balance.viewer.stage import Scene


def page(clip: RobotClip, robot: Robot) -> str:
    """The HTML; needs no server and no network. Standing soles have their outline on the ground."""
    server = PageServer("127.0.0.1", 0, clip.name)
    try:
        scene = Scene(server, robot, World())
        scene.look_from(server.initial_camera)
        moments = [_moment(clip, robot, k) for k in range(clip.frames)]
        scene.show(moments[0], clock=True)
        serializer = server.get_scene_serializer()
        for moment in moments:
            scene.show(moment, clock=True)
            serializer.insert_sleep(1 / clip.rate)
        return serializer.as_html()
    finally:
        server.stop()


def _moment(clip: RobotClip, robot: Robot, k: int) -> Moment:
    """A frame: the body, its CoM, the soles that stand. Nothing is known of forces."""
    model, data, nowhere = robot.model, robot.data, np.full(3, np.nan)
    pin.framesForwardKinematics(model, data, clip.q[k])
    com = np.array(pin.centerOfMass(model, data, clip.q[k]))
    soles: list[Array] = [
        robot.soles[side] @ data.oMf[frame].rotation.T + data.oMf[frame].translation
        for side, (frame, name) in enumerate(zip(robot.sole_frames, ("left_foot", "right_foot"), strict=True))
        if name in clip.contacts and clip.contacts[name][k]
    ]
    return Moment(
        time=k / clip.rate, mode=clip.name, fell=False, q=clip.q[k], com=com, zmp=nowhere, capture=nowhere,
        support=soles[0] if soles else NOTHING, pressure=np.full((2, 3), np.nan), force=np.zeros((2, 3)),
        push=np.zeros(3), footstep=soles[1] if len(soles) > 1 else NOTHING,
    )  # fmt: skip
