"""Joint limits that a controller can always obey."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from humanoid_balance.robot import registry
from humanoid_balance.wholebody.limits import JointLimits

ROBOT = registry.load("human")
LIMITS = JointLimits(ROBOT)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=200, deadline=None)
def test_bounds_never_contradict_each_other(seed: int) -> None:
    """Anywhere, also beyond the end stops and beyond the velocity limit."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(ROBOT.lower - 0.5, ROBOT.upper + 0.5)
    v = rng.uniform(-3, 3, size=ROBOT.n) * ROBOT.velocity_limit
    out = np.zeros((2, ROBOT.n))
    LIMITS.shares(q, v, out)
    assert (out[0] <= out[1]).all()
    assert np.abs(out).max() <= 1.0


def test_a_joint_that_always_takes_the_upper_bound_stops_at_its_end_stop() -> None:
    dt, q, v = 0.001, ROBOT.posture.copy(), np.zeros(ROBOT.n)
    out = np.zeros((2, ROBOT.n))
    top_speed = np.zeros(ROBOT.n)
    for _ in range(4000):
        LIMITS.shares(q, v, out)
        a = out[1] * ROBOT.acceleration_limit
        q, v = q + dt * v + dt * dt / 2 * a, v + dt * a
        top_speed = np.maximum(top_speed, v)
    assert (q <= ROBOT.upper + 2e-3).all() and (q >= ROBOT.upper - 5e-2).all()
    assert (top_speed <= 1.01 * ROBOT.velocity_limit).all()


def test_beyond_a_limit_only_decelerating_acceleration() -> None:
    """Spec K3: a joint that moves out beyond its end stop has to brake, one that comes back is left alone."""
    out = np.zeros((2, ROBOT.n))
    v = np.full(ROBOT.n, 0.5)
    LIMITS.shares(ROBOT.upper + 0.02, v, out)
    assert (out[1] < 0).all()
    LIMITS.shares(ROBOT.upper + 0.02, -v, out)
    assert (out[1] > 0).all() and (out[0] < 0).all()
