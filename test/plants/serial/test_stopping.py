"""What stops a robot hangs on no single frame, and what was never armed needs no stopping."""

from __future__ import annotations

import numpy as np
import pytest
from bench import Bench

from humanoid_balance.errors import InputError
from humanoid_balance.plants.board import Disturbance
from humanoid_balance.plants.protocol import BoardFault, Mode
from humanoid_balance.robot import registry
from humanoid_balance.types import TorqueCommand

ROBOT = registry.load("g1")
ZERO = np.zeros(ROBOT.n)
OFF, BRAKE = TorqueCommand.damp(0.0, ZERO), TorqueCommand.damp(0.0, ROBOT.brake)
TORQUE = TorqueCommand(0.0, 0.1 * ROBOT.torque_limit, ZERO, ZERO, ZERO, ZERO)
BAD = 0.5  # share of frames that get lost, both ways


def write(bench: Bench, command: TorqueCommand, ticks: int) -> None:
    for _ in range(ticks):
        bench.plant.read()
        bench.plant.write(command)


def working(seed: int = 0) -> Bench:
    bench = Bench(ROBOT, seed=seed)
    for command in (OFF, BRAKE, TORQUE):
        write(bench, command, 4)
    assert all(board.mode is Mode.TORQUE for board in bench.boards)
    return bench


def spoil(bench: Bench) -> None:
    for cable in bench.cables:
        for line in (cable.down, cable.up):
            line.disturbance, line._clean = Disturbance(frame_loss=BAD), False


@pytest.mark.parametrize("seed", range(20))
def test_a_stop_arrives_over_a_line_that_loses_half_the_frames_though_the_loop_hangs(seed: int) -> None:
    """The reader repeats it; the watchdog alone would end in OFF, which is not latched."""
    bench = working(seed)
    spoil(bench)
    bench.plant.stop("test")
    for _ in range(19):  # before the watchdog
        bench.advance()
    assert all(board.mode is Mode.STOPPING for board in bench.boards)
    for _ in range(550):
        bench.advance()
    assert all(board.mode is Mode.STOPPED for board in bench.boards)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("command, wanted", [(OFF, Mode.DISARMED), (BRAKE, Mode.DAMPING)], ids=["disarm", "damp"])
def test_a_host_that_disarms_or_damps_goes_on_asking(command: TorqueCommand, wanted: Mode, seed: int) -> None:
    bench = working(seed)
    spoil(bench)
    write(bench, command, 19)
    held = (wanted, Mode.LAPSED, Mode.DAMPING)  # one that lapsed meanwhile brakes, and so do the others
    assert all(board.mode in held for board in bench.boards)


def test_a_host_that_falls_idle_after_a_lost_disarm_leaves_the_board_braking_after_20_ms() -> None:
    bench = working()
    for cable in bench.cables:
        cable.deaf = True
    write(bench, OFF, 1)  # is lost
    for cable in bench.cables:
        cable.deaf = False
    for _ in range(21):
        bench.advance()
    assert all(board.mode is Mode.LAPSED for board in bench.boards)


def test_a_stop_shortly_after_a_reset_stays_latched() -> None:
    """Reset is repeated until a board has left its stop; a later stop is another one."""
    bench = working()
    bench.plant.stop("first")
    write(bench, OFF, 550)
    assert bench.plant.reset() is None
    write(bench, OFF, 20)
    assert all(board.mode is Mode.DISARMED for board in bench.boards)
    write(bench, BRAKE, 4)
    write(bench, TORQUE, 4)
    bench.boards[0].condition.heat(0)
    write(bench, TORQUE, 2)
    bench.boards[0].condition.heal()
    write(bench, OFF, 1000)  # still within the time in which the reset was tried
    assert bench.boards[0].mode is Mode.STOPPED
    assert bench.plant.reset() is None
    bench.plant.stop("second")
    write(bench, OFF, 1500)
    assert all(board.mode is Mode.STOPPED for board in bench.boards)


def test_a_port_that_closes_on_an_unarmed_board_stops_nothing() -> None:
    bench = Bench(ROBOT)
    for _ in range(3):
        write(bench, OFF, 5)
        bench.pull(0)
        assert bench.boards[0].mode is Mode.UNCONFIGURED and not bench.boards[0].machine.faults
        bench.plug(0)
        write(bench, OFF, 250)
        assert bench.plant.trouble(armed=False) is None
    write(bench, BRAKE, 4)
    write(bench, TORQUE, 4)
    assert all(board.mode is Mode.TORQUE for board in bench.boards)


@pytest.mark.parametrize("armed", [[BRAKE], [BRAKE, TORQUE]], ids=["damping", "torque"])
def test_a_port_that_closes_on_an_armed_board_brakes_and_stays_stopped(armed: list[TorqueCommand]) -> None:
    bench = Bench(ROBOT)
    for command in (OFF, *armed):
        write(bench, command, 4)
    bench.pull(0)
    board = bench.boards[0]
    assert board.mode is Mode.STOPPING
    write(bench, OFF, 520)
    for _ in range(2):  # somebody looks, and looks again: as it was
        bench.plug(0)
        write(bench, OFF, 250)
        trouble = bench.plant.trouble(armed=False)
        assert trouble is not None and "STOPPED (port_closed)" in trouble.what
        bench.pull(0)
        assert board.mode is Mode.STOPPED and BoardFault.PORT_CLOSED in board.machine.faults
    bench.plug(0)
    write(bench, OFF, 250)
    with pytest.raises(InputError, match=r"does not arm: board is STOPPED \(port_closed\)"):
        bench.plant.arm()
    assert bench.plant.reset() is None
    write(bench, OFF, 250)
    bench.plant.arm()
    assert all(mode is Mode.DAMPING for mode in bench.plant.modes)
