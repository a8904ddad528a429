"""Payloads: what is packed comes back, what a type does not allow is refused."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from humanoid_balance.plants.protocol import (
    FROM_BOARD,
    FROM_HOST,
    BoardFault,
    Configure,
    EmergencyStop,
    Fault,
    FaultCode,
    FootWrench,
    FrameError,
    Identify,
    Identity,
    Imu,
    Joint,
    JointFault,
    Mode,
    Sensors,
    State,
    WireCommand,
    WireFrame,
    WirePush,
    WireReset,
    WireTruth,
    fault_names,
    table_hash,
)
from humanoid_balance.plants.protocol.command import ROWS
from humanoid_balance.plants.protocol.packet import MAX_PAYLOAD
from humanoid_balance.plants.protocol.vocabulary import MAX_JOINTS

U8, U16, U32, U64 = (st.integers(0, 2**bits - 1) for bits in (8, 16, 32, 64))
SINGLE = st.floats(width=32)
COUNT = st.integers(0, MAX_JOINTS)
NAME = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=31)


def vector(n: int, elements: st.SearchStrategy[Any] = SINGLE) -> st.SearchStrategy[Any]:
    return arrays(np.float64, n, elements=elements)


def scaled(low: int, high: int, step: float) -> st.SearchStrategy[float]:
    """Values that the wire can hold exactly, and NaN."""
    return st.integers(low, high).map(lambda count: count * step) | st.just(float("nan"))


def states(n: int) -> st.SearchStrategy[State]:
    return st.builds(
        State, st.sampled_from(Mode), U16.map(BoardFault), U32, U64, U32, vector(n), vector(n), vector(n),
        vector(n, scaled(-32767, 32767, 0.1)), vector(n, scaled(0, 65534, 0.01)), arrays(np.uint16, n),
    )  # fmt: skip


def commands(n: int) -> st.SearchStrategy[WireCommand]:
    return st.sampled_from(list(ROWS)).flatmap(
        lambda mode: st.builds(WireCommand, st.just(mode), U64, arrays(np.float64, (ROWS[mode], n), elements=SINGLE))
    )


FRAMES: dict[type[Any], st.SearchStrategy[Any]] = {
    Identify: st.builds(Identify),
    WireReset: st.builds(WireReset),
    EmergencyStop: st.builds(EmergencyStop),
    Configure: COUNT.flatmap(lambda n: st.builds(Configure, U32, U32, st.booleans(), vector(n), vector(n))),
    WireCommand: COUNT.flatmap(commands),
    WirePush: st.builds(WirePush, NAME, U64, vector(3), vector(3), vector(3)),
    Identity: st.builds(
        Identity, NAME, st.binary(min_size=20, max_size=20), COUNT, U8.map(Sensors), st.booleans(), U32, U32
    ),
    Joint: st.builds(Joint, st.integers(0, 31), st.integers(32, MAX_JOINTS), NAME, *[SINGLE] * 9),
    State: COUNT.flatmap(states),
    Imu: st.builds(Imu, vector(3), vector(3)),
    FootWrench: st.builds(FootWrench, st.integers(0, 1), vector(6)),
    Fault: st.builds(Fault, U16, U8, SINGLE, SINGLE),
    WireTruth: st.builds(
        WireTruth, st.booleans(), *(arrays(np.float64, n, elements=st.floats()) for n in (3, 4, 3, 3, 3, 3))
    ),
}  # fmt: skip


def assert_same(one: WireFrame, other: WireFrame) -> None:
    assert type(one) is type(other)
    for field in fields(one):  # type: ignore[arg-type]
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name), err_msg=field.name)


def test_every_type_is_tested() -> None:
    assert set(FRAMES) == {*FROM_HOST.values(), *FROM_BOARD.values()}


@pytest.mark.parametrize("kind", FRAMES, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_what_is_packed_comes_back(kind: type[Any], data: st.DataObject) -> None:
    frame = data.draw(FRAMES[kind])
    payload = frame.pack()
    assert len(payload) <= MAX_PAYLOAD
    assert_same(frame, kind.unpack(payload))


@pytest.mark.parametrize("kind", FRAMES, ids=lambda kind: kind.__name__)
@given(payload=st.binary(max_size=200))
def test_arbitrary_payloads_are_refused_with_a_value_error_or_understood(kind: type[Any], payload: bytes) -> None:
    try:
        frame = kind.unpack(payload)
    except ValueError:
        return
    assert len(frame.pack()) == len(payload)


def test_one_byte_more_or_less_is_refused(frames: tuple[WireFrame, ...]) -> None:
    for frame in frames:
        payload = frame.pack()
        for wrong in (payload + b"\0", payload[:-1]):
            if wrong != payload:
                with pytest.raises(ValueError):
                    frame.unpack(wrong)


def test_the_top_bit_of_the_type_tells_the_direction() -> None:
    assert all(kind < 0x80 for kind in FROM_HOST)
    assert all(kind >= 0x80 for kind in FROM_BOARD)


def test_a_command_with_rows_that_do_not_fit_its_mode_is_not_packed() -> None:
    with pytest.raises(FrameError, match="TORQUE with 5 rows of 3 joints"):
        WireCommand(Mode.TORQUE, 0, np.zeros((5, 3))).pack()
    with pytest.raises(FrameError, match="OFF"):
        WireCommand(Mode.OFF, 0, np.zeros((0, 3))).pack()


@pytest.mark.parametrize("name", ["x" * 32, "hüfte", "tab\t"])
def test_a_name_that_does_not_fit_is_not_packed(name: str) -> None:
    with pytest.raises(FrameError, match="printable ASCII"):
        WirePush(name, 0, np.zeros(3), np.zeros(3), np.zeros(3)).pack()


def test_temperatures_and_voltages_beyond_the_scale_are_cut() -> None:
    ends = np.array([-1e9, 1e9])
    zero = np.zeros(2)
    faults = np.zeros(2, np.uint16)
    state = State(Mode.OFF, BoardFault(0), 0, 0, 0, zero, zero, zero, 1e-3 * ends, np.array([-1.0, 300.0]), faults)
    back = State.unpack(state.pack())
    np.testing.assert_allclose(back.temperature, [np.nan, 3276.7])
    np.testing.assert_allclose(back.voltage, [0.0, 300.0])


def test_fault_bits_and_codes_have_the_same_names() -> None:
    for code in FaultCode:
        bits: type[JointFault] | type[BoardFault] = JointFault if code < 16 else BoardFault
        assert bits[code.name] == 1 << code % 16
    assert fault_names(JointFault.ENCODER | JointFault.DERATED, 0) == ("encoder", "derated")
    assert fault_names(BoardFault.WATCHDOG, 16) == ("watchdog",)
    assert Fault(999, 0, 0.0, 0.0).name == "fault_999"


def test_the_table_hash_sees_every_entry(make_joint: Any) -> None:
    joints = [make_joint(i, 3) for i in range(3)]
    swapped = [make_joint(i, 3) for i in (1, 0, 2)]
    assert table_hash(joints) == table_hash([make_joint(i, 3) for i in range(3)])
    assert table_hash(joints) != table_hash(swapped)
    assert table_hash(joints) != table_hash(joints[:2])
