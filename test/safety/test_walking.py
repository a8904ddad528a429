"""What can go wrong on the way: an emergency stop, commands that are huge, come too rarely or not at all."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from humanoid_balance import stack
from humanoid_balance.experiments import simulation, walk
from humanoid_balance.experiments.walk import BEGIN, Itinerary
from humanoid_balance.loop import COMMAND_AGE
from humanoid_balance.recording.run import Run
from humanoid_balance.safety.box import SafetyBox, Trip
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import Command

AHEAD = np.array([0.4, 0.0, 0.0])


def test_an_emergency_stop_in_mid_swing_is_damping_and_stays_so() -> None:
    robot, plant = stack.simulator(RunSettings(robot="g1"))
    with closing(plant):
        loop, swung, stopped = stack.simulated(robot, plant), 0, 0
        assert isinstance(loop.safety, SafetyBox)
        for _ in range(4000):
            tick = loop.tick(Command(plant.truth().stamp, AHEAD))
            swung = swung + 1 if not tick.state.contact.all() else 0
            if swung == 100 and tick.state.stamp > 2.0:
                loop.safety.stop(Trip("emergency stop", "operator", 1.0, 0.0))
                break
        assert loop.safety.trip is not None, "no foot was ever in the air"
        for _ in range(300):
            tick = loop.tick(Command(plant.truth().stamp, AHEAD))
            stopped += tick.sent.damped and not tick.sent.torque.any() and not tick.sent.stiffness.any()
        assert stopped == 300


class Rare(walk.CommandSender):
    """A commander that speaks every ``period`` seconds, until ``end``."""

    def __init__(self, period: float, end: float = np.inf) -> None:
        super().__init__(Itinerary(((BEGIN, (0.4, 0.0, 0.0)),)), (), None)
        self.period, self.end = period, end

    def command(self, stamp: float) -> Command:
        spoken = np.floor(min(stamp, self.end) / self.period) * self.period
        return replace(super().command(stamp), stamp=float(spoken))


def sent(sender: walk.CommandSender, robot: str, seconds: float) -> Run:
    return simulation.simulate(RunSettings(robot=robot, time=seconds), (), seconds, operator=sender)


@pytest.mark.parametrize(
    "robot", ["g1", pytest.param("human", marks=pytest.mark.slow), pytest.param("talos", marks=pytest.mark.slow)]
)
def test_a_command_a_second_walks_stops_and_walks_again(robot: str) -> None:
    """Each is obeyed for 0.5 s; then it means stop, and nothing falls."""
    done = sent(Rare(1.0), robot, 6.0)
    modes = [name for _, name in done.record.mode_changes]
    assert not done.record["true_fell"].any()
    assert modes.count("walking") >= 2 and "falling" not in modes


@pytest.mark.slow
@pytest.mark.parametrize("lost", [2.0, 2.1, 2.2, 2.3, 2.4])
@pytest.mark.parametrize("robot", ["human", "talos", "g1"])
def test_a_command_that_is_lost_in_any_phase_ends_on_two_feet(robot: str, lost: float) -> None:
    done = sent(Rare(0.001, lost), robot, 6.5)
    assert not done.record["true_fell"].any()
    assert done.record.mode_changes[-1][1] == "stable"
    assert done.record.mode_changes[2][0] > lost + COMMAND_AGE - 0.01
    assert (done.record["true_sole_force"][-100:, :, 2] > 0.2 * done.robot.weight).all()


@pytest.mark.slow
@pytest.mark.parametrize("velocity", [(9.0, 0.0, 0.0), (-9.0, 0.0, 0.0), (0.0, 9.0, 0.0), (0.0, 0.0, 9.0)])
@pytest.mark.parametrize("robot", ["human", "talos", "g1"])
def test_a_huge_velocity_is_clamped_and_nothing_falls(robot: str, velocity: walk.Velocity) -> None:
    script = Itinerary(((BEGIN, velocity), (5.0, (0.0, 0.0, 0.0))))
    result = walk.run(RunSettings(robot=robot, time=8.0), script).result
    assert not result["fell"]
