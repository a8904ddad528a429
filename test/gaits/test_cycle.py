"""Cyclic curves: found in a noisy recording, played over the phase, and walked with."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from humanoid_balance.errors import ConfigError, InputError
from humanoid_balance.experiments.cycles import forward, text
from humanoid_balance.experiments.gait import BEGIN, Chain, run
from humanoid_balance.gaits.cycle import MOST, Cycle, FourierCurve
from humanoid_balance.gaits.fourier import fit, period_of, series
from humanoid_balance.gaits.limb_views import posed
from humanoid_balance.gaits.table import GaitGains, GaitState, load
from humanoid_balance.stack import RunSettings

PERIOD, DT = 1.1, 1 / 120
HIP = FourierCurve(0.05, ((0.1, 0.40), (0.05, -0.08), (0.02, 0.01)))
KNEE = FourierCurve(-0.5, ((0.15, -0.45), (-0.2, -0.15), (0.05, 0.04), (0.02, -0.02)))
ANKLE = FourierCurve(0.1, ((0.10, -0.05), (0.08, 0.10), (-0.04, 0.02)))


def recording(seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Five cycles with periods that differ by 1 % and noise of 2 deg, sampled at 120 Hz; and the true phases."""
    rng = np.random.default_rng(seed)
    lengths = PERIOD * (1.0 + 0.01 * rng.standard_normal(5))
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    phase = np.interp(np.arange(0.0, ends[-1], DT), ends, np.arange(6.0))
    noise = math.radians(2.0) * rng.standard_normal((3, len(phase)))
    clean = [np.array([curve.at(p)[0] for p in phase]) for curve in (HIP, KNEE, ANKLE)]
    return [a + b for a, b in zip(clean, noise, strict=True)], phase


