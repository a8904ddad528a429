"""Planned faults: how they are written, and when they are there."""

from __future__ import annotations

import math

import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.plants.board.faults import FaultPlan, PlannedFault

JOINTS = ("knee", "hip")
SECOND = 1_000_000  # [µs]


@pytest.mark.parametrize(
    "text, fault",
    [
        ("reboot@2", PlannedFault("reboot", None, 2.0, math.inf)),
        ("stall@1.5+0.05", PlannedFault("stall", None, 1.5, 0.05)),
        ("over-temperature:knee@3", PlannedFault("over-temperature", "knee", 3.0, math.inf)),
        ("brown-out", PlannedFault("brown-out", None, -math.inf, math.inf)),
    ],
)
def test_faults_are_read(text: str, fault: PlannedFault) -> None:
    assert PlannedFault.parse(text, JOINTS) == fault


@pytest.mark.parametrize(
    "text, culprit",
    [
        ("fire@2", "unknown kind 'fire'"),
        ("stuck-encoder:elbow@2", "joint 'elbow'; allowed: knee, hip"),
        ("stall:knee@2", "none for this kind"),
        ("stall@x", "not of the form"),
        ("stall@1.2.3", "not a number"),
        ("", "not of the form"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, culprit: str) -> None:
    with pytest.raises(InputError, match=culprit):
        PlannedFault.parse(text, JOINTS)


def test_faults_count_from_the_moment_the_robot_is_let_go() -> None:
    plan = FaultPlan([PlannedFault.parse("silent:knee@1+2", JOINTS), PlannedFault.parse("brown-out", JOINTS)])
    assert [fault.kind for fault in plan.present(100 * SECOND)] == ["brown-out"]
    plan.let_go(100 * SECOND)
    kinds = [[fault.kind for fault in plan.present((100 + t) * SECOND)] for t in (0, 1, 2, 3)]
    assert kinds == [["brown-out"], ["silent", "brown-out"], ["silent", "brown-out"], ["brown-out"]]


def test_events_happen_once() -> None:
    plan = FaultPlan([PlannedFault.parse("reboot@1", JOINTS)])
    plan.let_go(0)
    assert [len(plan.present(t * SECOND)) for t in (0, 1, 2)] == [0, 1, 0]
