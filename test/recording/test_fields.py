"""What travels is declared once: every field of the data comes back from message, log and replay as it was."""

from __future__ import annotations

import dataclasses
import io
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from mcap.reader import make_reader

from humanoid_balance.layout import Layout
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.truth import Truth
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.recording.bag_reading import BagFacts
from humanoid_balance.recording.log import LogWriter
from humanoid_balance.recording.record import Record
from humanoid_balance.recording.state_row import StateRow
from humanoid_balance.recording.tick_row import TickRow
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import simulated
from humanoid_balance.types import (
    Array,
    BodyReference,
    Flags,
    FootReference,
    HeelReference,
    JointReference,
    Joints,
    Push,
    RobotState,
    SensorFrame,
    TorqueCommand,
    UpTo,
)

TICKS = 60
Ticks = list[tuple[Any, Truth]]


@pytest.fixture(scope="module")
def robot() -> Robot:
    return registry.load("g1")


@pytest.fixture(scope="module")
def ticks(robot: Robot) -> Ticks:
    """Pushed, so that no field is zero all the time; with a delay, so that stamps and times are not the same."""
    plant = MujocoPlant(robot, PlantOptions(sensor_latency=0.002), [PushProfile(300.0, 0.1, 30.0, 0.01)])
    loop, out = simulated(robot, plant), []
    for _ in range(TICKS):
        truth = plant.truth()
        out.append((loop.tick(), truth))
    return out


