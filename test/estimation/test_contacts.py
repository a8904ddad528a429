"""Contact from the normal force: hysteresis, debouncing, slip."""

import numpy as np
import pytest

from humanoid_balance.estimation.contacts import FootContact
from humanoid_balance.estimation.settings import ContactSettings

WEIGHT = 343.0  # the lightest robot: noise weighs most
DT = 0.001


def feed(foot: FootContact, forces: np.ndarray, rising: float = 0.0) -> list[bool]:
    flags = []
    for force in forces:
        foot.update(float(force), DT, rising)
        flags.append(foot.contact)
    return flags


@pytest.fixture
def foot() -> FootContact:
    return FootContact(WEIGHT, ContactSettings())


def changes(flags: list[bool]) -> int:
    return int(np.count_nonzero(np.diff(np.array(flags, dtype=int))))


def test_a_landing_is_seen_within_five_milliseconds(foot: FootContact) -> None:
    rng = np.random.default_rng(0)
    force = np.concatenate([np.zeros(100), np.linspace(0, WEIGHT, 100)]) + rng.standard_normal(200)  # 10 % in 10 ms
    flags = feed(foot, force)
    assert changes(flags) == 1
    crossed = 100 + 3.5  # the load passes 3.5 % of the weight
    assert 0 <= flags.index(True) - crossed <= 5


def test_a_lift_off_is_seen_within_five_milliseconds(foot: FootContact) -> None:
    rng = np.random.default_rng(1)
    foot.reset(True)
    force = np.concatenate([np.linspace(WEIGHT, 0, 100), np.zeros(100)]) + rng.standard_normal(200)
    flags = feed(foot, force, rising=0.05)
    assert changes(flags) == 1
    assert abs(flags.index(False) - 100) <= 5


@pytest.mark.parametrize(("idle", "told"), [(11, 0), (13, 2)])
def test_a_standing_foot_that_carries_nothing_for_a_while_has_not_lifted_off(
    foot: FootContact, idle: int, told: int
) -> None:
    """As when the other one lands hard; for how long it may do so is bounded."""
    foot.reset(True)
    force = np.concatenate([np.full(50, WEIGHT / 5), np.zeros(idle), np.full(50, WEIGHT / 5)])
    assert changes(feed(foot, force, rising=0.01)) == told


def test_noise_does_not_make_it_chatter(foot: FootContact) -> None:
    rng = np.random.default_rng(2)
    settings = ContactSettings()
    middle = (settings.load_on + settings.load_off) / 2 * WEIGHT
    for start in (False, True):
        foot.reset(start)
        assert changes(feed(foot, middle + rng.standard_normal(20000))) == 0
    foot.reset(False)
    assert changes(feed(foot, rng.standard_normal(20000))) == 0


def test_one_spike_is_not_a_landing_and_one_dropout_no_lift_off(foot: FootContact) -> None:
    spike = np.zeros(50)
    spike[20] = WEIGHT
    assert not any(feed(foot, spike))
    foot.reset(True)
    assert all(feed(foot, WEIGHT / 2 - WEIGHT / 2 * (spike > 0)))


def test_a_sole_that_bounces_on_landing_stays_in_contact(foot: FootContact) -> None:
    force = np.concatenate([np.zeros(20), np.full(5, WEIGHT), np.zeros(8), np.full(100, WEIGHT)])
    assert changes(feed(foot, force)) == 1


@pytest.mark.parametrize(("speed", "slows", "within"), [(0.3, 0.0, 5), (0.3, 15.0, 12), (0.05, 0.0, 12)])
def test_a_foot_that_touched_and_is_lifted_again_is_told_by_its_speed(
    foot: FootContact, speed: float, slows: float, within: int
) -> None:
    """Down for 10 ms, then up: at a steady speed it leaves; slowed by 15 m/s², or slow, it may be back."""
    feed(foot, np.concatenate([np.zeros(50), np.full(10, WEIGHT / 3)]))
    for k in range(1, 20):
        foot.update(0.0, DT, speed - slows * DT * k)
        if foot.changed:
            break
    assert not foot.contact and k == within


def test_probability_follows_the_load(foot: FootContact) -> None:
    settings = ContactSettings()
    loads = [0.0, settings.load_off, (settings.load_on + settings.load_off) / 2, settings.load_on, 0.5]
    values = []
    for load in loads:
        foot.update(load * WEIGHT, DT)
        values.append(foot.probability)
    assert values == sorted(values)
    assert values[0] < 0.05 and values[2] == pytest.approx(0.5) and values[4] == 1.0


def test_a_slipping_sole_loses_trust_and_gains_it_back(foot: FootContact) -> None:
    foot.reset(True)
    for _ in range(10):
        foot.watch_slip(0.3**2, 0.0, DT)
    assert not foot.trusted
    foot.update(WEIGHT / 2, DT)
    assert foot.contact and foot.probability == 0.5
    for _ in range(40):
        foot.watch_slip(0.001**2, 0.0, DT)
    assert foot.trusted


def test_encoder_noise_is_not_slip(foot: FootContact) -> None:
    rng = np.random.default_rng(3)
    foot.reset(True)
    for _ in range(5000):
        foot.watch_slip(float((0.008 * rng.standard_normal(3) ** 2).sum() * 0.008), 0.0, DT)
        assert foot.trusted
