"""The process that keeps the pace."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.experiments.push import PushSettings
from humanoid_balance.viewer.simulation import Pace, PushNow, Reset, Setup, Simulation


def test_the_process_ends_with_the_page() -> None:
    running = Simulation(PushSettings())
    running.exchange([])
    process = running._process
    running.close()
    assert not process.is_alive()


def test_a_dead_process_is_told_in_one_line() -> None:
    running = Simulation(PushSettings())
    running.exchange([])
    running._process.kill()
    running._process.join()
    with pytest.raises(InputError, match="ended"):
        running.exchange([])
    running.close()


@pytest.fixture(scope="module")
def simulation() -> Iterator[Simulation]:
    running = Simulation(PushSettings())
    running.exchange([])
    yield running
    running.close()


def advance(simulation: Simulation, wait: float) -> float:
    """How far the simulated clock comes in so many seconds."""
    start, begin = simulation.exchange([]).moment.time, time.monotonic()
    time.sleep(wait)
    return (simulation.exchange([]).moment.time - start) / (time.monotonic() - begin)


def test_time_never_runs_faster_than_the_clock(simulation: Simulation) -> None:
    simulation.exchange([Reset(), Pace(1.0, True)])
    assert 0.05 < advance(simulation, 0.5) < 1.2  # how much slower depends on who else is working here


def test_slow_motion(simulation: Simulation) -> None:
    simulation.exchange([Reset(), Pace(0.1, True)])
    assert 0.01 < advance(simulation, 0.6) < 0.2


def test_pause_stops_the_clock_and_pushes_wait(simulation: Simulation) -> None:
    simulation.exchange([Reset(), Pace(0.0, True)])
    start = simulation.exchange([PushNow(100.0, 0.05, 0.0)]).moment.time
    time.sleep(0.2)
    assert simulation.exchange([]).moment.time == start
    simulation.exchange([Pace(0.05, True)])
    end = time.monotonic() + 10.0
    while not simulation.exchange([]).moment.push.any():
        assert time.monotonic() < end
    simulation.exchange([Pace(1.0, True)])


def test_another_robot_is_a_new_generation_and_a_wrong_one_a_notice(simulation: Simulation) -> None:
    before = simulation.exchange([]).generation
    after = simulation.exchange([Setup(PushSettings(robot="human:mass=90", slope=5.0))])
    assert after.generation == before + 1 and after.settings.slope == 5.0
    wrong = simulation.exchange([Setup(PushSettings(robot="r2d2"))])
    assert wrong.generation == before + 1 and "r2d2" in wrong.notice
    assert simulation.exchange([]).notice == ""
