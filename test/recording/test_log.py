"""The MCAP log: complete, true, cheap, and readable whatever happens."""

from __future__ import annotations

import importlib
import io
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import yardstick
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from humanoid_balance.loop import Tick
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.truth import Truth
from humanoid_balance.recording import cdr, log
from humanoid_balance.recording.log import LogWriter
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import RunSettings, simulated

TICKS = 250  # two full batches and a half
LITTLE = 8.0  # of a tick, over the yardstick's work, which takes some 13 us: a tenth of a millisecond


@pytest.fixture(scope="module")
def robot() -> Robot:
    return registry.load("g1")


@pytest.fixture(scope="module")
def ticks(robot: Robot) -> list[tuple[Tick, Truth]]:
    plant = MujocoPlant(robot, pushes=[PushProfile(50.0, 0.1, 30.0, 0.05)])
    loop = simulated(robot, plant, RunSettings(robot="g1").balance)
    out = []
    for _ in range(TICKS):
        truth = plant.truth()
        out.append((loop.tick(), truth))
    return out


@pytest.fixture(scope="module")
def file(robot: Robot, ticks: list[tuple[Tick, Truth]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "run.mcap"
    with LogWriter(robot, path) as writer:
        for tick in ticks:
            writer.add(*tick)
    return path


def messages(data: bytes, topic: str) -> list[Any]:
    return [message for _, _, message in make_reader(io.BytesIO(data)).iter_messages(topics=[topic])]


def test_every_tick_is_there_on_every_topic(file: Path, ticks: list[tuple[Tick, Truth]]) -> None:
    summary = make_reader(io.BytesIO(file.read_bytes())).get_summary()
    assert summary is not None and summary.statistics is not None
    counts = {summary.channels[c].topic: n for c, n in summary.statistics.channel_message_counts.items()}
    rare = {"/tf", "/tf_static", "/robot_description", "/balance/mode", "/estimate/faults"}
    rare |= {"/solution/status", "/solution/active"}
    assert {topic for topic, n in counts.items() if n != TICKS} == rare
    contract = {"/joint_states", "/imu", "/left_foot/wrench", "/right_foot/wrench", "/odom", "/com", "/zmp", "/dcm",
                "/com_velocity", "/push_estimate", "/balance/mode", "/effort_controller/commands", "/push"}  # fmt: skip
    assert contract <= set(counts)
    assert counts["/tf"] == -(-TICKS // log.TF_EVERY)


def test_numbers_and_times_come_back_as_they_were(file: Path, ticks: list[tuple[Tick, Truth]]) -> None:
    found = messages(file.read_bytes(), "/truth/com")
    for (_, truth), message in zip(ticks, found, strict=True):
        assert message.log_time == round(1e9 * truth.stamp)
        sec, nanosec, length = struct.unpack_from("<iII", message.data, 4)
        assert (sec, nanosec) == divmod(message.log_time, 10**9)
        assert message.data[16 : 16 + length] == b"world\x00"
        assert struct.unpack_from("<3d", message.data, 28) == tuple(truth.com)


def test_ros_itself_reads_every_message(file: Path, robot: Robot, ticks: list[tuple[Tick, Truth]]) -> None:
    serialization = pytest.importorskip("rclpy.serialization")
    read: dict[str, Any] = {}
    for schema, channel, message in make_reader(io.BytesIO(file.read_bytes())).iter_messages():
        assert schema is not None
        package, _, name = schema.name.split("/")
        try:
            kind = getattr(importlib.import_module(f"{package}.msg"), name)
        except ImportError:
            continue
        read[channel.topic] = serialization.deserialize_message(message.data, kind)
    tick, truth = ticks[-1]
    assert tuple(read["/joint_states"].name) == robot.joint_names
    assert np.array_equal(read["/joint_states"].position, tick.frame.position)
    assert np.array_equal(read["/joint_states"].effort, tick.frame.torque)
    assert np.array_equal(read["/effort_controller/commands"].data, tick.sent.torque)
    assert read["/imu"].orientation_covariance[0] == -1.0
    assert read["/imu"].linear_acceleration.z == tick.frame.acceleration[2]
    assert read["/right_foot/wrench"].wrench.force.z == tick.frame.wrench[1, 2]
    assert read["/balance/mode"].data == tick.reference.mode
    assert read["/truth/fell"].data == truth.fell
    assert read["/push"].wrench.force.x == pytest.approx(truth.push[0])
    corners = [(p.x, p.y) for p in read["/estimate/support"].polygon.points]
    assert np.allclose(corners[: len(tick.state.support)], tick.state.support, atol=1e-6)
    turn = read["/truth/left_sole"].pose.orientation
    assert np.allclose(pin.Quaternion(turn.w, turn.x, turn.y, turn.z).matrix(), truth.sole_rotation[0], atol=1e-9)


def test_what_was_flushed_is_complete_on_disk_though_nobody_closes_the_file(
    robot: Robot, ticks: list[tuple[Tick, Truth]], tmp_path: Path
) -> None:
    path = tmp_path / "killed.mcap"
    writer = LogWriter(robot, path)
    assert make_reader(io.BytesIO(path.read_bytes())).get_summary() is not None  # empty, yet a file
    for k, tick in enumerate(ticks):
        writer.add(*tick)
        if k in (120, 249):
            writer.flush()
            assert len(messages(path.read_bytes(), "/com")) == k + 1
    writer.close()


def test_an_error_in_the_run_leaves_all_ticks_before_it(
    robot: Robot, ticks: list[tuple[Tick, Truth]], tmp_path: Path
) -> None:
    path = tmp_path / "error.mcap"
    with pytest.raises(ZeroDivisionError), LogWriter(robot, path) as writer:
        for tick in ticks[:7]:
            writer.add(*tick)
        raise ZeroDivisionError
    assert len(messages(path.read_bytes(), "/com")) == 7


def test_a_killed_run_leaves_a_bag_that_rosbags_reads(tmp_path: Path) -> None:
    path = tmp_path / "killed.mcap"
    options = ["--force", "0", "--duration", "0", "--direction", "0", "--time", "100", "--log", str(path)]
    process = subprocess.Popen([sys.executable, "-m", "humanoid_balance.cli", "push", *options], stderr=-3)
    end = time.monotonic() + 60.0
    while not path.exists() or path.stat().st_size < 1_000_000:
        assert time.monotonic() < end
        time.sleep(0.02)
    process.kill()
    process.wait()
    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as bag:
        wanted = [c for c in bag.connections if c.topic in ("/com", "/truth/base", "/command/sent")]
        counts = {c.topic: 0 for c in wanted}
        for connection, _, data in bag.messages(connections=wanted):
            bag.deserialize(data, connection.msgtype)
            counts[connection.topic] += 1
    assert len(set(counts.values())) == 1 and min(counts.values()) >= 200


def test_transforms_put_every_link_where_pinocchio_puts_it(
    file: Path, robot: Robot, ticks: list[tuple[Tick, Truth]]
) -> None:
    tree = log.LinkTree(robot)
    state = ticks[-1][0].state
    turns = tree.quaternions(state.q[None, 7:])[0]
    local = {link.name: (link.parent, link.placement) for link in tree.fixed}
    for link, (x, y, z, w) in zip(tree.moving, turns, strict=True):
        local[link.name] = (link.parent, pin.SE3(pin.Quaternion(w, x, y, z), link.placement.translation))
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, state.q)
    base = pin.XYZQUATToSE3(state.q[:7])
    for name in local:
        placement, link = pin.SE3.Identity(), name
        while link != tree.root:
            link, step = local[link]
            placement = step * placement
        expected = data.oMf[robot.model.getFrameId(name)]
        assert (base * placement).isApprox(expected, 1e-9), name


def test_adding_a_tick_costs_little(robot: Robot, ticks: list[tuple[Tick, Truth]], tmp_path: Path) -> None:
    with LogWriter(robot, tmp_path / "a.mcap") as writer:
        writer.add(*ticks[0])
        cost = yardstick.ratio(lambda k: writer.add(*ticks[1 + k]), len(ticks) - 1)
    assert cost < LITTLE, cost


def test_a_schema_carries_all_it_depends_on() -> None:
    text = cdr.schema("nav_msgs/Odometry")
    for kind in ("std_msgs/Header", "builtin_interfaces/Time", "geometry_msgs/Quaternion", "geometry_msgs/Vector3"):
        assert f"MSG: {kind}\n" in text


def test_a_field_that_a_message_does_not_have_is_refused() -> None:
    with pytest.raises(KeyError, match="Twist has no field speed"):
        cdr.Template("geometry_msgs/Twist", {"speed": [1.0]})
