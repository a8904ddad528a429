"""The torque-speed curve of a motor: simulator, QP and safety box all stay within it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from humanoid_balance import stack
from humanoid_balance.actuation.ideal import Ideal
from humanoid_balance.actuation.motor import Motor
from humanoid_balance.errors import ConfigError, InputError
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.bounds import TorqueBounds
from humanoid_balance.types import TorqueCommand

MOTOR = Motor(*(np.array([value]) for value in (100.0, 120.0, 5.0, 15.0)))  # torque, braking, corner, no-load speed
NO_LOAD = 10.0  # of a human whose joints are slow [rad/s]; a stepping leg's knee turns with about as much


@pytest.mark.parametrize(
    ("speed", "low", "high"),
    [
        (0.0, -100, 100),
        (4.0, -120, 100),
        (10.0, -120, 50),
        (15.0, -120, 0),
        (20.0, -120, 0),
        (-4.0, -100, 120),
        (-10.0, -50, 120),
        (-20.0, 0, 120),
    ],
)
def test_a_motor_drives_with_less_the_faster_it_turns_and_brakes_with_all_it_has(
    speed: float, low: float, high: float
) -> None:
    bounds = MOTOR.bounds(np.zeros(1), np.array([speed]))
    np.testing.assert_allclose(np.concatenate(bounds), [low, high], atol=1e-12)


def test_what_arrives_at_the_joint_is_what_the_curve_allows() -> None:
    drive, v = MOTOR.drive(0.5), np.array([10.0])
    assert drive.torque(np.array([200.0]), np.zeros(1), v, 0.001) == pytest.approx(25.0)
    assert drive.torque(np.array([-200.0]), np.zeros(1), v, 0.001) == pytest.approx(-60.0)
    assert drive.torque(np.array([12.0]), np.zeros(1), v, 0.001) == pytest.approx(12.0)
    ideal = Ideal(np.array([100.0])).drive(0.5)
    assert ideal.torque(np.array([200.0]), np.zeros(1), v, 0.001) == pytest.approx(50.0)


def test_the_safety_box_sends_no_more_than_the_motor_has_at_its_speed() -> None:
    bounds, zero = TorqueBounds(np.array([120.0]), 1.0), np.zeros(1)
    bounds.share = np.array([0.5])
    wanted = TorqueCommand(0.0, np.array([90.0]), zero, zero, zero, zero)
    for speed, sent in ((0.0, 50.0), (10.0, 25.0), (-10.0, 60.0)):
        bounds.narrow(*MOTOR.bounds(zero, np.array([speed])))
        for _ in range(3):
            made = bounds.apply(wanted, zero, np.array([speed]))
        assert made.torque == pytest.approx(sent)
    assert bounds.apply(replace(wanted, torque=np.array([30.0])), zero, zero).torque == pytest.approx(30.0)


def slow_human(folder: Path) -> Robot:
    """The human with motors that lose their torque with speed."""
    text = (registry.config_folder() / "robots" / "human.yaml").read_text()
    motor = f"motor: {{no_load: {NO_LOAD}, friction: 0.5, damping: 0.1}}, acceleration"
    file = folder / "slow.yaml"
    file.write_text("actuation: motor\n" + text.replace('"*": {acceleration', f'"*": {{{motor}'))
    return registry.load(str(file))


def excess(model: Robot, body: Robot, force: float) -> tuple[float, bool]:
    """Pushed forward for 0.2 s: largest torque asked for beyond the curve of ``body`` [N m], and whether it fell."""
    plant = MujocoPlant(body, PlantOptions(noise=1.0), [PushProfile(force, 0.2, 0)])
    loop, worst = stack.simulated(model, plant), -np.inf
    for _ in range(3500):
        tick = loop.tick()
        low, high = body.actuation.bounds(tick.state.q[7:], tick.state.v[6:])
        asked = tick.wanted.torque
        worst = max(worst, float((low - asked).max()), float((asked - high).max()))
        if plant.fell():
            return worst, True
    return worst, False


def test_the_qp_respects_the_curve_in_the_closed_loop_and_would_not_without_it(tmp_path: Path) -> None:
    body = slow_human(tmp_path)
    worst, fell = excess(body, body, 300.0)
    assert not fell
    assert worst <= 1e-4  # rounding of the solver, of 200 N m
    unaware, _ = excess(registry.load("human"), body, 300.0)
    assert unaware > 10.0


def test_g1_stands_a_push_with_the_motors_it_has() -> None:
    robot = registry.load("g1:actuation=motor")
    worst, fell = excess(robot, robot, 60.0)
    assert not fell and worst <= 1e-4


def test_rotor_friction_is_friction_of_the_joint(tmp_path: Path) -> None:
    plain, slow = registry.load("human"), slow_human(tmp_path)
    np.testing.assert_allclose(slow.friction - plain.friction, 0.5)
    np.testing.assert_allclose(slow.damping - plain.damping, 0.1)


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'actuation' is rubber; allowed: ideal, motor"):
        registry.load("human:actuation=rubber")
    with pytest.raises(ConfigError, match=r"joints\.\w+\.motor"):
        registry.load("human:actuation=motor")
    text = (registry.config_folder() / "robots" / "human.yaml").read_text()
    file = tmp_path / "bad.yaml"
    file.write_text(text.replace('"*": {acceleration', '"*": {motor: {no_load: 5, corner: 6}, acceleration'))
    with pytest.raises(ConfigError, match=r"no_load' is 5.*above the corner"):
        registry.load(str(file))
