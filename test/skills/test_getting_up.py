"""From the ground onto the feet, the whole loop with noise: scripts, hand-over to the QP, and the balance modes."""

from __future__ import annotations

import pytest

from humanoid_balance.experiments import skill
from humanoid_balance.stack import RunSettings

FASTEST = 1.0  # of a CoM that rises [m/s]; the feet leave the ground above
FRICTIONS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@pytest.mark.parametrize("robot", ["g1", "human"])
@pytest.mark.parametrize("seed", [pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 3, 4, 6)])
def test_a_robot_gets_up_from_its_front_and_stands(robot: str, seed: int) -> None:
    gets_up(robot, seed)


def test_g1_gets_up_on_rough_ground() -> None:
    gets_up("g1", 5)


def gets_up(robot: str, seed: int) -> None:
    """On slippery and on rough ground: the hands step, nothing has to slide."""
    friction = FRICTIONS[seed % len(FRICTIONS)]
    done = skill.run(RunSettings(robot=robot, seed=seed, friction=friction), "get up", "prone")
    assert done.result["success"] and done.result["time"] < 9.0, done.result
    assert done.record["true_com_velocity"][:, 2].max() < FASTEST


@pytest.mark.slow
@pytest.mark.parametrize("start", ["supine", "side", "fallen"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_g1_recovers_from_its_back_its_sides_and_from_falls(start: str, seed: int) -> None:
    friction = FRICTIONS[seed % len(FRICTIONS)]
    done = skill.run(RunSettings(robot="g1", seed=seed, friction=friction), "recover", start)
    longest = 8.0 if start == "supine" else 12.0  # a fall may end in a posture that takes two tries
    assert done.result["success"] and done.result["time"] < longest, done.result
