"""What a log holds: the numbers of a tick in one row, and the topics that show them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_balance.experiments.link_tree import Link, LinkTree
from humanoid_balance.loop import Tick
from humanoid_balance.plants.truth import Truth
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, FootReference

WORLD, ODOM, SOLES = "world", "odom", ("l_sole", "r_sole")
VERTICES = 8  # of the support polygon, the last one repeated
SCALARS = ("stamp", "valid", "margin", "damped", "fell")
NOWHERE = np.full(3, np.nan), np.full(9, np.nan)

Columns = dict[str, NDArray[np.int64]]  # name of a quantity -> its columns in a tick's row
Topic = tuple[str, str, Any]  # name, type, value for the template


def numbers(tick: Tick, truth: Truth) -> dict[str, Array]:
    """All numbers of a tick, flat, in the order of its row; the names of rotations end in ``_turn``."""
    frame, state, reference, wanted, sent = tick.frame, tick.state, tick.reference, tick.wanted, tick.sent
    support = np.zeros((VERTICES, 3))
    if len(state.support):
        support[:, :2] = state.support[-1]
        support[: len(state.support), :2] = state.support[:VERTICES]
    left, right = _pose(reference.feet[0]), _pose(reference.feet[1])
    return {
        "scalars": np.array((truth.stamp, state.valid, reference.zmp_margin, sent.damped, truth.fell)),
        "frame.position": frame.position, "frame.velocity": frame.velocity, "frame.torque": frame.torque,
        "frame.gyro": frame.gyro, "frame.acceleration": frame.acceleration, "frame.wrench": frame.wrench.ravel(),
        "q": state.q, "v": state.v, "com": state.com,
        "com_velocity": state.com_velocity, "com_acceleration": state.com_acceleration,
        "angular_momentum": state.angular_momentum, "angular_momentum_rate": state.angular_momentum_rate,
        "dcm": state.dcm, "zmp": state.zmp, "zmp_model": state.zmp_model, "zmp_push": state.zmp_push,
        "fri": state.fri, "cop": state.cop.ravel(), "sole": state.sole_position.ravel(),
        "sole_turn": state.sole_rotation.ravel(), "sole_velocity": state.sole_velocity.ravel(),
        "contact": 1.0 * state.contact, "contact_probability": state.contact_probability,
        "support": support.ravel(), "push": state.push.force,
        "want.contact": 1.0 * reference.contact, "want.load": reference.load_max,
        "want.com": reference.com_acceleration, "want.momentum": reference.angular_momentum_rate,
        "want.com_weight": reference.com_weight, "want.momentum_weight": reference.momentum_weight,
        "want.torso_turn": reference.torso_rotation.ravel(),
        "want.torso_velocity": reference.torso_velocity, "want.posture": reference.posture,
        "want.posture_velocity": reference.posture_velocity, "want.left": left[0], "want.left_turn": left[1],
        "want.right": right[0], "want.right_turn": right[1],
        "wanted.position": wanted.position, "wanted.velocity": wanted.velocity, "wanted.torque": wanted.torque,
        "sent.position": sent.position, "sent.velocity": sent.velocity, "sent.torque": sent.torque,
        "sent.stiffness": sent.stiffness, "sent.damping": sent.damping,
        "truth.base": truth.base_position, "truth.base_quaternion": truth.base_quaternion,
        "truth.position": truth.joint_position, "truth.torque": truth.torque, "truth.com": truth.com,
        "truth.com_velocity": truth.com_velocity, "truth.angular_momentum": truth.angular_momentum,
        "truth.sole": truth.sole_position.ravel(), "truth.sole_turn": truth.sole_rotation.ravel(),
        "truth.force": truth.sole_force.ravel(), "truth.moment": truth.sole_moment.ravel(), "truth.push": truth.push,
    }  # fmt: skip


def _pose(foot: FootReference | None) -> tuple[Array, Array]:
    return NOWHERE if foot is None else (foot.position, foot.rotation.ravel())


def every_tick(robot: Robot, c: Columns, base: str) -> list[Topic]:
    """Topics with one message a tick; ``base`` is the link that carries the robot's pose."""

    def stamped(topic: str, kind: str, value: Any, frame: str = ODOM) -> Topic:
        field = {"Point": "point", "Vector3": "vector", "Pose": "pose", "Wrench": "wrench", "Quaternion": "quaternion"}
        return topic, f"geometry_msgs/{kind}Stamped", {"header": frame, field[kind]: value}

    def joints(topic: str, **columns: str) -> Topic:
        given = {key: c[name] for key, name in columns.items()}
        return topic, "sensor_msgs/JointState", {"header": base, "name": list(robot.joint_names)} | given

    def values(topic: str, *names: str) -> Topic:
        return topic, "std_msgs/Float64MultiArray", {"data": np.concatenate([c[name] for name in names])}

    def flag(topic: str, name: str) -> Topic:
        return topic, "std_msgs/Bool", {"data": c[name]}

    odometry = {"header": ODOM, "child_frame_id": base, "pose": {"pose": c["q"][:7]}, "twist": {"twist": c["v"][:6]}}
    imu = {"header": robot.config.imu, "orientation_covariance": [-1.0, *[0.0] * 8],  # -1: it measures no orientation
           "angular_velocity": c["frame.gyro"], "linear_acceleration": c["frame.acceleration"]}  # fmt: skip
    support = {"header": ODOM, "polygon": {"points": c["support"].reshape(VERTICES, 3)}}
    truth_base = np.concatenate((c["truth.base"], c["truth.base_quaternion"]))
    topics = [
        joints("/joint_states", position="frame.position", velocity="frame.velocity", effort="frame.torque"),
        ("/imu", "sensor_msgs/Imu", imu),
        ("/odom", "nav_msgs/Odometry", odometry),
        *(stamped(f"/{name}", "Point", c[name]) for name in ("com", "zmp", "dcm")),
        stamped("/com_velocity", "Vector3", c["com_velocity"]),
        stamped("/push_estimate", "Wrench", {"force": c["push"]}),
        stamped("/push", "Wrench", {"force": c["truth.push"]}, WORLD),
        values("/effort_controller/commands", "sent.torque"),
        joints("/estimate/joint_states", position="q.joints", velocity="v.joints"),
        *(stamped(f"/estimate/{name}", "Point", c[name]) for name in ("zmp_model", "zmp_push", "fri")),
        *(stamped(f"/estimate/{name}", "Vector3", c[name])
          for name in ("com_acceleration", "angular_momentum", "angular_momentum_rate")),
        values("/estimate/contact", "contact", "contact_probability"),
        values("/estimate/sole_velocity", "sole_velocity"),
        ("/estimate/support", "geometry_msgs/PolygonStamped", support),
        flag("/estimate/valid", "valid"),
        stamped("/reference/com_acceleration", "Vector3", c["want.com"]),
        stamped("/reference/angular_momentum_rate", "Vector3", c["want.momentum"]),
        stamped("/reference/torso", "Quaternion", c["want.torso_turn.quaternion"]),
        stamped("/reference/torso_velocity", "Vector3", c["want.torso_velocity"]),
        joints("/reference/posture", position="want.posture", velocity="want.posture_velocity"),
        values("/reference/contact", "want.contact", "want.load"),
        values("/reference/weights", "want.com_weight", "want.momentum_weight", "margin"),
        joints("/command/wanted", position="wanted.position", velocity="wanted.velocity", effort="wanted.torque"),
        joints("/command/sent", position="sent.position", velocity="sent.velocity", effort="sent.torque"),
        values("/command/gains", "sent.stiffness", "sent.damping"),
        flag("/command/damped", "damped"),
        stamped("/truth/base", "Pose", truth_base, WORLD),
        joints("/truth/joint_states", position="truth.position", effort="truth.torque"),
        stamped("/truth/com", "Point", c["truth.com"], WORLD),
        stamped("/truth/com_velocity", "Vector3", c["truth.com_velocity"], WORLD),
        stamped("/truth/angular_momentum", "Vector3", c["truth.angular_momentum"], WORLD),
        flag("/truth/fell", "fell"),
    ]  # fmt: skip
    for i, side in enumerate(("left", "right")):
        three, four = slice(3 * i, 3 * i + 3), slice(4 * i, 4 * i + 4)
        sole = np.concatenate((c["sole"][three], c["sole_turn.quaternion"][four]))
        true = np.concatenate((c["truth.sole"][three], c["truth.sole_turn.quaternion"][four]))
        want = np.concatenate((c[f"want.{side}"], c[f"want.{side}_turn.quaternion"]))
        wrench = np.concatenate((c["truth.force"][three], c["truth.moment"][three]))
        topics += [
            stamped(f"/{side}_foot/wrench", "Wrench", c["frame.wrench"].reshape(2, 6)[i], SOLES[i]),
            stamped(f"/estimate/{side}_sole", "Pose", sole),
            stamped(f"/estimate/{side}_cop", "Point", c["cop"][three]),
            stamped(f"/reference/{side}_foot", "Pose", want),
            stamped(f"/truth/{side}_sole", "Pose", true, WORLD),
            stamped(f"/truth/{side}_foot/wrench", "Wrench", wrench, WORLD),
        ]
    return topics


