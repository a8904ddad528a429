"""Grounds: what lies on them is where the options say, in both simulators and for the truth about falls."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.plants.gazebo.world import sdf_world
from humanoid_balance.plants.mujoco.model import build
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.terrain import BEGIN, FLIGHT, HOLE, LANDING, terrain
from humanoid_balance.plants.world import DROP_AT, GROUNDS, PlantOptions, World
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import SOLE_NAMES
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import TorqueCommand

G1 = registry.load("g1")
WORLDS = {
    "flat": World(), "rough": World(ground="rough"), "stairs": World(ground="stairs", rise=0.08, tread=0.3),
    "tiles": World(ground="tiles", rise=0.015, tread=0.4), "drop": World(ground="drop", drop=0.05),
    "hole": World(ground="hole", drop=0.05), "slope": World(ground="slope", slope=8.0),
    "downhill": World(ground="slope", slope=-8.0), "cart": World(ground="cart"),
    "springs": World(ground="springs"),
}  # fmt: skip


def fallen_ball(model: mujoco.MjModel, x: float, y: float) -> float:
    """Height of the first ground below a place, asked of the simulator [m]."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    still = np.flatnonzero(model.geom_bodyid == 0)
    model.geom_group[:] = 1
    model.geom_group[still] = 0
    groups = np.array([1, 0, 0, 0, 0, 0], dtype=np.uint8)
    hit = np.zeros(1, dtype=np.int32)
    return 5.0 - float(
        mujoco.mj_ray(model, data, np.array([x, y, 5.0]), np.array([0.0, 0.0, -1.0]), groups, 1, -1, hit)
    )


def test_every_ground_has_a_world() -> None:
    assert set(GROUNDS) <= set(WORLDS)


@pytest.mark.parametrize("name", WORLDS)
def test_the_truth_about_the_height_is_that_of_the_simulator(name: str) -> None:
    world, rng = WORLDS[name], np.random.default_rng(1)
    ground, model = terrain(world, G1), build(G1, world)
    if name == "rough":
        return  # its blocks are low: their height does not count for a fall
    for x, y in rng.uniform((-0.5, -0.6), (8.0, 0.6), (60, 2)):
        assert ground.height(x, y) == pytest.approx(fallen_ball(model, x, y), abs=1e-6), (x, y)


@pytest.mark.parametrize("name", WORLDS)
def test_a_robot_starts_on_level_ground_and_has_not_fallen(name: str) -> None:
    plant = MujocoPlant(G1, PlantOptions(WORLDS[name]))
    for _ in range(3):
        plant.write(TorqueCommand.damp(plant.time, G1.brake))
    truth = plant.truth()
    assert not truth.fell
    assert (truth.sole_force[:, 2] > 0.1 * G1.weight).all()  # limp, but its soles press on the ground
    assert np.abs(truth.sole_position[:, 2]).max() < (0.02 if name == "springs" else 0.002)


def test_stairs_go_up_and_come_down_again() -> None:
    ground = terrain(WORLDS["stairs"], G1)
    for k in range(FLIGHT):
        assert ground.height(BEGIN + (k + 0.5) * 0.3, 0.0) == pytest.approx(0.08 * (k + 1))
    end = BEGIN + FLIGHT * 0.3 + LANDING
    for k in range(FLIGHT - 1):
        assert ground.height(end + (k + 0.5) * 0.3, 0.0) == pytest.approx(0.08 * (FLIGHT - 1 - k))
    assert ground.height(end + FLIGHT * 0.3, 0.0) == 0.0


def test_a_hole_ends_and_a_drop_does_not() -> None:
    hole, drop = terrain(WORLDS["hole"], G1), terrain(WORLDS["drop"], G1)
    for x, deep, deeper in (
        (DROP_AT - 0.01, 0.0, 0.0),
        (DROP_AT + 0.01, -0.05, -0.05),
        (DROP_AT + HOLE + 0.01, 0, -0.05),
    ):
        assert (hole.height(x, 0.0), drop.height(x, 0.0)) == (deep, deeper)


def test_tiles_are_random_within_their_rise_and_the_same_for_a_seed() -> None:
    world = WORLDS["tiles"]
    tops = [terrain(world, G1).height(x, 0.0) for x in np.arange(0.7, 12.0, 0.4)]
    assert max(map(abs, tops)) <= 0.015 and np.std(tops) > 0.005
    assert tops == [terrain(world, G1).height(x, 0.0) for x in np.arange(0.7, 12.0, 0.4)]
    other = World(ground="tiles", rise=0.015, tread=0.4, seed=1)
    assert tops != [terrain(other, G1).height(x, 0.0) for x in np.arange(0.7, 12.0, 0.4)]


def test_a_knee_on_a_stair_is_a_fall_and_a_sole_is_not() -> None:
    plant = MujocoPlant(G1, PlantOptions(WORLDS["stairs"]))
    stair, sole = plant.model.geom("stair_0").id, plant.model.geom(SOLE_NAMES[0]).id
    other = next(
        g for g in range(plant.model.ngeom) if plant.model.geom_bodyid[g] not in (0, plant.model.geom_bodyid[sole])
    )
    assert not plant._fallen[stair, sole] and plant._fallen[stair, other] and plant._fallen[other, stair]


def test_a_cart_rolls_when_it_is_pushed_and_does_not_sink() -> None:
    plant = MujocoPlant(G1, PlantOptions(WORLDS["cart"]))
    cart = plant.model.body("cart").id
    x, _, z = plant.data.xpos[cart].copy()
    for _ in range(200):
        plant.data.xfrc_applied[cart, 0] = 5.0
        plant.write(TorqueCommand.damp(plant.time, G1.brake))
    moved = plant.data.xpos[cart]
    assert moved[0] - x == pytest.approx(0.5 * 5.0 / (G1.mass / 10) * 0.2**2, rel=0.2)
    assert abs(moved[2] - z) < 0.003


@pytest.mark.parametrize("name", ["stairs", "tiles", "drop", "hole", "slope"])
def test_gazebo_gets_the_same_boxes(name: str) -> None:
    world = WORLDS[name]
    root = ET.fromstring(sdf_world(G1, world))
    boxes = root.findall("./world/model[@name='blocks']/link/collision")
    assert [b.get("name") for b in boxes] == [box.name for box in terrain(world, G1).boxes]
    plane = root.find("./world/model[@name='ground']/link/collision")
    assert plane is not None
    floor = float((plane.findtext("pose") or "0 0 0").split()[2])
    assert floor == pytest.approx(terrain(world, G1).floor)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"ground": "drop"}, "drop"), ({"ground": "slope"}, "slope"), ({"rise": 0.1}, "rise"),
        ({"tread": 0.3}, "tread"),
        ({"ground": "stairs", "rise": math.nan}, "rise"), ({"ground": "stairs", "slope": 5.0}, "slope"),
        ({"ground": "stairs", "drop": 0.1}, "drop"), ({"ground": "lava"}, "ground"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_a_ground_are_named(options: dict[str, object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        RunSettings(**options)  # type: ignore[arg-type]
