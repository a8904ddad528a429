"""From the ground onto the feet, the whole loop with noise: scripts, hand-over to the QP, and the balance modes."""

from __future__ import annotations

import pytest

from humanoid_balance.experiments import skill
from humanoid_balance.stack import RunSettings

FASTEST = 1.0  # of a CoM that rises [m/s]; the feet leave the ground above


@pytest.mark.parametrize(
    "seed", [2, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12))]
)
def test_g1_gets_up_from_its_front_and_stands(seed: int) -> None:
    done = skill.run(RunSettings(robot="g1", seed=seed), "get up", "prone")
    assert done.result["success"] and done.result["time"] < 6.5, done.result
    assert done.record["true_com_velocity"][:, 2].max() < FASTEST


@pytest.mark.slow
@pytest.mark.parametrize("start", ["supine", "side"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_g1_recovers_from_its_back_and_its_sides(start: str, seed: int) -> None:
    done = skill.run(RunSettings(robot="g1", seed=seed), "recover", start)
    assert done.result["success"] and done.result["time"] < 9.0, done.result


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "friction"), [(1, 0.8), (2, 0.5), (3, 1.0)])
def test_a_human_gets_up_from_its_front_and_stands(seed: int, friction: float) -> None:
    done = skill.run(RunSettings(robot="human", seed=seed, friction=friction), "get up", "prone")
    assert done.result["success"] and done.result["time"] < 8.0, done.result
    assert done.record["true_com_velocity"][:, 2].max() < FASTEST
    assert not done.reported, "knees and hands on the ground are not a push"
