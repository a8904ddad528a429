"""What goes over the wire, without a wire: joint orders, frames, commands, pushes and states as messages."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from hypothesis import given
from hypothesis import strategies as st
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from humanoid_balance.errors import InputError
from humanoid_balance.loop import Tick
from humanoid_balance.nodes.rehearsal import standing_still
from humanoid_balance.nodes.state_message import StateMessage
from humanoid_balance.plants.mujoco.plant import MujocoPlant, PlantOptions
from humanoid_balance.plants.protocol import Mode
from humanoid_balance.plants.ros import frames as ros_frames
from humanoid_balance.plants.ros.commands import CommandGate, CommandWriter, Label, effort
from humanoid_balance.plants.ros.frames import FrameReader, SensorMessages
from humanoid_balance.plants.ros.joints import NameMap, WireJoints
from humanoid_balance.plants.ros.push import PushInput
from humanoid_balance.plants.ros.stamps import from_time, to_time
from humanoid_balance.plants.ros.status import Motors, PlantStatus
from humanoid_balance.robot import registry
from humanoid_balance.safety.trip import Trip
from humanoid_balance.stack import simulated
from humanoid_balance.types import Array, SensorFrame, TorqueCommand

HUMAN = registry.load("human")
NAMES = list(HUMAN.joint_names)
SHUFFLED = ["extra_b", *reversed(NAMES), "extra_a"]


class Complaints:
    """What was refused, by kind."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.details: list[str] = []

    def __call__(self, kind: str, detail: str = "") -> None:
        self.kinds.append(kind)
        self.details.append(detail)


@pytest.fixture(scope="module")
def tick() -> Tick:
    plant = MujocoPlant(HUMAN, PlantOptions(noise=1.0, seed=3))
    loop = simulated(HUMAN, plant)
    return [loop.tick() for _ in range(20)][-1]


# ---- stamps and joints ----


@given(st.integers(0, 10**9))
def test_a_stamp_of_whole_milliseconds_comes_back_as_it_was(k: int) -> None:
    assert from_time(to_time(k / 1000)) == k / 1000


def test_wire_order_goes_there_and_back_with_strangers_at_zero() -> None:
    joints, values = WireJoints(HUMAN, SHUFFLED), np.arange(HUMAN.n) + 1.0
    wire = joints.pack(values)
    assert len(wire) == HUMAN.n + 2 and wire[0] == wire[-1] == 0.0
    assert wire[1] == values[-1]
    np.testing.assert_array_equal(joints.unpack(np.frombuffer(wire)), values)


@pytest.mark.parametrize(("names", "told"), [(NAMES[1:], "missing"), ([*NAMES, NAMES[0]], "given 2 times")])
def test_an_order_that_lacks_or_repeats_a_joint_is_refused_by_name(names: list[str], told: str) -> None:
    with pytest.raises(InputError, match=f"'{NAMES[0]}' is {told}"):
        WireJoints(HUMAN, names)


def test_names_in_messages_are_looked_up_again_when_they_change() -> None:
    names = NameMap(HUMAN)
    assert names.accept(NAMES) and names.accept(SHUFFLED)
    wire = WireJoints(HUMAN, SHUFFLED).pack(np.arange(float(HUMAN.n)))
    np.testing.assert_array_equal(names.unpack(wire), np.arange(HUMAN.n))
    assert not names.accept(NAMES[:-1]) and names.missing == NAMES[-1]


# ---- sensor frames ----


def deliver(reader: FrameReader, messages: SensorMessages, joints: bool = True) -> None:
    reader.on_imu(messages.imu)
    for side in range(2):
        reader.on_wrench(side)(messages.wrenches[side])
    if joints:
        reader.on_joints(messages.joints)


def reader_and_messages(patience: float = math.inf) -> tuple[FrameReader, SensorMessages, Complaints]:
    complaints = Complaints()
    return (
        FrameReader(HUMAN, 0.001, patience, complaints),
        SensorMessages(HUMAN, WireJoints(HUMAN, SHUFFLED)),
        complaints,
    )


def test_a_frame_comes_back_bit_for_bit(tick: Tick) -> None:
    reader, messages, complaints = reader_and_messages()
    messages.fill(tick.frame)
    deliver(reader, messages)
    frame = reader.take()
    assert frame is not None and not complaints.kinds
    for field in dataclasses.fields(SensorFrame):
        np.testing.assert_array_equal(getattr(frame, field.name), getattr(tick.frame, field.name))
    assert reader.take() is None, "each frame once"


