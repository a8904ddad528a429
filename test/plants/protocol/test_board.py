"""The behaviour of a board: what arms it, what stops it, and that nothing else does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from humanoid_balance.plants.protocol import (
    BoardFault,
    BoardMachine,
    Configure,
    Derating,
    EmergencyStop,
    Fault,
    FaultCode,
    Joint,
    Mode,
    Packet,
    WireCommand,
    WireFrame,
    WireReset,
)
from humanoid_balance.plants.protocol.command import ROWS

MS = 1000  # [µs]
JOINTS = [Joint(i, 2, f"joint_{i}", -1.0, 1.0, 10.0, 50.0, 90.0, 36.0, 58.0, 1e-4, 0.1) for i in range(2)]
LIMIT = np.array([40.0, 30.0])
DAMPING = np.array([2.0, 1.0])
STILL, FULL = np.zeros(2), np.ones(2)
SEVERE, LINE = True, True
CALM = (not SEVERE, not LINE)


def configuration(board: BoardMachine, **changes: Any) -> Configure:
    values = {"table": board.table, "period": 1000, "lockstep": False, "torque_limit": LIMIT, "damping": DAMPING}
    return Configure(**(values | changes))


def command(mode: Mode, answers: int, value: float = 7.0) -> WireCommand:
    return WireCommand(mode, answers, np.full((ROWS[mode], 2), value))


def give(board: BoardMachine, frame: WireFrame, now: int) -> Fault | None:
    return board.receive(Packet(frame, 0, 10 * now), now)


def board_in(mode: Mode, now: int = 0) -> BoardMachine:
    """A board that has been led to a mode the way a host does it, at time ``now``."""
    board = BoardMachine(JOINTS, simulator=False)
    if mode is Mode.UNCONFIGURED:
        return board
    assert give(board, configuration(board), now) is None
    if mode in (Mode.TORQUE, Mode.IMPEDANCE, Mode.DAMPING, Mode.LAPSED, Mode.STOPPING):
        early = now - 20 * MS if mode is Mode.LAPSED else now
        give(board, command(Mode.DAMPING, early), early)
        if mode in (Mode.TORQUE, Mode.IMPEDANCE):
            give(board, command(mode, now), now)
    if mode in (Mode.STOPPING, Mode.STOPPED, Mode.OFF):
        give(board, EmergencyStop(), now)
    if mode is Mode.OFF:
        give(board, WireReset(), now)
    board.tick(now, *CALM)
    assert board.mode is mode
    return board


def test_a_host_leads_a_board_from_power_up_to_torque() -> None:
    board = BoardMachine(JOINTS, simulator=False)
    assert board.configuration == 0
    configure = configuration(board)
    assert give(board, configure, 0) is None
    assert (board.mode, board.configuration) == (Mode.DISARMED, configure.checksum)
    assert give(board, command(Mode.DAMPING, 0), 1 * MS) is None
    assert give(board, command(Mode.TORQUE, 1 * MS), 2 * MS) is None
    assert board.mode is Mode.TORQUE
    np.testing.assert_array_equal(board.torque(STILL, STILL, FULL), [7.0, 7.0])
    assert (board.echo, board.echo_age(5 * MS)) == (20 * MS, 3 * MS)


def test_torque_cannot_be_had_without_arming_first() -> None:
    board = board_in(Mode.DISARMED)
    for mode in (Mode.TORQUE, Mode.IMPEDANCE):
        fault = give(board, command(mode, 0), 0)
        assert fault == Fault(FaultCode.REFUSED, 255, WireCommand.TYPE, Mode.DISARMED)
        assert board.mode is Mode.DISARMED
    np.testing.assert_array_equal(board.torque(STILL, FULL, FULL), 0.0)


def test_a_wrong_joint_table_never_arms() -> None:
    board = board_in(Mode.DISARMED)
    fault = give(board, configuration(board, table=board.table ^ 1), 0)
    assert fault is not None and fault.name == "wrong_table"
    assert board.mode is Mode.UNCONFIGURED
    give(board, command(Mode.DISARMED, 0), 0)
    fault = give(board, command(Mode.DAMPING, 0), 0)
    assert fault is not None and fault.name == "refused"
    assert board.mode is Mode.UNCONFIGURED


@pytest.mark.parametrize(
    "changes",
    [
        {"torque_limit": np.array([40.0, 50.1])},
        {"torque_limit": np.array([-1.0, 30.0])},
        {"torque_limit": np.array([np.nan, 30.0])},
        {"damping": np.array([np.inf, 1.0])},
        {"damping": np.array([-1.0, 1.0])},
        {"lockstep": True},
    ],
)
def test_a_bad_configuration_is_refused(changes: dict[str, Any]) -> None:
    board = board_in(Mode.DISARMED)
    fault = give(board, configuration(board, **changes), 0)
    assert fault is not None and fault.name == "bad_configuration"
    assert (board.mode, board.configuration) == (Mode.UNCONFIGURED, 0)


def test_an_armed_board_cannot_be_reconfigured() -> None:
    board = board_in(Mode.DAMPING)
    fault = give(board, configuration(board), 0)
    assert fault is not None and fault.name == "refused"
    assert board.mode is Mode.DAMPING


@pytest.mark.parametrize("mode", [Mode.DAMPING, Mode.TORQUE, Mode.IMPEDANCE])
def test_silence_brakes_after_20_ms_and_switches_off_after_500_ms(mode: Mode) -> None:
    board = board_in(mode)
    board.tick(20 * MS - 1, *CALM)
    assert board.mode is mode
    board.tick(20 * MS, *CALM)
    assert (board.mode, board.faults) == (Mode.LAPSED, BoardFault.WATCHDOG)
    np.testing.assert_array_equal(board.torque(STILL, np.array([1.0, -2.0]), FULL), [-2.0, 2.0])
    board.tick(500 * MS - 1, *CALM)
    assert board.mode is Mode.LAPSED
    board.tick(500 * MS, *CALM)
    assert board.mode is Mode.OFF
    np.testing.assert_array_equal(board.torque(STILL, FULL, FULL), 0.0)


def test_after_a_lapse_the_host_must_arm_again() -> None:
    board = board_in(Mode.LAPSED, 100 * MS)
    for mode in (Mode.TORQUE, Mode.IMPEDANCE, Mode.DAMPING):
        give(board, command(mode, 100 * MS), 100 * MS)
        assert board.mode is Mode.LAPSED
    for wanted in (Mode.DISARMED, Mode.DAMPING, Mode.TORQUE):
        assert give(board, command(wanted, 100 * MS), 100 * MS) is None
        assert board.mode is wanted


def test_a_lapsed_board_brakes_on_while_its_host_is_there() -> None:
    board = board_in(Mode.LAPSED, 100 * MS)
    for now in range(100 * MS, 2000 * MS, 10 * MS):
        give(board, command(Mode.DAMPING, now), now)
        board.tick(now, *CALM)
        assert board.mode is Mode.LAPSED


@pytest.mark.parametrize("answers", [79 * MS - 1, 100 * MS + 1])
def test_a_command_that_answers_an_old_state_or_the_future_does_not_count(answers: int) -> None:
    board = board_in(Mode.TORQUE, 79 * MS)
    fault = give(board, command(Mode.TORQUE, answers, 30.0), 100 * MS - 1)
    assert fault is not None and fault.name == "stale_command"
    np.testing.assert_array_equal(board.torque(STILL, STILL, FULL), [7.0, 7.0])
    board.tick(99 * MS, *CALM)
    assert board.mode is Mode.LAPSED


@pytest.mark.parametrize("bad", [np.array([[1.0, np.nan]]), np.array([[np.inf, 0.0]]), np.zeros((1, 3))])
def test_numbers_that_are_not_finite_or_do_not_fit_do_not_count(bad: np.ndarray) -> None:
    board = board_in(Mode.TORQUE)
    fault = give(board, WireCommand(Mode.TORQUE, 0, bad), 10 * MS)
    assert fault is not None and fault.name == "bad_command"
    board.tick(20 * MS, *CALM)
    assert board.mode is Mode.LAPSED


@pytest.mark.parametrize("mode", [Mode.DAMPING, Mode.TORQUE, Mode.IMPEDANCE, Mode.LAPSED])
def test_emergency_stop_brakes_then_switches_off_and_is_latched(mode: Mode) -> None:
    board = board_in(mode, 100 * MS)
    give(board, EmergencyStop(), 100 * MS)
    assert board.mode is Mode.STOPPING
    np.testing.assert_array_equal(board.torque(STILL, FULL, FULL), -DAMPING)
    give(board, WireReset(), 200 * MS)
    give(board, EmergencyStop(), 300 * MS)
    assert board.mode is Mode.STOPPING
    board.tick(600 * MS, *CALM)
    assert board.mode is Mode.STOPPED
    for wanted in (Mode.DISARMED, Mode.DAMPING, Mode.TORQUE, Mode.IMPEDANCE):
        give(board, command(wanted, 600 * MS), 600 * MS)
        assert board.mode is Mode.STOPPED
    give(board, WireReset(), 600 * MS)
    assert (board.mode, board.faults) == (Mode.OFF, BoardFault(0))


@pytest.mark.parametrize("mode", [Mode.UNCONFIGURED, Mode.DISARMED, Mode.OFF])
def test_emergency_stop_never_switches_drives_on_to_brake(mode: Mode) -> None:
    board = board_in(mode)
    give(board, EmergencyStop(), 0)
    assert board.mode is Mode.STOPPED
    give(board, WireReset(), 0)
    give(board, command(Mode.DISARMED, 0), 0)
    assert board.mode is (Mode.UNCONFIGURED if mode is Mode.UNCONFIGURED else Mode.DISARMED)


def test_a_pressed_line_stops_and_holds_off_the_reset() -> None:
    board = board_in(Mode.TORQUE)
    board.tick(0, not SEVERE, LINE)
    assert board.mode is Mode.STOPPING
    board.tick(500 * MS, not SEVERE, LINE)
    give(board, WireReset(), 500 * MS)
    assert board.mode is Mode.STOPPED
    board.tick(501 * MS, *CALM)
    give(board, WireReset(), 501 * MS)
    assert board.mode is Mode.OFF


def test_a_severe_joint_fault_stops_an_armed_board_and_keeps_another_from_arming() -> None:
    board = board_in(Mode.TORQUE)
    board.tick(0, SEVERE, not LINE)
    assert (board.mode, board.faults) == (Mode.STOPPING, BoardFault.JOINT_FAULT)
    board = board_in(Mode.DISARMED)
    board.tick(0, SEVERE, not LINE)
    assert board.mode is Mode.DISARMED
    fault = give(board, command(Mode.DAMPING, 0), 0)
    assert fault is not None and fault.name == "refused"
    assert board.mode is Mode.DISARMED


def test_who_comes_after_a_closed_port_has_to_configure() -> None:
    board = board_in(Mode.TORQUE)
    board.stop(FaultCode.PORT_CLOSED, 0)
    np.testing.assert_array_equal(board.torque(STILL, FULL, FULL), -DAMPING)
    board.tick(500 * MS, *CALM)
    give(board, WireReset(), 500 * MS)
    give(board, command(Mode.DISARMED, 500 * MS), 500 * MS)
    assert (board.mode, board.configuration) == (Mode.UNCONFIGURED, 0)


def test_the_impedance_law_and_its_limit() -> None:
    board = board_in(Mode.DAMPING)
    rows = np.array([[1.0, 1.0], [0.5, 0.5], [0.0, 0.0], [100.0, 10.0], [2.0, 2.0]])
    give(board, WireCommand(Mode.IMPEDANCE, 0, rows), 0)
    torque = board.torque(np.array([0.0, 0.1]), np.array([1.0, 1.0]), FULL)
    np.testing.assert_allclose(torque, [40.0, 1.0 + 10.0 * 0.4 - 2.0])
    np.testing.assert_allclose(board.torque(STILL, STILL, np.array([0.5, 0.0])), [20.0, 0.0])


def test_hot_joints_and_low_voltage_lose_torque() -> None:
    share = Derating(JOINTS).share(np.array([85.0, 20.0]), np.array([48.0, 37.8]))
    np.testing.assert_allclose(share, [0.5, 0.5])
    np.testing.assert_allclose(Derating(JOINTS).share(np.array([95.0, np.nan]), np.array([48.0, np.nan])), [0.0, 1.0])


class AnySequence(RuleBasedStateMachine):
    """Frames, faults and time in any order. Since the last stop, torque needs configure, disarmed, damping first."""

    def __init__(self) -> None:
        super().__init__()
        self.board = BoardMachine(JOINTS, simulator=False)
        self.now = 10**6
        self.step = 0  # how far the host has come: 0 nothing, 1 disarmed, 2 armed
        self.latched = False  # stopped, and no reset since
        self.fed = 0
        self.severe = self.line = False

    @rule(passed=st.sampled_from([1, MS, 19 * MS, 20 * MS, 100 * MS, 500 * MS]))
    def time_passes(self, passed: int) -> None:
        self.now += passed
        self.board.tick(self.now, self.severe, self.line)

    @rule(
        mode=st.sampled_from(list(ROWS)), age=st.sampled_from([-1, 0, MS, 20 * MS, 21 * MS]), value=st.floats(width=32)
    )
    def send_command(self, mode: Mode, age: int, value: float) -> None:
        fault = give(self.board, command(mode, self.now - age, value), self.now)
        if 0 <= age <= 20 * MS and (np.isfinite(value) or not ROWS[mode]):
            self.fed = self.now
            if mode is Mode.DISARMED and not self.latched:
                self.step = 1
            elif mode is Mode.DAMPING and fault is None and self.step == 1:
                self.step = 2
        else:
            assert fault is not None

    @rule(right=st.booleans())
    def configure(self, right: bool) -> None:
        give(self.board, configuration(self.board, table=self.board.table ^ (not right)), self.now)
        if self.board.mode is Mode.DISARMED:
            self.step = 1

    @rule()
    def emergency_stop(self) -> None:
        give(self.board, EmergencyStop(), self.now)
        self.step, self.latched = 0, True

    @rule(severe=st.booleans(), line=st.booleans())
    def inputs_change(self, severe: bool, line: bool) -> None:
        self.severe, self.line = severe, line
        self.board.tick(self.now, severe, line)
        if line:
            self.step, self.latched = 0, True

    @rule()
    def close_port(self) -> None:
        self.board.stop(FaultCode.PORT_CLOSED, self.now)
        self.step, self.latched = 0, True

    @precondition(lambda self: not self.line and not self.severe)
    @rule()
    def reset(self) -> None:
        give(self.board, WireReset(), self.now)
        if self.board.mode is not Mode.STOPPING:
            self.latched = False

    @invariant()
    def torque_is_earned_and_limited(self) -> None:
        self.board.tick(self.now, self.severe, self.line)
        follows = self.board.mode in (Mode.TORQUE, Mode.IMPEDANCE)
        if follows:
            assert self.step == 2 and not self.latched and not self.severe and not self.line
            assert self.now - self.fed < 20 * MS
            assert self.board.configuration
        velocity = np.array([1.0, -1.0])
        torque = self.board.torque(STILL, velocity, FULL)
        assert np.isfinite(torque).all() and (np.abs(torque) <= LIMIT).all()
        if not follows:
            assert (torque * velocity <= 0.0).all(), "only braking"
        if self.board.mode in (Mode.UNCONFIGURED, Mode.DISARMED, Mode.OFF, Mode.STOPPED):
            assert not torque.any()


TestAnySequence = AnySequence.TestCase
TestAnySequence.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
