"""What is asked of the ground stays within its friction, on any slope and with any heading of the feet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_balance.balance.grip import LEAST, Grip
from humanoid_balance.balance.laws import Wish
from humanoid_balance.balance.situation import Situation
from humanoid_balance.balance.step_cycle import ground_rotation
from humanoid_balance.experiments import push
from humanoid_balance.geometry import Point
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import Array

HEIGHT, FRICTION = 0.9, 0.4
COM = (0.3, -0.2)

slopes = st.builds(
    lambda roll, pitch: np.array(pin.rpy.rpyToMatrix(roll, pitch, 0.0)[:, 2]),
    st.floats(-0.3, 0.3),
    st.floats(-0.3, 0.3),
)
headings = st.floats(-math.pi, math.pi)
ways = st.tuples(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))


def situation(normal: Array, yaw: float) -> Situation:
    rest: dict[str, Any] = {"state": None, "omega": 1.0, "com_velocity": (0.0, 0.0), "dcm": COM, "lean": (0.0, 0.0)}
    rest |= {"spin": (0.0, 0.0), "centre": (COM, COM), "pushed": (0.0, 0.0), "lasting": 0.0}
    return Situation(com=COM, height=HEIGHT, ground=normal, yaw=yaw, **rest)


def used(normal: Array, yaw: float, point: Point) -> Array:
    """Friction (along the foot, across) of a force from a point on the ground to the CoM, per normal force."""
    force = np.array([COM[0] - point[0], COM[1] - point[1], HEIGHT])
    x, y, z = ground_rotation(normal, yaw).T @ force
    return np.array([x, y]) / z


def ahead(way: Point) -> Point:
    return COM[0] + way[0], COM[1] + way[1]


@given(normal=slopes, yaw=headings, pressure=ways, turn=ways)
def test_the_ground_is_asked_for_no_more_than_its_friction(
    normal: Array, yaw: float, pressure: Point, turn: Point
) -> None:
    wish = Grip(FRICTION).limited(situation(normal, yaw), Wish(ahead(pressure), turn))
    (px, py), (dx, dy) = wish.pressure, wish.turn
    most = max(FRICTION, np.abs(used(normal, yaw, COM)).max() + LEAST) + 1e-9
    assert (np.abs(used(normal, yaw, (px, py))) < most).all()
    assert (np.abs(used(normal, yaw, (px + dx, py + dy))) < most).all()


@given(normal=slopes, yaw=headings, pressure=ways, turn=ways)
def test_what_friction_gives_is_not_changed(normal: Array, yaw: float, pressure: Point, turn: Point) -> None:
    wish = Wish(ahead(pressure), turn)
    whole = ahead((pressure[0] + turn[0], pressure[1] + turn[1]))
    limited = Grip(FRICTION).limited(situation(normal, yaw), wish)
    if max(np.linalg.norm(used(normal, yaw, p)) for p in (wish.pressure, whole)) < FRICTION:
        assert limited == wish


def test_downhill_little_is_left_and_uphill_much() -> None:
    """On 20 degrees, tan 20 = 0.364 of 0.4 holds the body where it is."""
    down = math.radians(20.0)
    now = situation(np.array([math.sin(down), 0.0, math.cos(down)]), 0.0)  # falls towards +x
    grip, spare = Grip(FRICTION), math.atan(FRICTION)
    (x, _) = grip.limited(now, Wish(ahead((0.5, 0.0)), (0.0, 0.0))).pressure
    assert x - COM[0] == pytest.approx(HEIGHT * math.tan(spare - down), rel=1e-6)
    (x, _) = grip.limited(now, Wish(ahead((-2.0, 0.0)), (0.0, 0.0))).pressure
    assert COM[0] - x == pytest.approx(HEIGHT * math.tan(spare + down), rel=1e-6)


@pytest.mark.parametrize(("slope", "direction"), [(-20.0, 0.0), (20.0, 180.0), (20.0, 225.0), (15.0, 180.0)])
def test_pushed_downhill_it_comes_to_rest_with_its_feet_in_place(slope: float, direction: float) -> None:
    """150 N x 0.1 s; legs that buy grip by pressing harder would throw the body off the ground."""
    done = push.run(RunSettings(slope=slope), [PushProfile(150.0, 0.1, direction)])
    assert not done.result["fell"]
    assert done.result["recovery_time"] is not None and done.result["steps"] == 0
    pressing = done.record["true_sole_force"][:, :, 2].sum(axis=1)
    robot = done.record.robot
    assert pressing[500:].max() < 1.2 * robot.weight