def at(frame: SensorFrame, stamp: float) -> SensorFrame:
    return dataclasses.replace(frame, stamp=stamp)


def test_a_frame_waits_for_all_its_parts(tick: Tick) -> None:
    reader, messages, _ = reader_and_messages()
    messages.fill(at(tick.frame, 1.0))
    deliver(reader, messages)
    assert reader.take() is not None
    messages.fill(at(tick.frame, 1.001))
    reader.on_joints(messages.joints)
    assert reader.take() is None
    deliver(reader, messages, joints=False)
    frame = reader.take()
    assert frame is not None and frame.stamp == 1001 * 0.001, "as the sender's clock counts"


def test_without_patience_the_newest_are_taken_and_what_is_too_old_is_not_a_number(tick: Tick) -> None:
    reader, messages, _ = reader_and_messages(patience=0.0)
    messages.fill(at(tick.frame, 1.0))
    deliver(reader, messages)
    assert reader.take() is not None
    for stamp, usable in ((1.010, True), (1.030, False)):
        messages.fill(at(tick.frame, stamp))
        reader.on_joints(messages.joints)
        frame = reader.take()
        assert frame is not None and np.isfinite(frame.position).all()
        assert np.isfinite(frame.gyro).all() == np.isfinite(frame.wrench).all() == usable


@pytest.mark.parametrize(("stamp", "kind"), [(0.5, "old stamp"), (500.0, "stamp far ahead")])
def test_stamps_that_cannot_be_are_refused_until_the_clock_was_really_set(
    tick: Tick, monkeypatch: pytest.MonkeyPatch, stamp: float, kind: str
) -> None:
    reader, messages, complaints = reader_and_messages()
    messages.fill(at(tick.frame, 1.0))
    deliver(reader, messages)
    assert reader.take() is not None
    messages.fill(at(tick.frame, stamp))
    deliver(reader, messages)
    assert reader.take() is None
    assert f"joint_states refused: {kind}" in complaints.kinds
    later = time.monotonic() + 2 * ros_frames.SET
    monkeypatch.setattr(ros_frames.time, "monotonic", lambda: later)
    deliver(reader, messages)
    frame = reader.take()
    assert frame is not None and frame.stamp == stamp


def test_joint_states_of_wrong_length_or_without_a_joint_are_refused() -> None:
    reader, _, complaints = reader_and_messages()
    reader.on_joints(JointState(name=NAMES, position=[0.0] * HUMAN.n))
    reader.on_joints(JointState(name=NAMES[2:], position=[0.0], velocity=[0.0], effort=[0.0]))
    assert reader.take() is None
    assert complaints.kinds == ["joint_states refused: wrong length", "joint_states refused: a joint is missing"]


# ---- states ----


def test_a_state_comes_back_bit_for_bit(tick: Tick) -> None:
    complaints = Complaints()
    wire = StateMessage(HUMAN, complaints)
    state = dataclasses.replace(tick.state, faults=("imu: NaN", "left foot: frozen"))
    found = wire.read(wire.write(tick.frame, state))
    assert found is not None and not complaints.kinds
    for made, expected in zip(found, (tick.frame, state), strict=True):
        for field in dataclasses.fields(expected):
            a, b = getattr(made, field.name), getattr(expected, field.name)
            if field.name != "push":
                np.testing.assert_array_equal(a, b, err_msg=field.name)
                assert np.asarray(a).dtype == np.asarray(b).dtype and np.shape(a) == np.shape(b), field.name
    for field in dataclasses.fields(state.push):
        np.testing.assert_array_equal(getattr(found[1].push, field.name), getattr(state.push, field.name))


def test_states_that_are_none_are_refused(tick: Tick) -> None:
    complaints = Complaints()
    wire = StateMessage(HUMAN, complaints)
    assert wire.read(Float64MultiArray(data=[1.0] * 500)) is None
    message = wire.write(tick.frame, tick.state)
    message.data = message.data[:100]
    assert wire.read(message) is None
    assert len(complaints.kinds) == 2


# ---- commands ----


def torques(torque: Array) -> TorqueCommand:
    zero = np.zeros(HUMAN.n)
    return TorqueCommand(0.0, torque, zero, zero, zero, zero)


