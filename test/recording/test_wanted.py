"""Commands as messages and back: a log holds what the operator wanted, and a replay obeys it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from rclpy.serialization import deserialize_message

from humanoid_balance.balance.supervisor import BalanceSettings
from humanoid_balance.experiments import walk
from humanoid_balance.experiments.footstep_plan import foothold
from humanoid_balance.experiments.walk import Itinerary
from humanoid_balance.loop import COMMAND_AGE
from humanoid_balance.recording.bag_reading import BagFacts
from humanoid_balance.recording.cdr import Template
from humanoid_balance.recording.replay import WISHES, Recorded, replay
from humanoid_balance.recording.wanted import Wanted
from humanoid_balance.recording.wish_notes import KINDS, WishNotes
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import LEFT, RIGHT, STILL, Command

PLAN = (foothold(LEFT, 0.2, 0.1, 0.4), foothold(RIGHT, 0.4, -0.1, 0.0))
DT = 0.01  # [s]


def sent(commands: list[Command]) -> list[list[tuple[str, Any]]]:
    """Topic and message of what is written in each tick."""
    notes = WishNotes()
    return [
        [
            (topic, deserialize_message(bytes(Template(KINDS[topic], value).bytes), WISHES[topic]))
            for topic, value in notes.of(command, k * DT)
        ]
        for k, command in enumerate(commands)
    ]


def heard(commands: list[Command]) -> list[Command]:
    wanted, out = Wanted(), []
    for k, messages in enumerate(sent(commands)):
        for topic, message in messages:
            wanted.hear[topic](message, k * DT)
        out.append(wanted.command(k * DT, k * DT))
    return out


@pytest.mark.parametrize(
    "command",
    [Command(0.0, np.array((0.3, -0.1, 0.5))), Command(0.0, footsteps=PLAN), Command(0.0, skill="rise")],
    ids=["velocity", "footsteps", "skill"],
)
def test_what_was_commanded_comes_back_in_the_same_tick(command: Command) -> None:
    told = heard([STILL, *[command] * 100, STILL, STILL])
    assert told[0] is STILL
    for found in told[1:101]:
        np.testing.assert_array_equal(found.velocity, command.velocity)
        assert (found.gait, found.skill) == (command.gait, command.skill)
        assert len(found.footsteps) == len(command.footsteps)
        for step, wanted in zip(found.footsteps, command.footsteps, strict=True):
            assert step.contact == wanted.contact and step.stamp == wanted.stamp
            np.testing.assert_array_equal(step.position, wanted.position)
            np.testing.assert_allclose(step.rotation, wanted.rotation, atol=1e-15)
    assert told[101].still and told[102].still


def test_only_changes_and_a_few_repetitions_are_written() -> None:
    """A wish lasts half a second."""
    count = round(1.0 / DT)
    ticks = sent([Command(0.0, np.array((0.3, 0.0, 0.0)))] * count)
    assert 1.0 / COMMAND_AGE < sum(len(messages) for messages in ticks) <= 11
    assert sum(len(messages) for messages in sent([STILL] * count)) == 0


def test_a_walk_that_was_logged_walks_again(tmp_path: Path) -> None:
    """Nothing differs: the command is heard in the tick in which it was given."""
    path, robot = tmp_path / "walk.mcap", registry.load("g1")
    script = Itinerary(((0.1, (0.3, 0.0, 0.0)), (1.0, (0.0, 0.0, 0.0))))
    walk.run(RunSettings(robot="g1", time=1.5), script, log=path)
    result = replay(robot, Recorded(robot, BagFacts([path], ""), 0.001, newest=False), BalanceSettings(), 0.001)
    assert result["modes"][:2] == ["stable", "walking"] and result["modes"] == result["modes_recorded"]
    assert result["torque_max"] == 0.0 and result["status_differs"] == result["active_differs"] == 0
