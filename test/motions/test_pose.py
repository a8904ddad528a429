"""The algebra of poses and the transition function (A4, A5), to 1e-12."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.motions.pose import Pose, ease

EXACT = 1e-12


def some(rng: np.random.Generator) -> Pose:
    return Pose(rng.normal(size=3), pin.exp3(rng.normal(size=3)), rng.normal(size=36))


def same(a: Pose, b: Pose) -> None:
    for one, other in zip((a.position, a.rotation, a.joints), (b.position, b.rotation, b.joints), strict=True):
        np.testing.assert_allclose(one, other, atol=EXACT)


def test_a_displacement_leads_from_one_pose_to_the_other() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        first, second = some(rng), some(rng)
        same(second @ (first / second), first)


def test_powers_of_a_displacement_are_shares_of_it() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        first, second = some(rng), some(rng)
        whole = first / second
        same(second @ whole**1.0, first)
        same(second @ whole**0.0, second)
        half = whole**0.5
        np.testing.assert_allclose(half.rotation @ half.rotation, whole.rotation, atol=EXACT)
        np.testing.assert_allclose(2 * half.joints, whole.joints, atol=EXACT)


def test_composition_is_associative() -> None:
    rng = np.random.default_rng(3)
    a, b, c = some(rng), some(rng), some(rng)
    same((a @ b) @ c, a @ (b @ c))


@pytest.mark.parametrize(("x", "s"), [(0.1, 0.028), (0.25, 0.15625), (0.5, 0.5), (-1.0, 0.0), (0.0, 0.0), (2.0, 1.0)])
def test_the_transition_has_the_values_of_the_specification(x: float, s: float) -> None:
    assert ease(x) == pytest.approx(s, abs=EXACT)
    assert ease(3.0 + 4.0 * x, 3.0, 7.0) == pytest.approx(s, abs=EXACT)


def test_the_transition_ends_with_slope_zero() -> None:
    step = 1e-6
    assert abs(ease(1.0) - ease(1.0 - step)) < 10 * step**2 and abs(ease(step) - ease(0.0)) < 10 * step**2
