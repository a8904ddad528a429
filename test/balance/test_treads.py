"""Known ground: where whole soles fit, and the steps that lead over it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from humanoid_balance.balance.gait import Gait, Step
from humanoid_balance.balance.reach import Reach
from humanoid_balance.balance.treads import Path, Treads
from humanoid_balance.plants.terrain import BEGIN, terrain
from humanoid_balance.plants.world import World
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot

RISE, TREAD = 0.10, 0.30
STAIRS = World(ground="stairs", rise=RISE, tread=TREAD)
SPEED = (0.4, 0.0, 0.0)


@pytest.fixture(scope="module", params=["human", "talos", "g1"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return registry.load(request.param)


@pytest.fixture(scope="module")
def treads(robot: Robot) -> Treads:
    return Treads(robot, terrain(STAIRS, robot).seen())


def test_the_map_is_as_high_as_the_stairs_and_knows_nothing_beyond_its_rim(treads: Treads) -> None:
    places = np.array([(0.0, 0.0), (BEGIN + 0.15, 0.3), (BEGIN + TREAD + 0.15, 0.0), (50.0, 0.0)])
    np.testing.assert_allclose(treads.heights(places), [0.0, RISE, 2 * RISE, math.nan])


@pytest.mark.parametrize("x", np.arange(0.0, BEGIN + 4 * TREAD, 0.07))
def test_a_whole_sole_lies_on_every_place_that_is_found(robot: Robot, treads: Treads, x: float) -> None:
    tread = treads.nearest((x, 0.1), 0.0)
    assert tread is not None and abs(tread.x - x) <= TREAD
    corners = robot.soles[0][:, :2] - robot.sole_centres[0][:2] + (tread.x, tread.y)
    ground = terrain(STAIRS, robot)
    assert {round(ground.height(*corner), 3) for corner in corners.tolist()} == {round(tread.z, 3)}
    assert tread.normal[2] == pytest.approx(1.0)


def test_on_a_slope_the_sole_lies_as_the_slope_does(robot: Robot) -> None:
    treads = Treads(robot, terrain(World(slope=10.0), robot).seen())
    tread = treads.nearest((1.0, 0.0), 0.3)
    assert tread is not None and tread.x == pytest.approx(1.0)
    assert math.degrees(math.acos(tread.normal[2])) == pytest.approx(10.0, abs=0.5)
    assert tread.normal[0] < -0.1 and abs(tread.normal[1]) < 0.01


def test_no_step_is_higher_than_a_leg_can_take(robot: Robot) -> None:
    high = 0.5 * robot.com_height
    treads = Treads(robot, terrain(World(ground="stairs", rise=high, tread=1.0), robot).seen())
    tread = treads.nearest((BEGIN + 0.05, 0.0), 0.0, level=0.0)
    assert tread is not None and tread.z == pytest.approx(0.0)


def walk(robot: Robot, heights: Treads, steps: int) -> list[tuple[float, float, Step]]:
    """Feet set down one after the other where the path says, from the start on."""
    gait = Gait(robot, Reach.of(robot))
    path, feet, side = Path(heights, 0.85 * gait.longest), [(0.0, 0.1), (0.0, -0.1)], 0
    way = []
    for _ in range(steps):
        stance = feet[1 - side]

        def nominal(k: int, side: int = side) -> Step:
            return gait.step(SPEED, (side + k) % 2, robot.omega, 0.0)

        step = path.choose(stance, 0.0, robot.omega, nominal)
        x, y = stance[0] + step.place[0], stance[1] + step.place[1]
        feet[side] = x, y
        way.append((x, float(heights.heights(np.array([x, y]))), step))
        side = 1 - side
    return way


def test_steps_lead_up_the_stairs_and_none_is_left_half_on_the_next(robot: Robot, treads: Treads) -> None:
    way = walk(robot, treads, 16)
    assert way[-1][0] > BEGIN + 4 * TREAD
    climbed = [z for _, z, _ in way]
    assert climbed == sorted(climbed)
    assert max(b - a for a, b in itertools.pairwise(climbed)) == pytest.approx(RISE)


def test_on_level_ground_a_map_changes_no_step(robot: Robot) -> None:
    gait = Gait(robot, Reach.of(robot))
    flat = Treads(robot, terrain(World(), robot).seen())
    for _, _, step in walk(robot, flat, 2):
        assert step.place[0] == pytest.approx(SPEED[0] * step.time)
    step = Path(flat, gait.longest).choose(
        (0.0, -0.1), 0.0, robot.omega, lambda k: gait.step(SPEED, k % 2, robot.omega, 0.0)
    )
    nominal = gait.step(SPEED, 0, robot.omega, 0.0)
    assert step.place == pytest.approx(nominal.place) and step.offset == pytest.approx(nominal.offset)


def test_a_place_that_was_adapted_stays_on_its_tread(robot: Robot, treads: Treads) -> None:
    gait = Gait(robot, Reach.of(robot))
    path = Path(treads, 0.85 * gait.longest)
    path.choose((BEGIN + 0.15, -0.1), 0.0, robot.omega, lambda k: gait.step(SPEED, k % 2, robot.omega, 0.0))
    assert path.next is not None
    x, y, z = path.next.x, path.next.y, path.next.z
    for away in (-0.3, -0.1, 0.1, 0.3):
        kept = path.kept((x + away, y), 0.0)
        assert kept is not None and kept.z == pytest.approx(z)


def test_the_foot_that_comes_last_is_still_on_the_stairs(robot: Robot, treads: Treads) -> None:
    """The other one stands on top, and all steps from there on are level."""
    gait = Gait(robot, Reach.of(robot))
    path, top = Path(treads, 0.85 * gait.longest), BEGIN + 5 * TREAD

    def nominal(k: int) -> Step:
        return gait.step(SPEED, k % 2, robot.omega, 0.0)

    path.choose((top, -0.1), 0.0, robot.omega, nominal, (top - 2 * TREAD, 0.1))
    assert path.steep
    path.choose((top + 0.2, -0.1), 0.0, robot.omega, nominal, (top + 0.2, 0.1))
    assert not path.steep
