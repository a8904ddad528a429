"""What the controller knows, from sensors alone."""

from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.estimation.settings import EstimatorSettings

__all__ = ["Estimator", "EstimatorSettings"]
