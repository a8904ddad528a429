"""The wrench cone of a sole is exactly what forces at its corners can do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from humanoid_balance.types import Array
from humanoid_balance.wholebody.contact import ROW_NAMES, ROWS, rectangle, to_middle, wrench_cone, wrench_scale

# A sole that does not lie about its origin.
SOLE = np.array([[0.12, 0.03, 0.0], [-0.05, 0.03, 0.0], [-0.05, -0.03, 0.0], [0.12, -0.03, 0.0]])
MU = 0.6


def corner_map(corners: Array) -> Array:
    """Forces at the corners (12,) to the wrench about the sole's origin."""
    blocks = []
    for x, y, z in corners:
        blocks.append(np.vstack([np.eye(3), [[0, -z, y], [z, 0, -x], [-y, x, 0]]]))
    return np.hstack(blocks)


def pyramid_rows(mu: float) -> Array:
    one = np.array([[1, 0, -mu], [-1, 0, -mu], [0, 1, -mu], [0, -1, -mu]])
    return np.kron(np.eye(4), one)


@pytest.mark.parametrize("margin", [0.0, 0.01])
def test_wrenches_of_corner_forces_are_inside(margin: float) -> None:
    middle, X, Y = rectangle(SOLE)
    corners = middle + np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]]) * [X - margin, Y - margin, 0]
    rng = np.random.default_rng(0)
    normal = rng.exponential(size=(500, 4))
    force = np.concatenate([rng.uniform(-MU, MU, size=(500, 4, 2)) * normal[..., None], normal[..., None]], axis=2)
    wrench = force.reshape(500, 12) @ corner_map(corners).T
    cone = wrench_cone(SOLE, MU, margin)
    assert (wrench @ cone[:-1].T).max() <= 1e-12


def test_wrenches_inside_are_wrenches_of_corner_forces() -> None:
    """For random wrenches, the cone and the linear program over corner forces give the same verdict."""
    rng = np.random.default_rng(1)
    cone, G, F = wrench_cone(SOLE, MU), corner_map(SOLE), pyramid_rows(MU)
    _, X, Y = rectangle(SOLE)
    inside = 0
    for _ in range(300):
        size = np.array([MU, MU, 0, Y, X, MU * (X + Y)])
        wrench = rng.uniform(-0.9, 0.9, size=6) * size
        wrench[2] = 1.0
        about_origin = np.linalg.solve(to_middle(rectangle(SOLE)[0]), wrench)
        verdict = bool((cone[:-1] @ about_origin).max() <= 0)
        program = linprog(np.zeros(12), A_ub=F, b_ub=np.zeros(16), A_eq=G, b_eq=about_origin, bounds=(None, None))
        assert verdict == program.success
        inside += verdict
    assert 30 < inside < 270  # the sample sees both sides


def test_last_row_is_the_normal_force_and_every_row_has_a_name() -> None:
    cone = wrench_cone(SOLE, MU)
    assert cone.shape == (ROWS, 6) and len(ROW_NAMES) == ROWS
    np.testing.assert_allclose(cone[-1], [0, 0, 1, 0, 0, 0])


def test_a_margin_larger_than_the_sole_leaves_a_cone_with_an_inside() -> None:
    middle = rectangle(SOLE)[0]
    straight = np.linalg.solve(to_middle(middle), np.array([0, 0, 1.0, 0, 0, 0]))
    assert (wrench_cone(SOLE, MU, margin=1.0)[:-1] @ straight).max() < 0


def test_scale_is_one_where_a_component_is_at_its_largest() -> None:
    middle, X, Y = rectangle(SOLE)
    at_edge = np.linalg.solve(to_middle(middle), np.array([MU, 0, 1.0, Y, -X, 0]))
    np.testing.assert_allclose(wrench_scale(SOLE, MU) @ at_edge, [1, 0, 1, 1, -1, 0], atol=1e-12)
