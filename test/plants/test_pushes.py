"""Pushes have the direction, profile and impulse they are asked for."""

import math

import numpy as np
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.plants.pushes import PushProfile


@pytest.mark.parametrize(("direction", "axis"), [(0, (1, 0)), (90, (0, 1)), (180, (-1, 0)), (270, (0, -1))])
def test_direction_is_where_the_force_points(direction, axis):
    assert PushProfile(1.0, 1.0, direction).axis[:2] == pytest.approx(axis, abs=1e-12)


@pytest.mark.parametrize("profile", ["constant", "half-sine", "sine"])
def test_the_impulse_is_the_integral_of_the_force(profile):
    push = PushProfile(200.0, 0.3, start=0.5, profile=profile, frequency=1.3)
    times = np.arange(0.0, 1.0, 1e-5) + 5e-6
    integral = sum(push.force_at(t) for t in times) * 1e-5
    assert integral == pytest.approx(push.impulse, rel=1e-3)
    assert push.force_at(0.499) == 0.0 and push.force_at(0.801) == 0.0


@pytest.mark.parametrize(
    ("key", "value"),
    [("duration", -0.1), ("force", math.nan), ("start", -1.0), ("profile", "square"), ("direction", math.inf)],
)
def test_a_push_that_makes_no_sense_is_refused_by_name(key, value):
    with pytest.raises(InputError, match=key):
        PushProfile(**{"force": 1.0, "duration": 0.1, key: value})
