"""The estimator in the whole loop: pushes, landings and lift-offs while the balance controller acts on what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from estimation.standing import com_error, tilt_error

from humanoid_balance.experiments.push import run
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.world import PlantOptions, World
from humanoid_balance.recording.run import Run
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import RunSettings, simulated

TEN_MINUTES = 600_000  # ticks


def pushed(robot: Robot, impulse: float, direction: float, time: float, seed: int, strategy: str = "auto") -> Run:
    """A push of 0.1 s, ``impulse`` [N s] for a body of 71 kg, after half a second."""
    push = PushProfile(10.0 * impulse * robot.mass / 71.0, 0.1, direction, 0.5)
    return run(RunSettings(robot=robot.spec, time=time, strategy=strategy, seed=seed), [push])


@pytest.mark.parametrize("direction", [0.0, 110.0, 180.0])
def test_a_push_of_300_newton_is_known_within_ten_milliseconds(robot: Robot, direction: float) -> None:
    done = pushed(robot, 30.0, direction, 0.8, seed=11)
    figures = done.result["estimation"]
    assert 0.0 < figures["push_delay"] < 0.0105  # ten ticks
    known = done.record["push.force"][round(1000 * (0.5 + figures["push_delay"]))]
    true = done.record["true_push"][550]
    assert np.linalg.norm(known[:2] - true[:2]) < 0.35 * np.linalg.norm(true)  # the first guess, of a few samples
    assert figures["push_direction_error_deg"] < 15.0 and abs(figures["push_impulse_ratio"] - 1.0) < 0.2


def test_a_weak_push_is_told_too_only_later(human: Robot) -> None:
    done = pushed(human, 6.0, 45.0, 0.8, seed=12)  # 60 N
    figures = done.result["estimation"]
    assert figures["push_direction_error_deg"] < 15.0 and abs(figures["push_impulse_ratio"] - 1.0) < 0.2


@pytest.mark.parametrize("seed", [13, 14, 20])
def test_landings_and_lift_offs_of_a_step_are_seen_within_five_milliseconds(robot: Robot, seed: int) -> None:
    """With these seeds a foot carried nothing while the other landed, or touched the ground on its way."""
    result = pushed(robot, 35.0, 0.0, 2.5, seed=seed, strategy="step").result
    figures = result["estimation"]
    assert result["steps"] > 0, "the scene is meant to make it step"
    assert result["pushes_reported"] == 1, "a step is no push"
    assert abs(figures["landing_delay_max"]) <= 0.0051 and abs(figures["lift_off_delay_max"]) <= 0.0051
    assert figures["contact_chatter"] == 0


@pytest.mark.slow
def test_at_least_90_of_100_random_pushes_on_a_balancing_robot(robot: Robot) -> None:
    rng = np.random.default_rng(2024)
    right = false = 0
    for seed in range(100):
        result = pushed(robot, rng.uniform(20, 60), rng.uniform(0, 360), 2.5, seed=1000 + seed).result
        figures = result["estimation"]
        turn, ratio = figures["push_direction_error_deg"], figures["push_impulse_ratio"]
        right += turn is not None and turn < 15.0 and abs(ratio - 1.0) < 0.2
        false += result["pushes_reported"] > 1 and not result["fell"]
    print(f"{robot.name}: {right} of 100 pushes told right, {false} false")
    assert right >= 90
    assert false == 0, "a recovery step is no push"


@pytest.mark.slow
def test_ten_minutes_of_balancing(robot: Robot) -> None:
    plant = MujocoPlant(robot, PlantOptions(World(), 1.0, 77))
    loop = simulated(robot, plant, RunSettings(robot=robot.spec).balance)
    errors, tilts = [], []
    for k in range(TEN_MINUTES):
        truth = plant.truth() if k % 500 == 499 else None
        state = loop.tick().state
        assert math.isnan(state.push.onset), f"false push at {state.push.onset:.3f} s"
        if truth is not None:
            errors.append(float(np.linalg.norm(com_error(truth, state))))
            tilts.append(tilt_error(truth, state))
    print(f"{robot.name}: CoM within {1e3 * max(errors[1:]):.2f} mm, tilt within {max(tilts[1:]):.3f} degrees")
    assert max(errors[1:]) < 0.005 and max(tilts[1:]) < 0.3
