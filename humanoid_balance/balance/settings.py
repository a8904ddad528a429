"""How the robot may answer a push: the choices a user has, checked when they are made."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_balance.balance.steps import STEP_POLICIES
from humanoid_balance.errors import InputError

STRATEGIES = ("auto", "in-place", "step")
POLICIES = ("dcm", "kudoh")
GET_UP = ("never", "on command", "auto")  # what a robot on the ground may do
FALL = ("protect", "limp")  # give way and catch the fall, or all torques off (Torres T3)


@dataclass(frozen=True)
class BalanceSettings:
    """How the robot may answer a push."""

    strategy: str = "auto"
    policy: str = "dcm"
    delay: float = 0.0  # only the stable mode acts for this long after a push begins [s]
    step_policy: str = "capture"
    get_up: str = "on command"  # after a fall: nothing, skills when they are asked for, or getting up by itself
    fall: str = "protect"  # what is done with a fall that cannot be helped

    def __post_init__(self) -> None:
        choices = {
            "strategy": STRATEGIES, "policy": POLICIES, "step_policy": STEP_POLICIES, "get_up": GET_UP, "fall": FALL,
        }  # fmt: skip
        for key, allowed in choices.items():
            if getattr(self, key) not in allowed:
                raise InputError(f"{key.replace('_', '-')} is '{getattr(self, key)}'; allowed: {', '.join(allowed)}")
