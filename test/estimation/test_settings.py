"""Counts of ticks are times: another control period has other counts."""

from humanoid_balance.estimation.settings import EstimatorSettings


def test_the_defaults_are_for_one_kilohertz() -> None:
    assert EstimatorSettings.at(0.001) == EstimatorSettings()


def test_a_slower_loop_waits_for_fewer_samples() -> None:
    usual, slow = EstimatorSettings(), EstimatorSettings.at(0.004)
    assert slow.guard.period == 0.004
    assert slow.guard.late > slow.guard.period
    assert slow.contact.ticks_on == 1
    assert slow.contact.ticks_idle * 0.004 == usual.contact.ticks_idle * 0.001
    assert slow.base.decimation >= 4