@pytest.fixture(scope="module")
def file(robot: Robot, ticks: Ticks, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "run.mcap"
    with LogWriter(robot, path) as writer:
        for tick in ticks:
            writer.add(*tick)
    return path


def leaves(data: Any, prefix: str = "") -> dict[str, Any]:
    """Every field of a dataclass, those of nested ones by their path."""
    out: dict[str, Any] = {}
    for field in fields(data):
        value = getattr(data, field.name)
        nested = dataclasses.is_dataclass(value)
        out |= leaves(value, f"{prefix}{field.name}.") if nested else {prefix + field.name: value}
    return out


def assert_same(found: Any, expected: Any) -> None:
    made = leaves(found)
    for path, value in leaves(expected).items():
        np.testing.assert_array_equal(made[path], value, err_msg=path)
        assert np.shape(made[path]) == np.shape(value), path
        assert np.asarray(made[path]).dtype == np.asarray(value).dtype, path


def test_every_number_of_the_state_has_a_place_and_places_fill_the_row(ticks: Ticks, robot: Robot) -> None:
    tick, truth = ticks[-1]
    for data in (tick.frame, tick.state, tick.sent, truth):
        kind = RobotState if data is tick.state else type(data)
        layout = Layout(kind, robot.n)
        assert set(layout.places) == set(leaves(data)) - {"faults"}
        taken = [k for place in layout.places.values() for k in range(layout.width)[place.columns]]
        assert taken == list(range(layout.width))


@pytest.mark.parametrize("k", [0, 30, TICKS - 1])
def test_all_that_travels_comes_back_from_a_row(ticks: Ticks, robot: Robot, k: int) -> None:
    tick, truth = ticks[k]
    for kind, data in ((SensorFrame, tick.frame), (TorqueCommand, tick.sent), (Truth, truth), (Push, tick.state.push)):
        layout: Layout[Any] = Layout(kind, robot.n)
        assert_same(layout.data(layout.row(data)), data)
    row = StateRow(robot.n)
    frame, state = row.data(row.row(tick.frame, tick.state), tick.state.faults)
    assert_same(frame, tick.frame)
    assert_same(state, tick.state)


def test_a_reference_comes_back_from_a_row_with_one_foot_that_swings_and_one_whose_heel_is_up(
    ticks: Ticks, robot: Robot
) -> None:
    foot = FootReference(np.arange(3.0), np.eye(3), np.arange(6.0), -np.arange(6.0))
    heel = HeelReference(0.1, -0.2, 3.0)
    body = dataclasses.replace(ticks[-1][0].reference, feet=(None, foot), heels=(heel, None))
    layout = Layout(BodyReference, robot.n)
    assert {"com_acceleration", "posture_acceleration", "feet.0.position", "feet.1.acceleration"} <= set(layout.places)
    found = layout.data(layout.row(body), mode=body.mode, stack=body.stack)
    assert found.feet[0] is None and found.feet[1] is not None
    assert_same(found.feet[1], foot)
    assert found.heels == (heel, None)
    for path in (path for path in layout.places if not path.startswith(("feet", "heels"))):
        np.testing.assert_array_equal(attrgetter(path)(found), attrgetter(path)(body), err_msg=path)
    np.testing.assert_array_equal(layout.row(body)[layout.places["feet.1.velocity"].columns], foot.velocity)


def test_both_kinds_of_reference_have_columns_of_their_own_in_the_log(ticks: Ticks, robot: Robot) -> None:
    (tick, truth), names, rng = ticks[-1], TickRow(robot.n), np.random.default_rng(0)
    joints = JointReference(tick.state.stamp, "statue", *rng.normal(size=(6, robot.n)))
    rows = np.zeros((2, names.width))
    names.put(tick, truth, rows[0])
    names.put(dataclasses.replace(tick, reference=joints, solution=None), truth, rows[1])
    np.testing.assert_array_equal(rows[0, names.columns["reference.posture"]], tick.reference.posture)
    for field in ("position", "velocity", "acceleration", "stiffness", "damping", "torque"):
        np.testing.assert_array_equal(rows[1, names.columns[f"joint_reference.{field}"]], getattr(joints, field))
    for name, columns in names.columns.items():
        part = name.split(".")[0]
        if part in ("reference", "joint_reference", "solution"):
            absent = 0 if part == "joint_reference" else 1
            assert np.isnan(rows[absent, columns]).all(), name
    np.testing.assert_array_equal(rows[0, names.columns["solution.wrenches"]], tick.solution.wrenches.ravel())


def test_the_message_between_nodes_carries_every_field(ticks: Ticks, robot: Robot) -> None:
    pytest.importorskip("rclpy")
    from humanoid_balance.nodes.state_message import StateMessage

    def complain(kind: str, detail: str) -> None:
        raise AssertionError(kind + detail)

    wire = StateMessage(robot, complain)
    for tick, _ in ticks[::7]:
        state = dataclasses.replace(tick.state, faults=("imu: NaN", "left foot: frozen"))
        found = wire.read(wire.write(tick.frame, state))
        assert found is not None
        assert_same(found[0], tick.frame)
        assert_same(found[1], state)


def test_the_log_carries_every_field(file: Path, ticks: Ticks, robot: Robot) -> None:
    serialization = pytest.importorskip("rclpy.serialization")
    from std_msgs.msg import Float64MultiArray

    row, found = StateRow(robot.n), []
    for _, _, message in make_reader(io.BytesIO(file.read_bytes())).iter_messages(topics=["/robot_state"]):
        found.append(np.array(serialization.deserialize_message(message.data, Float64MultiArray).data))
    for numbers, (tick, _) in zip(found, ticks, strict=True):
        assert numbers.size == row.width
        frame, state = row.data(numbers, tick.state.faults)
        assert_same(frame, tick.frame)
        assert_same(state, tick.state)


def test_every_field_of_the_state_has_a_topic_for_the_eye(file: Path) -> None:
    summary = make_reader(io.BytesIO(file.read_bytes())).get_summary()
    assert summary is not None
    topics = {channel.topic for channel in summary.channels.values()}
    for name in ("wrench", "omega", "ground_normal", "push.impulse"):  # those that nobody has thought of a type for
        assert f"/estimate/{name}" in topics


def test_replay_has_every_field_and_the_verdict_of_the_qp(file: Path, ticks: Ticks, robot: Robot) -> None:
    pytest.importorskip("rclpy")
    from humanoid_balance.recording.replay import Recorded

    record = Recorded(robot, BagFacts([file], ""), 0.001, newest=False)
    statuses = set()
    for tick, _ in ticks:
        stamp = round(1e9 * tick.frame.stamp)
        assert_same(record.row.state.data(record.states[stamp], faults=tick.state.faults), tick.state)
        assert tick.solution is not None
        assert record.word("solution/status", stamp) == tick.solution.status.value
        assert record.word("solution/active", stamp) == ", ".join(tick.solution.active)
        statuses.add(record.word("solution/active", stamp))
    assert len(statuses) > 1  # the push is felt


def test_a_replayed_log_is_the_run(tmp_path: Path) -> None:
    """From the first command on, the estimator having seen what it saw: nothing differs but rounding of the clock."""
    pytest.importorskip("rclpy")
    from humanoid_balance.balance.supervisor import BalanceSettings
    from humanoid_balance.experiments import push
    from humanoid_balance.recording.replay import Recorded, replay
    from humanoid_balance.stack import RunSettings

    path = tmp_path / "run.mcap"
    push.run(RunSettings(robot="g1", time=0.6), [PushProfile(150.0, 0.1, 180.0, 0.1)], log=path)
    robot = registry.load("g1")
    result = replay(robot, Recorded(robot, BagFacts([path], ""), 0.001, newest=False), BalanceSettings(), 0.001)
    kudoh = BalanceSettings(policy="kudoh")
    other = replay(robot, Recorded(robot, BagFacts([path], ""), 0.001, newest=False), kudoh, 0.001)
    assert "in place" in result["modes"] and other["torque_max"] > 1.0, "another policy answers otherwise"
    assert set(result["state_max"]) == set(Layout(RobotState, robot.n).places)
    assert result["verdicts"] == result["frames"] == 600
    assert result["status_differs"] == 0 and result["active_differs"] == 0
    assert result["torque_max"] == 0.0
    assert {path: value for path, value in result["state_max"].items() if value} == {}


def test_the_record_keeps_fields_under_their_own_names(ticks: Ticks, robot: Robot) -> None:
    record = Record(robot, TICKS)
    for tick in ticks:
        record.add(*tick)
    tick, truth = ticks[-1]
    np.testing.assert_array_equal(record["sole_position"][-1], tick.state.sole_position)
    np.testing.assert_array_equal(record["push.force"][-1], tick.state.push.force)
    np.testing.assert_array_equal(record["true_sole_moment"][-1], truth.sole_moment)
    np.testing.assert_array_equal(record["true_q"][-1], truth.q)


def test_a_field_that_is_added_needs_one_line() -> None:
    """The layout follows from the declaration alone, whatever is declared."""

    @dataclass(frozen=True)
    class Inner:
        on: bool
        size: float

    kinds: Any = {
        "stamp": float, "inner": Inner, "name": str, "flags": Annotated[Flags, 3],
        "joints": Annotated[Array, Joints(1)], "points": Annotated[Array, UpTo(4), 2],
        "turns": Annotated[Array, 2, 3, 3],
    }  # fmt: skip
    kind = dataclasses.make_dataclass("Made", kinds.items(), frozen=True)
    data = kind(
        1.5, Inner(True, 2.0), "text", np.array([True, False, True]), np.arange(6.0), np.ones((3, 2)),
        np.arange(18.0).reshape(2, 3, 3),
    )  # fmt: skip
    layout: Layout[Any] = Layout(kind, 5)
    assert layout.width == 1 + 2 + 3 + 6 + 8 + 18
    assert_same(layout.data(layout.row(data), name="text"), data)
