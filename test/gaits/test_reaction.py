"""Gains that rise after a push, when the reaction time is over (Y22)."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from humanoid_balance import stack
from humanoid_balance.errors import InputError
from humanoid_balance.gaits import library
from humanoid_balance.gaits.table import Gain, load
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import Command, JointReference

PLANE = RunSettings(robot="r2d", planar=True, period=0.004)


def written(tmp_path: Path, entry: str) -> Path:
    file = tmp_path / "mine.yaml"
    walk = library.find("walk").file.read_text(encoding="utf-8")
    file.write_text(f"reaction: {entry}\n{walk}", encoding="utf-8")
    return file


def test_gains_rise_when_the_reaction_time_is_over_and_fall_back(tmp_path: Path) -> None:
    file = written(tmp_path, "{factor: 2, delay: 0.15, time: 0.5}")
    robot, plant = stack.simulator(PLANE, [PushProfile(400.0, 0.1, 0.0, 2.5)])
    loop = stack.simulated(robot, plant)
    onset, high = math.nan, []
    hip = robot.joint_names.index("l_hip")
    while plant.time < 4.0:
        tick = loop.tick(Command(plant.time, gait=str(file)))
        if plant.time > 2.4:
            assert isinstance(tick.reference, JointReference)
            if tick.reference.stiffness[hip] > 400.0:
                high.append(tick.state.stamp)
            if math.isnan(onset) and tick.state.push.onset > 2.4:
                onset = tick.state.push.onset
    assert onset == pytest.approx(2.5, abs=0.05)
    assert high[0] == pytest.approx(onset + 0.15, abs=PLANE.period + 1e-6)
    assert high[-1] == pytest.approx(onset + 0.65, abs=PLANE.period + 1e-6)
    assert np.diff(high).max() < 1.5 * PLANE.period


def test_trunk_and_hips_are_held_more_firmly_and_the_rest_of_the_table_stays(tmp_path: Path) -> None:
    table = load(written(tmp_path, "{factor: 2}"))
    assert table.raised.gains.torso == Gain(600.0, 60.0)
    assert table.raised.gains.hip == Gain(600.0, 60.0)
    assert table.raised.gains.knee == table.gains.knee
    assert replace(table.raised, gains=table.gains) == table


@pytest.mark.parametrize("entry", ["{factor: 0}", "{delay: 0.15}", "{factor: 2, delay: -1}", "{factor: 2, wait: 1}"])
def test_a_wrong_entry_is_refused(tmp_path: Path, entry: str) -> None:
    with pytest.raises(InputError, match=r"mine\.yaml.*reaction"):
        load(written(tmp_path, entry))
