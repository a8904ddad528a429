"""Legs that touch each other are found in the recorded motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_balance.experiments.leg_contact import leg_contacts
from humanoid_balance.recording.record import Record
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot


class Recorded:
    """A run of which only the true poses are known."""

    def __init__(self, robot: Robot, poses: list[dict[str, float]]) -> None:
        self.robot, self.record = robot, Record(robot, len(poses))
        self.record.length = len(poses)
        self.record["time"][:] = 0.004 * np.arange(len(poses))
        self.record["true_q"][:] = robot.q_nominal
        for row, pose in enumerate(poses):
            for name, angle in pose.items():
                self.record["true_q"][row, 7 + robot.joint_names.index(name)] = angle


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_nobody_stands_with_the_legs_touching(name: str) -> None:
    done: Any = Recorded(registry.load(name), [{}] * 3)
    assert leg_contacts(done) == []


def test_a_leg_that_goes_through_the_other_is_reported_once_when_it_begins() -> None:
    crossed = {"l_hip_roll": -0.4, "r_hip_roll": 0.4}
    done: Any = Recorded(registry.load("human"), [{}, crossed, crossed, {}])
    met = leg_contacts(done)
    assert met and {contact.stamp for contact in met} == {0.004}
    assert all(a.startswith("l_") and b.startswith("r_") for a, b in (contact.links for contact in met))
    assert len({contact.links for contact in met}) == len(met)
