"""Hard ticks cost a bounded number of solves and of changes of the active set: robots pushed until they step."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import daqp
import numpy as np
import pytest

from humanoid_balance.experiments.push import run
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import Array, BodyReference, RobotState, TorqueCommand
from humanoid_balance.wholebody import least_distance
from humanoid_balance.wholebody.controller import WholeBody

SOLVES = 12  # two levels, refined, and the last one, after a vain start
ASKED = 0.2  # of the ticks; in all others the active set is nearly that of the tick before
CHANGES = 600  # some 2 us each


def work_of_a_push(monkeypatch: pytest.MonkeyPatch, robot: str, push: PushProfile, time: float) -> Array:
    """Calls of DAQP and changes of its active set in every tick (ticks, 2)."""
    ticks: list[list[int]] = []
    update = WholeBody.update

    def counted(*args: Any, **options: Any) -> tuple[Array, float, int, dict[str, Any]]:
        answer: tuple[Array, float, int, dict[str, Any]] = daqp.solve(*args, **options)
        ticks[-1][0] += 1
        ticks[-1][1] += answer[3]["iterations"]
        return answer

    def tick(self: WholeBody, state: RobotState, reference: BodyReference) -> TorqueCommand:
        ticks.append([0, 0])
        return update(self, state, reference)

    monkeypatch.setattr(least_distance, "daqp", SimpleNamespace(solve=counted))
    monkeypatch.setattr(WholeBody, "update", tick)
    run(RunSettings(robot=robot, time=time), [push])
    return np.array(ticks)


@pytest.mark.parametrize(
    ("robot", "push"),
    [
        ("human", PushProfile(300, 0.4, 0)),
        ("human:mass=90", PushProfile(550, 0.2, 90)),
        ("talos", PushProfile(380, 0.2, 0)),  # it falls with 410 N, and a body that tumbles asks for anything
        ("g1", PushProfile(120, 0.2, 0)),
    ],
)
def test_work_of_every_tick_of_a_hard_push_is_bounded(
    monkeypatch: pytest.MonkeyPatch, robot: str, push: PushProfile
) -> None:
    solves, changes = work_of_a_push(monkeypatch, robot, push, 1.8).T
    assert 0 < (solves > 0).mean() < ASKED
    assert solves.max() <= SOLVES and changes.max() <= CHANGES
    assert np.median(solves[solves > 0]) <= 3
    assert np.median(changes[solves > 0]) <= 60  # started from the last tick