def standing(stamp: float) -> SensorFrame:
    return dataclasses.replace(standing_still(HUMAN, stamp), position=HUMAN.posture.copy())


def gate_and_writer() -> tuple[CommandGate, CommandWriter, Complaints]:
    complaints, joints = Complaints(), WireJoints(HUMAN, SHUFFLED)
    return CommandGate(HUMAN, joints, complaints), CommandWriter(joints, "/balance_controller"), complaints


def test_a_command_reaches_the_motors_and_says_what_it_answers() -> None:
    gate, writer, _ = gate_and_writer()
    torque = np.linspace(-50, 50, HUMAN.n)
    message = writer.fill(torques(torque), standing(12.345), gains=True)
    label = Label.of(message)
    assert label.source.startswith("/balance_controller#") and label.answers == 12_345_000_000
    assert gate.accept(message)
    command = gate.command(12.346)
    np.testing.assert_array_equal(command.torque, torque)
    assert not command.damped


def test_before_the_first_command_and_20_ms_after_the_last_the_joints_are_braked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate, writer, _ = gate_and_writer()
    assert gate.command(0.0).damped
    gate.accept(writer.fill(torques(np.ones(HUMAN.n)), standing(1.0), gains=True))
    now = time.monotonic()
    for age, damped in ((0.015, False), (0.025, True)):
        monkeypatch.setattr("humanoid_balance.plants.ros.commands.time.monotonic", lambda age=age: now + age)
        command = gate.command(1.0)
        assert command.damped == damped
    np.testing.assert_array_equal(command.damping, HUMAN.brake)


def test_one_controller_is_in_charge_and_a_labelled_one_goes_before_an_unknown() -> None:
    gate, first, complaints = gate_and_writer()
    second = CommandWriter(WireJoints(HUMAN, SHUFFLED), "/balance_controller")  # the same name, another process
    unknown = Float64MultiArray(data=[7.0] * len(SHUFFLED))
    assert gate.accept(unknown)
    assert gate.accept(first.fill(torques(np.ones(HUMAN.n)), standing(1.0), gains=True))
    assert not gate.accept(unknown)
    assert not gate.accept(second.fill(torques(np.ones(HUMAN.n)), standing(1.0), gains=True))
    assert all("is in charge" in kind for kind in complaints.kinds) and len(set(complaints.kinds)) == 2
    assert gate.command(1.0).torque[0] == 1.0


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (lambda m: m.data.pop(), "wrong length"),
        (lambda m: m.data.__setitem__(5, math.nan), "not a number"),
        (lambda m: setattr(m.layout.dim[0], "label", m.layout.dim[0].label.replace(" 2.", " 1.")), "old stamp"),
    ],
)
def test_a_spoilt_command_is_refused_and_the_last_good_one_stays(spoil: Any, kind: str) -> None:
    gate, writer, complaints = gate_and_writer()
    assert gate.accept(writer.fill(torques(np.ones(HUMAN.n)), standing(2.0), gains=True))
    message = writer.fill(torques(2 * np.ones(HUMAN.n)), standing(2.001), gains=True)
    spoil(message)
    assert not gate.accept(message)
    assert kind in complaints.kinds[0]
    np.testing.assert_array_equal(gate.command(2.0).torque, np.ones(HUMAN.n))


def test_damping_is_asked_for_by_label_and_also_sent_as_effort(tick: Tick) -> None:
    gate, writer, _ = gate_and_writer()
    damp = TorqueCommand.damp(1.0, HUMAN.brake)
    efforts = effort(damp, tick.frame)
    np.testing.assert_allclose(efforts, -HUMAN.brake * tick.frame.velocity)
    message = writer.fill(damp, tick.frame, gains=True)
    np.testing.assert_array_equal(WireJoints(HUMAN, SHUFFLED).unpack(np.array(message.data)), efforts)
    assert gate.accept(message)
    assert gate.command(1.0).damped


def stiff(stamp: float = 1.0) -> TorqueCommand:
    """A posture held by the drive."""
    rows = np.arange(5 * HUMAN.n, dtype=float).reshape(5, HUMAN.n)
    return TorqueCommand(stamp, *rows)


