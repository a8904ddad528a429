"""Bring-up: each stage on request only, refusals with the reason, gently into the stance, no steps in the air."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from body_plant import Rig

from humanoid_balance.plants.board.body import Body
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.bringup import LOST, Stage
from humanoid_balance.safety.lifted import LiftWatch
from humanoid_balance.safety.stand import StandSettings
from humanoid_balance.safety.trip import Trip
from humanoid_balance.types import Array, SensorFrame

QUICK = StandSettings(time=0.6, speed=1.0)


@pytest.fixture(scope="module")
def robot() -> Robot:
    return registry.load("g1")


def bent(robot: Robot, by: float = 0.3) -> Array:
    """Another posture than the nominal one."""
    turn = np.random.default_rng(0).uniform(-by, by, robot.n)
    return np.clip(robot.posture + turn, robot.lower, robot.upper)


def standing(robot: Robot) -> Rig:
    rig = Rig(robot, Body(robot, PlantOptions(noise=1.0)), QUICK)
    rig.run(0.02)
    return rig


def hanging(robot: Robot) -> Rig:
    rig = Rig(robot, Body(robot, PlantOptions(noise=1.0), bent(robot), hoist=0.15), QUICK)
    rig.run(0.02)
    return rig


def lead(rig: Rig, stage: Stage) -> None:
    """To a stage the way an operator does it."""
    up = rig.bringup
    assert up.arm() is None
    rig.run(0.01)
    if stage in (Stage.STAND, Stage.ACTIVE):
        assert up.stand() is None
        rig.run(0.01)
    if stage is Stage.ACTIVE:
        rig.run(QUICK.time + 0.2)
        assert up.activate() is None
        rig.run(0.01)
    assert up.stage is stage


def test_from_disarmed_to_active_on_the_ground(robot: Robot) -> None:
    rig = standing(robot)
    lead(rig, Stage.ACTIVE)
    assert rig.bringup.balancing
    rig.run(0.3)
    assert rig.bringup.stage is Stage.ACTIVE
    assert not rig.body.plant.fell() and np.linalg.norm(rig.body.truth().com_velocity) < 0.05


def test_disarmed_gives_nothing_and_armed_only_brakes(robot: Robot) -> None:
    rig = standing(robot)
    assert rig.sent is not None and rig.sent.damped and not rig.sent.damping.any()
    lead(rig, Stage.ARMED)
    assert rig.sent.damped and (rig.sent.damping == robot.brake).all() and not rig.sent.torque.any()


def test_no_stage_can_be_skipped(robot: Robot) -> None:
    rig = standing(robot)
    up = rig.bringup
    assert up.stand() == "the robot is disarmed; allowed: from armed only"
    assert up.activate() == "the robot is disarmed; allowed: from stand only"
    lead(rig, Stage.ARMED)
    assert up.arm() == "the robot is armed; allowed: from disarmed only"
    assert up.activate() == "the robot is armed; allowed: from stand only"
    lead_on = up.stand()
    assert lead_on is None
    rig.run(0.1)
    refused = up.activate()
    assert refused is not None and "ramp" in refused
    assert up.stage is Stage.STAND


def test_the_ramp_is_slow_and_its_strength_rises(robot: Robot) -> None:
    rig = hanging(robot)
    rig.bringup.set_hoist(True)
    lead(rig, Stage.STAND)
    first = rig.bringup.box.bounds.share.max()
    fastest = 0.0
    for _ in range(700):
        rig.tick()
        assert rig.frame is not None
        fastest = max(fastest, float(np.abs(rig.frame.velocity).max()))
    assert first < 0.5 and rig.bringup.box.bounds.share.min() == 1.0
    way = np.abs(bent(robot) - robot.posture).max()
    assert fastest < 4.0 * way / QUICK.time
    np.testing.assert_allclose(rig.frame.position, robot.posture, atol=0.05)


def test_on_the_hoist_active_holds_the_posture_and_does_not_balance(robot: Robot) -> None:
    rig = hanging(robot)
    rig.bringup.set_hoist(True)
    lead(rig, Stage.ACTIVE)
    assert not rig.bringup.balancing
    rig.run(0.3)
    assert rig.frame is not None
    np.testing.assert_allclose(rig.frame.position, robot.posture, atol=0.05)


def test_a_hanging_robot_does_not_become_active_without_hoist_mode(robot: Robot) -> None:
    rig = hanging(robot)
    lead(rig, Stage.STAND)
    rig.run(QUICK.time + 0.2)
    refused = rig.bringup.activate()
    assert refused is not None and "the soles carry" in refused
    assert rig.bringup.stage is Stage.STAND


def test_hoist_mode_on_the_ground_is_refused(robot: Robot) -> None:
    rig = standing(robot)
    rig.bringup.set_hoist(True)
    assert rig.bringup.arm() is None
    rig.run(0.01)
    refused = rig.bringup.stand()
    assert refused is not None and "hoist mode, but the soles carry" in refused


def lift(rig: Rig, speed: float, height: float = 0.1) -> None:
    """By ropes that are tight from now on; ``speed`` [m/s]."""
    rig.body.hoist, rig.body._base = height, rig.body.plant.data.qpos[:7].copy()
    for _ in range(round(height / speed / 0.001)):
        rig.body._base[2] += 0.001 * speed
        rig.tick()


def test_a_robot_that_a_hoist_lifts_holds_its_posture(robot: Robot) -> None:
    rig = standing(robot)
    lead(rig, Stage.ACTIVE)
    lift(rig, 0.1)
    rig.run(1.0)
    assert rig.bringup.stage is Stage.STAND, rig.bringup.trip
    assert rig.sent is not None and rig.sent.stiffness.all() and not rig.sent.damped


def test_a_robot_that_is_torn_from_the_ground_brakes(robot: Robot) -> None:
    """By the time the lift is known, arms that have lost the ground to push against are too far off to be held."""
    rig = standing(robot)
    lead(rig, Stage.ACTIVE)
    lift(rig, 1.0, 0.4)
    assert rig.bringup.stage is Stage.TRIPPED
    assert rig.bringup.trip is not None and rig.bringup.trip.what == "joint does not follow into the stance"
    assert rig.sent is not None and rig.sent.damped and (rig.sent.damping == robot.brake).all()


def test_foot_sensors_that_read_nothing_are_not_taken_for_lifting(robot: Robot) -> None:
    rig = standing(robot)
    lead(rig, Stage.ACTIVE)
    assert rig.bringup.doubt is None
    sense = rig.body.sense
    rig.body.sense = lambda: replace(sense(), wrench=np.zeros((2, 6)))  # type: ignore[method-assign]
    rig.run(1.0)
    assert rig.bringup.balancing and not rig.body.plant.fell()
    assert rig.bringup.doubt is not None and "foot sensors have failed" in rig.bringup.doubt


def feels(robot: Robot, q: Array, torque: Array, gravity: float = 9.81) -> LiftWatch:
    """A robot that is still, with empty soles, for 0.2 s."""
    watch, still = LiftWatch(robot), np.zeros(robot.n)
    for k in range(200):
        acceleration = np.array([0.0, 0.0, gravity])
        frame = SensorFrame(0.001 * k, q[7:], still, torque, np.zeros(3), acceleration, np.zeros((2, 6)))
        if watch.update(frame, q, 0.0):
            break
    return watch


def test_only_a_stretched_upright_robot_that_feels_its_weight_is_lifted(robot: Robot) -> None:
    stance, none = robot.q_nominal, np.zeros(robot.n)
    assert feels(robot, stance, none).lifted
    assert not feels(robot, stance, none, gravity=1.0).lifted  # it falls
    assert not feels(robot, stance, robot.standing_torque(stance)).lifted  # it stands, the soles are dead
    sitting = stance.copy()
    for name, angle in (("*hip_pitch*", -1.5), ("*knee*", 1.5)):
        sitting[7 + robot.joints_matching((name,))] = angle
    assert not feels(robot, sitting, none).lifted
    lying = stance.copy()
    lying[3:7] = [0.0, np.sin(np.pi / 4), 0.0, np.cos(np.pi / 4)]
    assert not feels(robot, lying, none).lifted


def test_a_joint_out_of_its_range_does_not_arm(robot: Robot) -> None:
    posture = robot.posture.copy()
    posture[3] = robot.upper[3] + 0.1
    rig = Rig(robot, Body(robot, posture=posture, hoist=0.1), QUICK)
    rig.tick()
    refused = rig.bringup.arm()
    assert refused is not None and robot.joint_names[3] in refused and "allowed" in refused


def test_an_imu_without_gravity_does_not_arm(robot: Robot) -> None:
    rig = standing(robot)
    assert rig.frame is not None
    state = rig.estimator.update(rig.frame)
    for k in range(400):
        bad = replace(rig.frame, stamp=1.0 + 0.001 * k, acceleration=np.array([0.0, 0.0, 9.0]))
        rig.bringup.update(bad, state, rig.sent)
    refused = rig.bringup.arm()
    assert refused is not None and "the IMU feels 9.0" in refused


def test_a_motor_with_the_wrong_sign_is_found_on_the_hoist(robot: Robot) -> None:
    rig = hanging(robot)
    rig.bringup.set_hoist(True)
    knee = int(np.argmax(robot.torque_limit))
    rig.flip[knee] = -1.0
    assert rig.bringup.arm() is None
    rig.run(0.01)
    assert rig.bringup.stand() is None
    rig.run(QUICK.time)
    assert rig.bringup.stage is Stage.TRIPPED
    assert rig.bringup.trip is not None and rig.bringup.trip.where == robot.joint_names[knee]
    assert rig.frame is not None


def test_an_emergency_stop_needs_reset_and_all_stages_again(robot: Robot) -> None:
    rig = standing(robot)
    lead(rig, Stage.STAND)
    up = rig.bringup
    up.stop("button")
    rig.run(0.01)
    assert rig.sent is not None and rig.sent.damped
    for request in (up.arm, up.stand, up.activate, up.disarm):
        refused = request()
        assert refused is not None and "button" in refused
    assert up.reset() is None and up.stage is Stage.DISARMED
    rig.run(0.01)
    assert not rig.sent.damping.any()
    assert up.stand() is not None


def test_trouble_of_the_machinery_keeps_it_from_arming_and_trips_it(robot: Robot) -> None:
    class Motors:
        trip: Trip | None = Trip("over_temperature", "a joint", 95.0, 90.0)
        share = np.full(robot.n, 0.4)

        def trouble(self, armed: bool) -> Trip | None:
            return self.trip

        def torque_share(self) -> Array:
            return self.share

        def stop(self, reason: str) -> None: ...

        def reset(self) -> str | None:
            return "still hot" if self.trip else None

    rig, motors = standing(robot), Motors()
    rig.bringup.machinery = motors
    assert rig.bringup.arm() == "over_temperature at a joint: 95, limit 90"
    motors.trip = None
    lead(rig, Stage.STAND)
    assert rig.bringup.box.bounds.share.max() <= 0.4
    motors.trip = Trip("silent", "a joint", 1.0, 0.0)
    rig.tick()
    assert rig.bringup.stage is Stage.TRIPPED
    assert rig.bringup.reset() == "still hot"
    motors.trip = None
    assert rig.bringup.reset() is None


def test_a_joint_that_cannot_follow_trips(robot: Robot) -> None:
    rig = standing(robot)
    lead(rig, Stage.STAND)
    rig.run(0.05)
    assert rig.frame is not None and rig.sent is not None
    position = rig.frame.position.copy()
    position[0] += LOST + 0.1
    state = rig.estimator.update(rig.frame)
    rig.bringup.update(replace(rig.frame, position=position), state, rig.sent)
    assert rig.bringup.trip is not None and "does not follow" in rig.bringup.trip.what


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["human", "talos", "g1"])
def test_every_robot_stands_up_from_the_hoist_with_the_usual_settings(spec: str) -> None:
    robot = registry.load(spec)
    rig = Rig(robot, Body(robot, PlantOptions(noise=1.0), bent(robot), hoist=0.15))
    rig.run(0.02)
    rig.bringup.set_hoist(True)
    assert rig.bringup.arm() is None
    rig.run(0.02)
    assert rig.bringup.stand() is None
    rig.run(4.5)
    assert rig.bringup.activate() is None, rig.bringup.trip
    rig.run(1.0)
    assert rig.frame is not None
    np.testing.assert_allclose(rig.frame.position, robot.posture, atol=0.05)
