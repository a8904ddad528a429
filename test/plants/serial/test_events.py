"""What happens on the lines is told once, with what an operator needs: which board, which joint, value, limit."""

from __future__ import annotations

import numpy as np
from bench import Bench

from humanoid_balance.plants.board import Disturbance
from humanoid_balance.plants.protocol import Mode
from humanoid_balance.plants.serial.events import BusEvent, Severity
from humanoid_balance.robot import registry
from humanoid_balance.types import TorqueCommand

ROBOT = registry.load("g1")
ZERO = np.zeros(ROBOT.n)
OFF, BRAKE = TorqueCommand.damp(0.0, ZERO), TorqueCommand.damp(0.0, ROBOT.brake)
TORQUE = TorqueCommand(0.0, 0.1 * ROBOT.torque_limit, ZERO, ZERO, ZERO, ZERO)


def write(bench: Bench, command: TorqueCommand, ticks: int) -> list[BusEvent]:
    """The events of these ticks."""
    for _ in range(ticks):
        bench.plant.read()
        bench.plant.write(command)
    return bench.plant.events()


def working() -> Bench:
    bench = Bench(ROBOT)
    for command in (OFF, BRAKE, TORQUE):
        write(bench, command, 4)
    return bench


def test_the_way_up_is_told_and_nothing_of_it_is_an_error() -> None:
    bench = Bench(ROBOT)
    events = [event for command in (OFF, BRAKE, TORQUE) for event in write(bench, command, 4)]
    told = [event.what for event in events if event.board == "board_0"]
    assert told[-2:] == ["DISARMED -> DAMPING", "DAMPING -> TORQUE"]
    assert all(event.severity is Severity.INFO for event in events)
    assert bench.plant.events() == []


def test_a_pulled_plug_is_told_with_port_time_and_reason() -> None:
    bench = working()
    bench.pull(1)
    before = bench.plant._time()
    events = write(bench, TORQUE, 20)
    lost = next(event for event in events if event.severity is Severity.ERROR)
    assert lost.port == bench.cables[1].url and lost.what == f"port lost: {lost.port}: pulled"
    assert 0.0 <= lost.stamp - before <= 0.002
    assert sum("port lost" in event.what for event in events) == 1


def test_a_board_that_its_joint_stops_names_joint_value_and_limit_also_when_the_joint_is_well_again() -> None:
    bench = working()
    sick = bench.boards[1]
    sick.condition.heat(2)
    events = write(bench, TORQUE, 5)
    joint, limit = ROBOT.joint_names[sick.index[2]], sick.table[2].temperature_max
    evidence = f"over_temperature at {joint}: {limit + 1:.4g}, limit {limit:.4g}"
    (stop,) = [event for event in events if event.severity is Severity.ERROR]
    assert stop.what == f"TORQUE -> STOPPING (joint_fault: {evidence})" and stop.board == "board_1"
    assert any(event.what == evidence and event.severity is Severity.WARN for event in events)
    sick.condition.heal()
    events = write(bench, OFF, 600)
    assert [event.what for event in events if event.severity is Severity.ERROR] == [
        f"STOPPING -> STOPPED (joint_fault: {evidence})"
    ]
    trouble = bench.plant.trouble(armed=False)
    assert trouble is not None and "STOPPED (over_temperature)" in trouble.what
    assert (trouble.where, trouble.limit) == (joint, limit) and trouble.value > limit
    bench.plant.reset()
    write(bench, OFF, 100)
    assert bench.plant.trouble(armed=False) is None


def test_a_fault_that_lasts_is_told_once() -> None:
    bench = working()
    warm = bench.boards[0]
    warm.condition.temperature[3] = warm.table[3].temperature_max - 4.0
    events = write(bench, TORQUE, 1500)
    assert sum("derated" in event.what for event in events) == 1


def test_silence_and_its_end_are_told() -> None:
    bench = working()
    bench.cables[0].deaf = True
    events = write(bench, TORQUE, 60)
    assert any(e.what == "does not answer for 0.02 s" and e.severity is Severity.ERROR for e in events)
    bench.cables[0].deaf = False
    events = write(bench, TORQUE, 5)
    assert any(e.what == "answers again" for e in events)
    assert any(e.severity is Severity.ERROR and "LAPSED (watchdog)" in e.what for e in events)


def test_a_restarted_board_is_told() -> None:
    bench = working()
    bench.boards[0].power_up()
    events = write(bench, TORQUE, 15)
    assert any("has restarted: TORQUE -> UNCONFIGURED" in e.what and e.severity is Severity.ERROR for e in events)
    assert bench.boards[1].mode is Mode.DAMPING


def test_lost_frames_are_summed_up() -> None:
    bench = Bench(ROBOT, disturbance=Disturbance(frame_loss=0.02))
    events = [event for event in write(bench, OFF, 3500) if "frames lost" in event.what]
    for board in bench.boards:
        told = [event for event in events if event.board == board.name]
        assert 2 <= len(told) <= 4 and all(event.severity is Severity.WARN for event in told)
    health = bench.plant.bus_health()[0]
    told = sum(int(event.what.split()[0]) for event in events if event.board == "board_0")
    assert 0 < told <= health.lost
