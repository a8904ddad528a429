"""The invariant filter against finite differences and known motions."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.estimation.base_filter import BaseFilter
from humanoid_balance.estimation.error_covariance import ACCEL, FOOT, GYRO, SIZE, SPEED, TILT
from humanoid_balance.estimation.settings import BaseSettings
from humanoid_balance.types import GRAVITY, Array

DT = 0.001
SOLES = ([0.1, 0.15, 0.0], [-0.05, -0.1, 0.02])


ORIGIN = np.array([0.0, 0.0, 0.9])


def make(rotation: Array | None = None, shift: Array | None = None) -> BaseFilter:
    """A filter that believes in ``rotation``; the true body is level, its IMU at ORIGIN, its soles at SOLES."""
    base = BaseFilter(BaseSettings(), DT)
    base.start(np.eye(3) if rotation is None else rotation, (ORIGIN if shift is None else ORIGIN + shift).tolist())
    for side in (0, 1):
        base.set_trust(side, True, sole_seen(base, side))
    return base


def sole_seen(base: BaseFilter, side: int) -> list[float]:
    """Where the kinematics of the true body put a sole, given where the filter believes the IMU is."""
    return (base.position + base.rotation @ (np.array(SOLES[side]) - ORIGIN)).tolist()


def perturb(base: BaseFilter, error: Array) -> None:
    """Put a right-invariant error into the mean: R = exp(θ) R, v = exp(θ) v + ξ, r = exp(θ) r + ξ, b = b + ζ."""
    turn = pin.exp3(error[TILT])
    base.rotation = turn @ base.rotation
    base.velocity = (turn @ base.velocity + error[SPEED]).tolist()
    for side in (0, 1):
        arm = np.array(base.anchor[side]) - base.position
        base.anchor[side] = (base.position + turn @ arm + error[FOOT[side]]).tolist()
    base.gyro_bias = (np.array(base.gyro_bias) + error[GYRO]).tolist()
    base.acceleration_bias = (np.array(base.acceleration_bias) + error[ACCEL]).tolist()


def error_between(base: BaseFilter, true: BaseFilter) -> Array:
    error = np.zeros(SIZE)
    turn = base.rotation @ true.rotation.T
    error[TILT] = pin.log3(turn)
    error[SPEED] = base.velocity - turn @ true.velocity
    for side in (0, 1):
        arm, true_arm = (np.array(f.anchor[side]) - f.position for f in (base, true))
        error[FOOT[side]] = arm - turn @ true_arm
    error[GYRO] = np.array(base.gyro_bias) - true.gyro_bias
    error[ACCEL] = np.array(base.acceleration_bias) - true.acceleration_bias
    return error


def test_the_transition_of_the_error_agrees_with_finite_differences() -> None:
    rotation = pin.exp3(np.array([0.3, -0.2, 1.0]))
    small = 1e-5
    numeric = np.zeros((SIZE, SIZE))
    for k in range(SIZE):
        true, base = make(rotation), make(rotation)
        for f in (true, base):
            f.velocity = [0.4, -0.3, 0.1]
        unit = np.zeros(SIZE)
        unit[k] = small
        perturb(base, unit)
        for _ in range(8):
            for f in (true, base):
                f.predict([0.2, -0.1, 0.3], [0.5, -1.0, 9.5], DT)
        numeric[:, k] = error_between(base, true) / small
    base._propagate(0.0)
    # Φ is of first order in time; what it leaves out is of the order of t² = 6e-5.
    np.testing.assert_allclose(base.covariance.transition, numeric, atol=5e-4)


def test_a_correction_takes_the_error_out() -> None:
    base, true = make(), make()
    perturb(base, 1e-3 * np.random.default_rng(1).standard_normal(SIZE))
    base._apply(error_between(base, true))
    left = error_between(base, true)
    np.testing.assert_allclose(left, 0.0, atol=5e-6)  # second order in 1e-3


def stand(base: BaseFilter, seconds: float, gyro: Array, acceleration: Array, rng: np.random.Generator) -> None:
    """IMU samples of a body at rest, level, soles at SOLES."""
    for _ in range(round(seconds / DT)):
        w = gyro + 2e-3 * rng.standard_normal(3)
        a = np.array([0.0, 0.0, GRAVITY]) + acceleration + 0.05 * rng.standard_normal(3)
        base.predict(w.tolist(), a.tolist(), DT)
        for side in (0, 1):
            base.collect(side, (sole_seen(base, side) + 1e-4 * rng.standard_normal(3)).tolist())
            rate = base.rotation @ base.rate + 1e-2 * rng.standard_normal(3)
            base.collect_rate(side, np.eye(3).tolist(), [0.0, 0.0, 0.0, *rate.tolist()])
        if base.due:
            base.correct()
        else:
            base.prepare()


def test_standing_finds_the_gyro_bias_and_levels_a_tilted_start() -> None:
    base = make(pin.exp3(np.array([0.01, -0.008, 0.0])))
    stand(base, 5.0, np.array([2e-3, -1e-3, 3e-3]), np.zeros(3), np.random.default_rng(2))
    np.testing.assert_allclose(base.gyro_bias, [2e-3, -1e-3, 3e-3], atol=4e-4)
    # A tilt looks like a bias of the accelerometer: by their prior spreads a fifth of it is taken for one.
    assert np.degrees(np.linalg.norm(pin.log3(base.rotation)[:2])) < 0.3 * np.degrees(0.013)
    assert np.linalg.norm(base.velocity) < 2e-3


def test_its_covariance_tells_the_truth_about_the_error() -> None:
    errors = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        s = BaseSettings()
        base = make(pin.exp3(s.tilt_start * np.array([*rng.standard_normal(2), 0.0])))
        stand(base, 1.0, 2e-3 * rng.standard_normal(3), 0.02 * rng.standard_normal(3), rng)
        spread = np.sqrt(np.diag(base.covariance.matrix)[:6])
        errors.append(np.concatenate([pin.log3(base.rotation), base.velocity]) / spread)
    table = np.array(errors)[:, [0, 1, 3, 4, 5]]  # heading is known by definition
    assert np.abs(table).max() < 4.0


def test_the_force_plates_remove_the_accelerometer_bias() -> None:
    bias = np.array([0.04, -0.03, 0.0])
    base = make()
    rng = np.random.default_rng(3)
    for _ in range(40):
        stand(base, 0.25, np.zeros(3), bias, rng)
        base.observe_acceleration((base.rotation @ (bias - base.acceleration_bias))[:2].tolist())
    np.testing.assert_allclose(base.acceleration_bias[:2], bias[:2], atol=0.01)
    assert np.degrees(np.linalg.norm(pin.log3(base.rotation)[:2])) < 0.05


def drift(shift: Array) -> Array:
    """Way and velocity after half a second of standing, started with a tilt, at a distance from the origin."""
    base = make(pin.exp3(np.array([0.01, 0.01, 0.0])), shift)
    stand(base, 0.5, np.zeros(3), np.zeros(3), np.random.default_rng(4))
    return np.concatenate([base.position - ORIGIN - shift, base.velocity])


def test_it_does_not_know_how_far_from_the_origin_it_is() -> None:
    far = drift(np.array([1000.0, -2000.0, 50.0]))
    np.testing.assert_allclose(far, drift(np.zeros(3)), atol=1e-9)  # rounding of numbers of size 2000


def test_in_flight_it_integrates_the_imu_alone() -> None:
    base = make()
    for side in (0, 1):
        base.set_trust(side, False, SOLES[side])
    base.velocity = [0.5, 0.0, 1.0]
    for _ in range(200):
        base.predict([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], DT)
        if base.due:
            base.correct()
        else:
            base.prepare()
    np.testing.assert_allclose(base.velocity, [0.5, 0.0, 1.0 - 0.2 * GRAVITY], atol=1e-9)
    np.testing.assert_allclose(base.position, [0.1, 0.0, 0.9 + 0.2 - 0.5 * GRAVITY * 0.04], atol=1e-6)


def test_the_rotation_stays_a_rotation() -> None:
    base = make()
    for _ in range(20000):
        base.predict([3.0, -2.0, 1.0], [0.0, 0.0, GRAVITY], DT)
        if base.due:
            base.correct()
        else:
            base.prepare()
    np.testing.assert_allclose(base.rotation @ base.rotation.T, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("size", [0.0, 1e-4, 0.03, 0.0317, 1.0, 6.0])
def test_a_turn_is_the_exponential(size: float) -> None:
    start, turn = pin.exp3(np.array([0.3, -0.2, 1.0])), size * np.array([0.6, -0.48, 0.64])
    base = make(start)
    base.predict((turn / DT).tolist(), [0.0, 0.0, GRAVITY], DT)
    np.testing.assert_allclose(base.rotation, start @ pin.exp3(turn), atol=1e-13)
