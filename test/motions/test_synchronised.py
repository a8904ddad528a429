"""Fragments (A2) and synchronisation by contact (A5) on a walk of the package's own."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.motions import normative
from humanoid_balance.motions.fragments import Walk, landings
from humanoid_balance.motions.pose import Pose
from humanoid_balance.motions.retarget import retarget
from humanoid_balance.motions.robot_clip import RobotClip
from humanoid_balance.motions.synchronised import EARLIEST, Synchronised
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot

EXACT = 1e-12
FRAME = 1 / 30  # [s]


@pytest.fixture(scope="module")
def body() -> Robot:
    return registry.load("lee47")


@pytest.fixture(scope="module")
def clip(body: Robot) -> RobotClip:
    return retarget(normative.walk(), body)


@pytest.fixture(scope="module")
def walk(clip: RobotClip, body: Robot) -> Walk:
    return Walk(clip, body)


def begun(walk: Walk, synchronise: bool = True) -> Synchronised:
    first = walk.fragments[0].at(0.0)[0].pose
    heading = math.atan2(first.rotation[1, 0], first.rotation[0, 0])
    on_both = walk.fragments[0].duration if walk.fragments[0].both else 0.0
    reference = Synchronised(walk, -on_both - 1e-9, heading, first, synchronise)
    if on_both:
        pose, _ = reference.at(0.0)
        assert reference.update(0.0, False, pose.joints, pose.rotation) and reference.steps == 0
    return reference


def land(reference: Synchronised, stamp: float) -> Pose:
    """The swing foot touches; the pose that was the target."""
    pose, _ = reference.at(stamp)
    assert reference.update(stamp, True, pose.joints, pose.rotation)
    return pose


def test_a_walk_is_cut_at_alternating_landings_within_a_frame_of_the_contacts(clip: RobotClip, walk: Walk) -> None:
    sides = [fragment.stance for fragment in walk.fragments if not fragment.both]
    assert all(a != b for a, b in itertools.pairwise(sides))
    for (_, end), fragment in zip(walk.frames, walk.fragments, strict=True):
        if fragment.both:
            continue
        down = clip.contacts[f"{('right', 'left')[fragment.stance]}_foot"]
        assert any(down[k] and not down[k - 1] for k in range(end - 1, end + 2))


def test_a_foot_that_flickers_does_not_make_a_step() -> None:
    left, right = np.zeros(60, dtype=bool), np.zeros(60, dtype=bool)
    left[10:30] = right[28:50] = left[48:] = True
    left[12] = False
    assert landings([left, right], 30.0) == [(10, 0), (28, 1), (48, 0)]


def test_a_clip_that_does_not_walk_is_refused(clip: RobotClip, body: Robot) -> None:
    still = {name: np.ones(clip.frames, dtype=bool) for name in clip.contacts}
    standing = RobotClip("still", clip.robot, clip.joint_names, clip.rate, clip.q, still)
    with pytest.raises(InputError, match="0 landings of alternating feet; allowed: 4 or more"):
        Walk(standing, body)


def test_200_spliced_steps_are_continuous(walk: Walk, clip: RobotClip) -> None:
    """No joint jumps by 1 degree per frame more than it moves in the clip."""
    most = np.degrees(np.abs(np.diff(clip.q[:, 7:], axis=0)).max(axis=0))
    reference = begun(walk)
    last, stamp = reference.at(0.0)[0].joints, 0.0
    while reference.steps < 200:
        stamp += FRAME
        pose, _ = reference.at(stamp)
        assert (np.degrees(np.abs(pose.joints - last)) < most + 1.0).all()
        last = pose.joints
        if reference.phase(stamp) >= 1.0:
            reference.update(stamp, True, pose.joints, pose.rotation)


def test_a_landing_does_not_hold_the_target_up(walk: Walk) -> None:
    """What is modulated is a while old when the landing is seen: from then the next fragment runs."""
    reference = begun(walk)
    stamp = 0.85 * reference.fragment.duration
    before, earlier = reference.at(stamp)[0], reference.at(stamp - FRAME)[0]
    assert reference.update(stamp + FRAME, True, before.joints, before.rotation, stamp)
    np.testing.assert_allclose(reference.at(stamp)[0].joints, before.joints, atol=EXACT)
    after = reference.at(stamp + FRAME)[0]
    moved, before_that = np.abs(after.joints - before.joints).max(), np.abs(before.joints - earlier.joints).max()
    assert moved > 0.3 * before_that > 0.0


def test_a_warped_fragment_begins_at_the_target_and_ends_as_the_clip(walk: Walk) -> None:
    reference = begun(walk)
    stamp = 0.85 * reference.fragment.duration
    rng = np.random.default_rng(7)
    target = reference.at(stamp)[0]
    bent = target.joints + 0.05 * rng.normal(size=len(target.joints))
    assert reference.update(stamp, True, bent, target.rotation)
    pose, _ = reference.at(stamp)
    np.testing.assert_allclose(pose.joints, bent, atol=EXACT)
    np.testing.assert_allclose(pose.rotation, target.rotation, atol=EXACT)
    end, sample = reference.at(stamp + reference.fragment.duration)
    leg = walk.legs[reference.stance]
    others = np.setdiff1d(np.arange(len(bent)), leg.ankle.index)
    np.testing.assert_allclose(end.joints[others], sample.pose.joints[others], atol=EXACT)
    np.testing.assert_allclose(end.rotation, sample.pose.rotation, atol=EXACT)
    shank = end.rotation @ leg.hip.rotation(end.joints) @ leg.knee.rotation(end.joints)
    np.testing.assert_allclose(shank @ leg.ankle.rotation(end.joints), sample.feet[reference.stance], atol=1e-9)


def test_a_touch_before_70_percent_is_no_landing(walk: Walk) -> None:
    reference = begun(walk)
    pose, _ = reference.at(0.0)
    assert not reference.update((EARLIEST - 0.01) * reference.fragment.duration, True, pose.joints, pose.rotation)
    assert reference.update((EARLIEST + 0.01) * reference.fragment.duration, True, pose.joints, pose.rotation)


@pytest.mark.parametrize("frames", [-5, 5])
def test_landing_five_frames_early_or_late_makes_no_jump(walk: Walk, clip: RobotClip, frames: int) -> None:
    """Targets do not step by more than 2 degrees per frame beyond the clip; a late stance leg does not move."""
    most = np.degrees(np.abs(np.diff(clip.q[:, 7:], axis=0)).max(axis=0))
    reference = begun(walk)
    stamp = 0.0
    for _ in range(3):
        stamp += reference.fragment.duration
        land(reference, stamp)
    landing = stamp + max(reference.fragment.duration + frames * FRAME, (EARLIEST + 1e-6) * reference.fragment.duration)
    last = reference.at(stamp)[0].joints
    held: list[np.ndarray] = []
    landed = False
    for _ in range(40):
        stamp += FRAME
        pose, _ = reference.at(stamp)
        assert (np.degrees(np.abs(pose.joints - last)) < most + 2.0).all()
        if reference.late(stamp) and not landed:
            held.append(pose.joints[walk.legs[reference.stance].index])
        last = pose.joints
        if not landed and stamp >= landing:
            landed = reference.update(stamp, True, pose.joints, pose.rotation)
    assert landed
    if frames > 0:
        assert len(held) >= 4
        np.testing.assert_allclose(held, np.broadcast_to(held[0], np.shape(held)), atol=1e-9)


def test_without_synchronisation_the_clock_alone_decides(walk: Walk) -> None:
    reference = begun(walk, synchronise=False)
    pose, _ = reference.at(0.0)
    duration = reference.fragment.duration
    assert not reference.update(0.9 * duration, True, pose.joints, pose.rotation)
    assert reference.update(duration + 1e-6, False, pose.joints, pose.rotation)