def test_gains_reach_drives_that_take_them_row_by_row() -> None:
    gate, writer, _ = gate_and_writer()
    message = writer.fill(stiff(), standing(1.0), gains=True)
    assert [d.size for d in message.layout.dim] == [5, len(SHUFFLED)]
    assert message.layout.dim[0].stride == len(message.data) == 5 * len(SHUFFLED)
    assert gate.accept(message)
    command = gate.command(1.001)
    for row in ("torque", "position", "velocity", "stiffness", "damping"):
        np.testing.assert_array_equal(getattr(command, row), getattr(stiff(), row), err_msg=row)


def test_an_effort_interface_gets_the_feedback_as_effort_and_feed_forward_where_nothing_was_measured() -> None:
    gate, writer, _ = gate_and_writer()
    frame, wanted = standing(1.0), stiff()
    frame.position[3] = math.nan
    assert gate.accept(writer.fill(wanted, frame, gains=False))
    command = gate.command(1.001)
    assert not command.stiffness.any() and not command.damping.any()
    np.testing.assert_allclose(command.torque, effort(wanted, frame))
    assert command.torque[3] == wanted.torque[3]
    pure = torques(np.ones(HUMAN.n))
    np.testing.assert_array_equal(effort(pure, frame), pure.torque)


@pytest.mark.parametrize(("value", "told"), [(math.nan, "not a number"), (-1.0, "negative gain")])
def test_gains_that_cannot_be_are_refused_with_row_and_joint(value: float, told: str) -> None:
    gate, writer, complaints = gate_and_writer()
    wanted = stiff()
    wanted.stiffness[7] = value
    assert not gate.accept(writer.fill(wanted, standing(1.0), gains=True))
    assert told in complaints.kinds[0] and f"stiffness of {HUMAN.joint_names[7]}" in complaints.details[0]


# ---- what a plant says of itself ----


@pytest.mark.parametrize(
    "trouble",
    [None, Trip("over_temperature", "l_knee", np.float64(91.5), 80.0), Trip("board is LAPSED", "a", Mode.LAPSED, 2)],
)
def test_the_status_of_a_plant_survives_the_wire(trouble: Trip | None) -> None:
    status = PlantStatus("/lab/hardware", "1a2b", True, Motors.STOPPED, trouble, {"l_knee": 0.25})
    assert PlantStatus.of(status.message()) == status
    told = status.message().message
    assert "next: remove the cause" in told and (trouble is None or str(trouble) in told)


def test_messages_of_others_are_not_taken_for_a_status() -> None:
    assert PlantStatus.of(DiagnosticStatus(name="/battery")) is None


# ---- pushes ----


def push(x: float, stamp: float = 0.0, frame: str = "", torque: float = 0.0) -> WrenchStamped:
    message = WrenchStamped()
    message.header.stamp, message.header.frame_id = to_time(stamp), frame
    message.wrench.force.x, message.wrench.torque.z = x, torque
    return message


def forces(messages: dict[int, WrenchStamped], ticks: int) -> list[float]:
    """Force along x at each millisecond; messages come in before the tick of their key."""
    plant = MujocoPlant(HUMAN, PlantOptions())
    pushes, out = PushInput(plant, Complaints()), []
    for k in range(ticks):
        if k in messages:
            pushes.on_message(messages[k])
        pushes.update()
        out.append(float(pushes.force[0]))
        plant.hold()
    return out


def test_a_push_ends_a_tenth_of_a_second_after_its_last_message() -> None:
    seen = forces({0: push(50.0), 60: push(70.0)}, 200)
    assert seen[:60] == [50.0] * 60 and seen[60:160] == [70.0] * 100 and set(seen[160:]) == {0.0}


def test_a_push_sent_ahead_acts_from_its_stamp_on() -> None:
    seen = forces({0: push(50.0, stamp=0.030)}, 200)
    assert [k for k, force in enumerate(seen) if force] == list(range(30, 130))


def test_a_zero_ends_a_push_at_once() -> None:
    seen = forces({0: push(50.0), 20: push(0.0)}, 60)
    assert seen == [50.0] * 20 + [0.0] * 40


@pytest.mark.parametrize(
    "message", [push(math.nan), push(1e9), push(10.0, frame="moon"), push(10.0, torque=1.0)], ids=str
)
def test_a_push_that_cannot_be_is_refused(message: WrenchStamped) -> None:
    complaints = Complaints()
    pushes = PushInput(MujocoPlant(HUMAN, PlantOptions()), complaints)
    pushes.on_message(message)
    pushes.update()
    assert not pushes.force.any() and complaints.kinds[0].startswith("push refused")