@pytest.mark.parametrize("seed", range(5))
def test_the_period_of_five_noisy_cycles_is_found_within_a_percent(seed: int) -> None:
    (hip, _, _), _ = recording(seed)
    assert period_of(hip, DT) == pytest.approx(PERIOD, rel=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_six_harmonics_are_within_two_degrees_of_the_true_curves(seed: int) -> None:
    (hip, knee, ankle), _ = recording(seed)
    cycle = fit(hip, knee, ankle, DT)
    turn = np.arange(0.0, 1.0, 0.005)
    true = [np.array([curve.at(p)[0] for p in turn]) for curve in (HIP, KNEE, ANKLE)]
    # Where a cycle begins is a convention, the same for all three curves: where the hips agree best.
    found = np.array([cycle.hip.at(p)[0] for p in turn])
    shift = turn[int(np.argmin([np.sum((np.roll(found, k) - true[0]) ** 2) for k in range(len(turn))]))]
    for curve, wanted in zip((cycle.hip, cycle.knee, cycle.ankle), true, strict=True):
        assert len(curve.parts) <= MOST
        found = np.array([curve.at(p - shift)[0] for p in turn])
        assert np.sqrt(np.mean((found - wanted) ** 2)) < math.radians(2.0)


def test_the_hip_is_flexed_most_at_a_quarter_of_the_cycle() -> None:
    cycle = fit(*recording(0)[0], DT)
    turn = np.arange(0.0, 1.0, 0.01)
    assert turn[int(np.argmax([cycle.hip.at(p)[0] for p in turn]))] == pytest.approx(0.25, abs=0.011)


def test_a_smooth_curve_takes_no_more_harmonics_than_it_has() -> None:
    phase = np.arange(0.0, 4.0, 0.01)
    curve = series(np.array([HIP.at(p)[0] for p in phase]), phase, close=1e-6)
    assert len(curve.parts) == len(HIP.parts)
    np.testing.assert_allclose(curve.parts, HIP.parts, atol=1e-9)


def test_landings_are_put_to_half_a_cycle() -> None:
    curves, phase = recording(0)
    landed = np.flatnonzero(np.diff((phase + 0.3) % 1.0) < 0.0) + 1  # when the true phase is 0.7
    cycle, other = fit(*curves, DT, landed), fit(*curves, DT, (landed + round(0.2 * PERIOD / DT)))
    for p in (0.0, 0.3, 0.8):
        assert cycle.hip.at(p)[0] == pytest.approx(HIP.at(p + 0.2)[0], abs=math.radians(3.0))
        assert other.hip.at(p)[0] == pytest.approx(cycle.hip.at(p + 0.2)[0], abs=math.radians(1.0))


def test_the_angle_of_a_thigh_is_what_a_table_would_ask_for() -> None:
    for heading, angle in ((0.0, 0.4), (1.0, -0.7)):
        assert forward(posed(heading, 0.0, angle)) == pytest.approx(angle)


@pytest.mark.slow
@pytest.mark.parametrize("style", ["fast-walk", "high-step", "run"])
def test_a_gait_fitted_to_a_recorded_run_walks_half_a_minute(tmp_path: Path, style: str) -> None:
    plane = RunSettings(robot="r2d", planar=True, time=8.0, period=0.004)
    recorded = run(plane, Chain(((BEGIN, style),)))
    file = tmp_path / "fitted.yaml"
    file.write_text(text(recorded, "fitted"))
    cycle = load(file).cycle
    assert cycle is not None and cycle.period == pytest.approx(2 * recorded.result["step_period"], rel=0.01)
    assert not run(replace(plane, time=30.0), Chain(((BEGIN, str(file)),))).result["fell"]


def test_what_does_not_repeat_is_refused() -> None:
    with pytest.raises(InputError, match="no cycle that repeats"):
        period_of(np.sin(math.tau * np.arange(0.0, 1.5, DT)), DT)


def test_the_slope_of_a_curve_is_its_derivative() -> None:
    for phase in (0.0, 0.2, 0.7):
        step = 1e-6
        numeric = (KNEE.at(phase + step)[0] - KNEE.at(phase - step)[0]) / (2 * step)
        assert KNEE.at(phase)[1] == pytest.approx(numeric, rel=1e-6)


def test_joint_feedback_toward_the_pose_follows_the_curve_and_its_speed() -> None:
    cycle, gains, age = Cycle(PERIOD, HIP, KNEE, ANKLE), GaitGains(), 0.3
    row = cycle.posed(GaitState(None, swing_hip=0.07), age, gains)
    value, slope = HIP.at(age / PERIOD)
    k, d = gains.hip.stiffness, gains.hip.damping
    assert k * row.swing_hip == pytest.approx(k * (value + 0.07) + d * slope / PERIOD)
    assert row.stance_knee == pytest.approx(
        KNEE.at(age / PERIOD + 0.5)[0] + 0.1 * KNEE.at(age / PERIOD + 0.5)[1] / PERIOD
    )


def test_a_late_foot_finds_the_leg_waiting_at_the_end_of_its_swing() -> None:
    cycle = Cycle(PERIOD, HIP, KNEE, ANKLE)
    late, later = (cycle.posed(GaitState(None), age, GaitGains()) for age in (0.6 * PERIOD, 0.9 * PERIOD))
    assert late == later and late.swing_hip == pytest.approx(HIP.at(0.5)[0])


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("cycle: {period: 0.7, hip: [0.1, 0.2], knee: [0], ankle: [0]}", "cycle.hip"),
        ("cycle: {period: 0.1, hip: [0], knee: [0], ankle: [0]}", "cycle.period"),
        ("cycle: {period: 0.7, hip: [.nan], knee: [0], ankle: [0]}", "cycle.hip"),
        ("cycle: {period: 0.7, hip: [0], knee: [0]}", "cycle.ankle"),
    ],
)
def test_a_wrong_cycle_is_refused_by_file_and_key(tmp_path: Path, line: str, key: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"about: mine\nspace: plane\n{line}\nstates: [{{time: 0.2}}, {{until: swing}}]\n")
    with pytest.raises(ConfigError, match=key) as refused:
        load(file)
    assert "mine.yaml" in str(refused.value)