def moving(tree: LinkTree, c: Columns) -> Topic:
    """Transforms of the base and of all links that turn, whose columns are ``links``."""
    turns = c["links"].reshape(-1, 4)
    transforms = [_transform(link, turn) for link, turn in zip(tree.moving, turns, strict=True)]
    transforms.append({"header": ODOM, "child_frame_id": tree.root, "transform": c["q"][:7]})
    return "/tf", "tf2_msgs/TFMessage", {"transforms": transforms}


def fixed(robot: Robot, tree: LinkTree) -> Topic:
    """Transforms that never change: fixed links, the soles, and the estimator's world in the true one."""
    transforms = [_transform(link, _coefficients(link.placement.rotation)) for link in tree.fixed]
    known = {tree.root, *(link.name for link in tree.links)}
    for foot, name in zip(robot.config.feet, SOLES, strict=True):
        if name not in known:
            turn = _coefficients(pin.rpy.rpyToMatrix(*foot.rpy))
            placed = {"translation": [0.0, 0.0, foot.z], "rotation": turn}
            transforms.append({"header": foot.frame, "child_frame_id": name, "transform": placed})
    still = {"rotation": [0.0, 0.0, 0.0, 1.0]}
    transforms.append({"header": WORLD, "child_frame_id": ODOM, "transform": still})
    return "/tf_static", "tf2_msgs/TFMessage", {"transforms": transforms}


def _transform(link: Link, turn: NDArray[np.int64] | list[float]) -> dict[str, Any]:
    placed = {"translation": link.placement.translation.tolist(), "rotation": turn}
    return {"header": link.parent, "child_frame_id": link.name, "transform": placed}


def _coefficients(rotation: Array) -> list[float]:
    return [float(x) for x in pin.Quaternion(rotation).coeffs()]


def quaternions(rotation: Array) -> Array:
    """x y z w of rotation matrices (…, 3, 3)."""
    m = rotation
    size = np.stack([
        1 + m[..., 0, 0] - m[..., 1, 1] - m[..., 2, 2], 1 - m[..., 0, 0] + m[..., 1, 1] - m[..., 2, 2],
        1 - m[..., 0, 0] - m[..., 1, 1] + m[..., 2, 2], 1 + m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2],
    ], axis=-1)  # fmt: skip
    sign = np.stack([
        m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1],
        np.ones(m.shape[:-2]),
    ], axis=-1)  # fmt: skip
    return np.copysign(np.sqrt(np.clip(size, 0.0, None)) / 2, sign)
