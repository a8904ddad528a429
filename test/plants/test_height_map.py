"""A height map goes over ROS as an organised cloud, and what is none is refused with the reason."""

from __future__ import annotations

import numpy as np
import pytest
from sensor_msgs.msg import PointCloud2

from humanoid_balance.plants.ros.height_map import read, write
from humanoid_balance.plants.terrain import terrain
from humanoid_balance.plants.world import World
from humanoid_balance.robot import registry
from humanoid_balance.types import HeightMap


def small() -> HeightMap:
    heights = np.array([[0.0, 0.1, 0.2], [0.3, np.nan, 0.5]])
    return HeightMap((-1.0, 2.0), 0.05, heights)


def test_a_map_survives_the_way_over_a_topic() -> None:
    found = read(write(small()))
    assert isinstance(found, HeightMap)
    np.testing.assert_allclose(found.heights, small().heights, atol=1e-6)
    assert found.origin == pytest.approx((-1.0, 2.0)) and found.cell == pytest.approx(0.05, rel=1e-4)


def test_so_does_that_of_a_flight_of_stairs() -> None:
    stairs = terrain(World(ground="stairs", rise=0.1, tread=0.3), registry.load("g1")).seen()
    found = read(write(stairs))
    assert isinstance(found, HeightMap) and np.abs(found.heights - stairs.heights).max() < 1e-6


def changed(**changes: object) -> PointCloud2:
    message = write(small())
    for key, value in changes.items():
        setattr(message, key, value)
    return message


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (changed(height=1, width=6), "1 x 6 points"),
        (changed(fields=[]), "no field 'x'"),
        (changed(data=b""), "0 bytes are less"),
        (changed(height=3, width=2, row_step=24), "no grid"),
    ],
)
def test_a_cloud_that_is_no_map_is_refused(message: PointCloud2, why: str) -> None:
    found = read(message)
    assert isinstance(found, str) and why in found


def test_a_map_in_another_frame_is_refused() -> None:
    message = write(small())
    message.header.frame_id = "map"
    assert read(message) == "height_map: frame 'map'; allowed: odom"
