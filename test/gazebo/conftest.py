"""These tests run a real gzserver; ``make gazebo`` sets one up."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.plants.gazebo import home as gazebo_home
from humanoid_balance.plants.gazebo.plant import GazeboPlant
from humanoid_balance.robot import registry


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "gazebo" in item.path.parts:
            item.add_marker(pytest.mark.gazebo)


@pytest.fixture(scope="session", autouse=True)
def gazebo() -> None:
    try:
        gazebo_home.find()
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture
def g1() -> Iterator[GazeboPlant]:
    """The smallest robot, which starts fastest."""
    with closing(GazeboPlant(registry.load("g1"))) as plant:
        yield plant
