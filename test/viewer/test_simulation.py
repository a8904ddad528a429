"""The process that keeps the pace."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest
from command_line.calls import start

from humanoid_balance.errors import InputError
from humanoid_balance.stack import RunSettings
from humanoid_balance.viewer.simulation import LIE, Ask, PushNow, ResetNow, SetPace, Setup, Simulation, Steer


def test_the_process_ends_with_the_page() -> None:
    running = Simulation(RunSettings())
    running.exchange([])
    process = running._process
    running.close()
    assert not process.is_alive()


def test_a_dead_process_is_told_in_one_line() -> None:
    running = Simulation(RunSettings())
    running.exchange([])
    running._process.kill()
    running._process.join()
    with pytest.raises(InputError, match="ended"):
        running.exchange([])
    running.close()


@pytest.fixture(scope="module")
def simulation() -> Iterator[Simulation]:
    running = Simulation(RunSettings())
    running.exchange([])
    yield running
    running.close()


def advance(simulation: Simulation, wait: float) -> float:
    """How far the simulated clock comes in so many seconds."""
    start, begin = simulation.exchange([]).moment.time, time.monotonic()
    time.sleep(wait)
    return (simulation.exchange([]).moment.time - start) / (time.monotonic() - begin)


def test_time_never_runs_faster_than_the_clock(simulation: Simulation) -> None:
    simulation.exchange([ResetNow(), SetPace(1.0)])
    assert 0.05 < advance(simulation, 0.5) < 1.2  # how much slower depends on who else is working here


def test_slow_motion(simulation: Simulation) -> None:
    simulation.exchange([ResetNow(), SetPace(0.1)])
    assert 0.01 < advance(simulation, 0.6) < 0.2


def test_pause_stops_the_clock_and_pushes_wait(simulation: Simulation) -> None:
    simulation.exchange([ResetNow(), SetPace(0.0)])
    start = simulation.exchange([PushNow(100.0, 0.05, 0.0)]).moment.time
    time.sleep(0.2)
    assert simulation.exchange([]).moment.time == start
    simulation.exchange([SetPace(0.05)])
    end = time.monotonic() + 10.0
    while not simulation.exchange([]).moment.push.any():
        assert time.monotonic() < end
    simulation.exchange([SetPace(1.0)])


def test_another_robot_is_a_new_generation_and_a_wrong_one_a_notice(simulation: Simulation) -> None:
    before = simulation.exchange([]).generation
    after = simulation.exchange([Setup(RunSettings(robot="human:mass=90", slope=5.0))])
    assert after.generation == before + 1 and after.settings.slope == 5.0
    wrong = simulation.exchange([Setup(RunSettings(robot="r2d2"))])
    assert wrong.generation == before + 1 and "r2d2" in wrong.notice
    assert simulation.exchange([]).notice == ""


def test_it_walks_while_it_is_steered_and_stops_in_silence(simulation: Simulation) -> None:
    simulation.exchange([ResetNow(), SetPace(1.0)])
    end = time.monotonic() + 60.0
    while simulation.exchange([Steer((0.4, 0.0, 0.0))]).moment.com[0] < 0.3:
        assert time.monotonic() < end
        time.sleep(0.03)
    while simulation.exchange([]).moment.mode != "stable":  # nobody steers any more
        assert time.monotonic() < end
        time.sleep(0.03)


def test_a_fallen_robot_that_is_left_there_does_what_it_is_asked(simulation: Simulation) -> None:
    notice = simulation.exchange([ResetNow(), SetPace(1.0, LIE), Ask("supine to prone")]).notice
    assert "lies" in notice  # it stands
    simulation.exchange([PushNow(700.0, 0.3, 180.0)])
    end, asked = time.monotonic() + 120.0, 0.0
    while (now := simulation.exchange([])).moment.mode != "skill":
        assert time.monotonic() < end, now.changes
        if now.moment.mode == "lying" and time.monotonic() - asked > 2.0:
            asked = time.monotonic()
            simulation.exchange([Ask("recover")])  # on whichever side the fall ended
        time.sleep(0.05)
    simulation.exchange([ResetNow(), SetPace(1.0)])


@pytest.mark.parametrize("after", [0.0, 1.0])
def test_an_interrupt_at_the_terminal_ends_the_page_without_a_traceback(after: float) -> None:
    """The terminal sends it to the whole group, the simulation's process among them."""
    process = start("live", "--no-browser", "--port", "0")
    assert process.stdout is not None and process.stdout.readline().startswith("http://127.0.0.1:")
    time.sleep(after)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines() == ["humanoid-balance live: interrupted"]
