"""The covariance of the base filter's error."""

import numpy as np
import pinocchio as pin

from humanoid_balance.estimation.error_covariance import FOOT, GYRO, SIZE, SPEED, ErrorCovariance
from humanoid_balance.estimation.settings import BaseSettings

ARMS = ([0.1, 0.1, -0.9], [0.0, -0.1, -0.9])


def propagate(covariance: ErrorCovariance, times: int = 1, jumps: float = 0.0) -> None:
    for _ in range(times):
        covariance.propagate(0.008, pin.exp3(np.array([0.1, 0.2, 0.3])), [0.1, 0.0, 0.0], ARMS, [5e-5, 5e-5], jumps)


def test_it_grows_with_the_imu_and_shrinks_with_the_feet() -> None:
    covariance = ErrorCovariance(BaseSettings(), 0.001)
    covariance.place_sole(0)
    before = np.diag(covariance.matrix).copy()
    propagate(covariance, 5)
    grown = np.diag(covariance.matrix).copy()
    assert (grown >= before).all()
    rows = np.arange(FOOT[0].start, FOOT[0].stop)
    columns = covariance.matrix[:, rows]
    error = covariance.update(columns, columns[rows], [1e-3, 0.0, 0.0], [1e-8] * 3)
    assert (np.diag(covariance.matrix) <= grown + 1e-15).all()
    assert error[FOOT[0]][0] > 0.9e-3


def test_it_stays_symmetric_and_positive_for_minutes() -> None:
    covariance = ErrorCovariance(BaseSettings(), 0.001)
    for side in (0, 1):
        covariance.place_sole(side)
    rows = slice(6, 15)
    for _ in range(5000):
        propagate(covariance)
        columns = covariance.matrix[:, rows]
        covariance.update(columns, columns[rows], [0.0] * 9, [1e-8] * 6 + [1e-5] * 3)
    matrix = covariance.matrix
    np.testing.assert_array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > -1e-15
    assert np.sqrt(matrix[SPEED, SPEED].trace()) < 2e-3 and np.sqrt(matrix[GYRO, GYRO].trace()) < 1e-3


def test_an_impact_makes_the_velocity_uncertain() -> None:
    calm, hit = ErrorCovariance(BaseSettings(), 0.001), ErrorCovariance(BaseSettings(), 0.001)
    propagate(calm)
    propagate(hit, jumps=(50.0 * 0.001) ** 2)  # the specific force jumps by 50 m/s²
    gained = hit.speed_variance - calm.speed_variance
    assert np.isclose(np.sqrt(gained / 3), 0.2 * 0.05)


def test_a_sole_that_stands_anew_forgets_the_past() -> None:
    covariance = ErrorCovariance(BaseSettings(), 0.001)
    propagate(covariance, 20)
    covariance.place_sole(1)
    others = np.r_[0:9, 12:SIZE]
    assert not covariance.matrix[FOOT[1]][:, others].any()
