"""What a log holds: topics that show the numbers of a tick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_balance.layout import Layout
from humanoid_balance.recording.link_tree import Link, LinkTree
from humanoid_balance.recording.state_row import FORM, TOPIC, StateRow
from humanoid_balance.recording.tick_row import Columns
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference, RobotState

WORLD, ODOM, SOLES = "world", "odom", ("l_sole", "r_sole")

Topic = tuple[str, str, Any]  # name, type, value for the template


# Fields of the state that have topics of their own, of a fitting type; all others get one with their bare numbers.
SHOWN = (
    "q", "v", "com", "zmp", "dcm", "com_velocity", "push.force", "zmp_model", "zmp_push", "fri", "com_acceleration",
    "angular_momentum", "angular_momentum_rate", "contact", "contact_probability", "sole_velocity", "support", "valid",
    "sole_position", "sole_rotation", "cop",
)  # fmt: skip


# The same of a BodyReference.
SHOWN_WISHES = (
    "stamp", "com_acceleration", "angular_momentum_rate", "torso_rotation", "torso_velocity", "posture",
    "posture_velocity", "contact", "load_max", "feet.0.position", "feet.0.rotation", "feet.1.position",
    "feet.1.rotation",
)  # fmt: skip


def rest_of(kind: type, n: int, shown: tuple[str, ...]) -> list[str]:
    """Fields that have no topic of a fitting type."""
    return [path for path in Layout(kind, n).places if path not in shown]


def robot_state(n: int, c: Columns) -> Topic:
    """The very message that runs between the nodes, so that a log can be replayed like a bag."""
    row = StateRow(n)
    parts = [c[f"frame.{path}"] for path in row.frame.places] + [c[f"state.{path}"] for path in row.state.places]
    data, size = np.concatenate(parts), [row.width]
    form = {"dim": [{"label": FORM, "size": size, "stride": size}]}
    return f"/{TOPIC}", "std_msgs/Float64MultiArray", {"layout": form, "data": data}


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

    pose, twist = c["state.q"][:7], c["state.v"][:6]
    odometry = {"header": ODOM, "child_frame_id": base, "pose": {"pose": pose}, "twist": {"twist": twist}}
    imu = {"header": robot.config.imu, "orientation_covariance": [-1.0, *[0.0] * 8],  # -1: it measures no orientation
           "angular_velocity": c["frame.gyro"], "linear_acceleration": c["frame.acceleration"]}  # fmt: skip
    support = {"header": ODOM, "polygon": {"points": c["support"].reshape(-1, 3)}}
    truth_base = np.concatenate((c["truth.base_position"], c["truth.base_quaternion"]))
    topics = [
        joints("/joint_states", position="frame.position", velocity="frame.velocity", effort="frame.torque"),
        ("/imu", "sensor_msgs/Imu", imu),
        ("/odom", "nav_msgs/Odometry", odometry),
        *(stamped(f"/{name}", "Point", c[f"state.{name}"]) for name in ("com", "zmp", "dcm")),
        stamped("/com_velocity", "Vector3", c["state.com_velocity"]),
        stamped("/push_estimate", "Wrench", {"force": c["state.push.force"]}),
        stamped("/push", "Wrench", {"force": c["truth.push"]}, WORLD),
        values("/effort_controller/commands", "sent.torque"),
        joints("/estimate/joint_states", position="state.q.joints", velocity="state.v.joints"),
        *(stamped(f"/estimate/{name}", "Point", c[f"state.{name}"]) for name in ("zmp_model", "zmp_push", "fri")),
        *(stamped(f"/estimate/{name}", "Vector3", c[f"state.{name}"])
          for name in ("com_acceleration", "angular_momentum", "angular_momentum_rate")),
        values("/estimate/contact", "state.contact", "state.contact_probability"),
        values("/estimate/sole_velocity", "state.sole_velocity"),
        ("/estimate/support", "geometry_msgs/PolygonStamped", support),
        flag("/estimate/valid", "state.valid"),
        *(values(f"/estimate/{name}", f"state.{name}") for name in rest_of(RobotState, robot.n, SHOWN)),
        robot_state(robot.n, c),
        stamped("/reference/com_acceleration", "Vector3", c["reference.com_acceleration"]),
        stamped("/reference/angular_momentum_rate", "Vector3", c["reference.angular_momentum_rate"]),
        stamped("/reference/torso", "Quaternion", c["reference.torso_rotation.quaternion"]),
        stamped("/reference/torso_velocity", "Vector3", c["reference.torso_velocity"]),
        joints("/reference/posture", position="reference.posture", velocity="reference.posture_velocity"),
        values("/reference/contact", "reference.contact", "reference.load_max"),
        *(values(f"/reference/{name}", f"reference.{name}") for name in rest_of(BodyReference, robot.n, SHOWN_WISHES)),
        joints("/reference/joints", position="joint_reference.position", velocity="joint_reference.velocity",
               effort="joint_reference.torque"),
        values("/reference/joints/acceleration", "joint_reference.acceleration"),
        values("/reference/joints/gains", "joint_reference.stiffness", "joint_reference.damping"),
        joints("/command/wanted", position="wanted.position", velocity="wanted.velocity", effort="wanted.torque"),
        joints("/command/sent", position="sent.position", velocity="sent.velocity", effort="sent.torque"),
        values("/command/gains", "sent.stiffness", "sent.damping"),
        flag("/command/damped", "sent.damped"),
        values("/solution/residuals", *(f"solution.residuals.{kind}" for kind in ("primal", "dual", "gap"))),
        values("/solution/iterations", "solution.iterations"),
        stamped("/solution/com_residual", "Vector3", c["solution.com_residual"]),
        stamped("/truth/base", "Pose", truth_base, WORLD),
        joints("/truth/joint_states", position="truth.joint_position", effort="truth.torque"),
        stamped("/truth/com", "Point", c["truth.com"], WORLD),
        stamped("/truth/com_velocity", "Vector3", c["truth.com_velocity"], WORLD),
        stamped("/truth/angular_momentum", "Vector3", c["truth.angular_momentum"], WORLD),
        stamped("/truth/push_point", "Point", c["truth.push_point"], WORLD),
        flag("/truth/fell", "truth.fell"),
    ]  # fmt: skip
    for i, side in enumerate(("left", "right")):
        three, four = slice(3 * i, 3 * i + 3), slice(4 * i, 4 * i + 4)
        sole = np.concatenate((c["state.sole_position"][three], c["state.sole_rotation.quaternion"][four]))
        true = np.concatenate((c["truth.sole_position"][three], c["truth.sole_rotation.quaternion"][four]))
        want = np.concatenate((c[f"reference.feet.{i}.position"], c[f"reference.feet.{i}.rotation.quaternion"]))
        wrench = np.concatenate((c["truth.sole_force"][three], c["truth.sole_moment"][three]))
        topics += [
            stamped(f"/{side}_foot/wrench", "Wrench", c["frame.wrench"].reshape(2, 6)[i], SOLES[i]),
            stamped(f"/estimate/{side}_sole", "Pose", sole),
            stamped(f"/estimate/{side}_cop", "Point", c["state.cop"][three]),
            stamped(f"/reference/{side}_foot", "Pose", want),
            stamped(f"/solution/{side}_foot/wrench", "Wrench", c["solution.wrenches"].reshape(2, 6)[i], SOLES[i]),
            stamped(f"/truth/{side}_sole", "Pose", true, WORLD),
            stamped(f"/truth/{side}_foot/wrench", "Wrench", wrench, WORLD),
        ]
    return topics


def moving(tree: LinkTree, c: Columns) -> Topic:
    """Transforms of the base and of all links that turn, whose columns are ``links``."""
    turns = c["links"].reshape(-1, 4)
    transforms = [_transform(link, turn) for link, turn in zip(tree.moving, turns, strict=True)]
    transforms.append({"header": ODOM, "child_frame_id": tree.root, "transform": c["state.q"][:7]})
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


def polygons(support: Array) -> Array:
    """Support polygons (k, vertices x 2), filled up with NaN, as points (k, vertices, 3) whose last one is repeated."""
    points = np.zeros((len(support), support.shape[1] // 2, 3))
    points[..., :2] = support.reshape(len(support), -1, 2)
    for k in range(1, points.shape[1]):
        points[:, k] = np.where(np.isnan(points[:, k]), points[:, k - 1], points[:, k])
    return np.nan_to_num(points)
