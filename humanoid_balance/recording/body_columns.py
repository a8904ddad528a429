"""Both kinds of Reference in the same columns: records and logs have one row layout."""

from __future__ import annotations

import numpy as np

from humanoid_balance.types import BodyReference, JointReference, Reference, Stack

JOINTS = Stack("joints", ())


def as_body(reference: Reference) -> BodyReference:
    """A JointReference as posture, velocity and acceleration; what it does not ask for is NaN."""
    if not isinstance(reference, JointReference):
        return reference
    three, two = np.full(3, np.nan), np.full(2, np.nan)
    return BodyReference(
        stamp=reference.stamp, mode=reference.mode, stack=JOINTS, contact=np.zeros(2, bool), load_max=two,
        com_acceleration=three, com_weight=three, angular_momentum_rate=three, momentum_weight=three,
        torso_rotation=np.full((3, 3), np.nan), torso_velocity=three, feet=(None, None),
        posture=reference.position, posture_velocity=reference.velocity, posture_acceleration=reference.acceleration,
        zmp_margin=float("nan"), footholds=reference.footholds,
    )  # fmt: skip
