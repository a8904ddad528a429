"""A walking foot learns the slope under it, and nothing on level ground."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from humanoid_balance.balance.footing import QUICK, SETTLED, SURE, Footing

LEVEL = np.array([0.0, 0.0, 1.0])


def tilted(angle: float) -> np.ndarray:
    return np.array([-math.sin(angle), 0.0, math.cos(angle)])


def situation(stamp: float, normal: np.ndarray, contact: tuple[bool, bool] = (True, False)) -> Any:
    return SimpleNamespace(state=SimpleNamespace(stamp=stamp, ground_normal=normal, contact=np.array(contact)))


def learnt(normal: np.ndarray, seconds: float, contact: tuple[bool, bool] = (True, False)) -> np.ndarray:
    """What is left of level ground after a swing over a stance sole with this normal."""
    footing, ground = Footing(), LEVEL.copy()
    footing.begin(1.0)
    for k in range(round(seconds / 0.001)):
        footing.learn(situation(1.0 + 0.001 * k, normal, contact), 0, ground)
    return ground


def test_a_swing_is_enough_to_learn_a_slope() -> None:
    slope = math.radians(8.0)
    ground = learnt(tilted(slope), SETTLED + 5 * QUICK)
    assert math.acos(float(ground @ tilted(slope))) <= SURE + 1e-9
    assert np.linalg.norm(ground) == pytest.approx(1.0)


def test_what_a_soft_rim_shows_on_level_ground_changes_nothing_at_all() -> None:
    assert (learnt(tilted(0.9 * SURE), 1.0) == LEVEL).all()


def test_a_sole_that_has_just_landed_is_not_asked() -> None:
    assert (learnt(tilted(0.2), SETTLED - 0.002) == LEVEL).all()


@pytest.mark.parametrize("contact", [(True, True), (False, False), (False, True)])
def test_only_a_sole_that_carries_alone_is_believed(contact: tuple[bool, bool]) -> None:
    assert (learnt(tilted(0.2), 1.0, contact) == LEVEL).all()
