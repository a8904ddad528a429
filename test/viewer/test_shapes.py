"""The body of the page against the body of the simulation."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from humanoid_balance.figures.playback import Puppet
from humanoid_balance.plants.world import World
from humanoid_balance.robot import registry
from humanoid_balance.viewer import shapes


@pytest.mark.parametrize("name", registry.names())
def test_every_shape_is_there_at_its_size_and_light_enough(name: str) -> None:
    puppet = Puppet(registry.load(name), World())
    links = shapes.links(puppet)
    assert sum(len(link.parts) for link in links) == len(puppet.shapes) >= 7
    model = puppet.model
    assert sum(len(part.faces) for link in links for part in link.parts) < 80_000
    parts = [part for link in links for part in link.parts]
    geoms = sorted(puppet.shapes, key=lambda g: [link.body for link in links].index(model.geom_bodyid[g]))
    for part, geom in zip(parts, geoms, strict=True):
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
        outline = puppet.extreme_points(geom) @ turn.reshape(3, 3).T + model.geom_pos[geom]
        for edge in (np.min, np.max):
            assert edge(part.vertices, axis=0) == pytest.approx(edge(outline, axis=0), abs=0.03), model.geom(geom).name


def test_the_body_stands_on_the_ground_as_tall_as_it_is() -> None:
    robot = registry.load("human")
    puppet = Puppet(robot, World())
    puppet.pose(robot.q_nominal)
    data, points = puppet.data, []
    for link in shapes.links(puppet):
        turn, place = data.xmat[link.body].reshape(3, 3), data.xpos[link.body]
        points += [part.vertices @ turn.T + place for part in link.parts]
    heights = np.concatenate(points)[:, 2]
    assert heights.min() == pytest.approx(0.0, abs=0.02)
    assert heights.max() == pytest.approx(1.70, abs=0.08)


def test_a_box_of_inertia_has_the_inertia_of_its_link() -> None:
    model = Puppet(registry.load("human"), World()).model
    boxes = shapes.inertia_boxes(model, list(range(1, model.nbody)))
    assert sum(model.body_mass[box.body] for box in boxes) == pytest.approx(model.body_mass.sum(), rel=1e-3)
    for box in boxes:
        a, b, c = box.size
        moments = model.body_mass[box.body] / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
        assert moments == pytest.approx(model.body_inertia[box.body], rel=0.05, abs=1e-5)
