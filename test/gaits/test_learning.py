"""Feedback error learning: what repeats itself is learnt, bin by bin; in the loop the trunk comes to rest."""

from dataclasses import replace
from pathlib import Path

import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import learning as experiment
from humanoid_balance.gaits.learning import Learner, Learning
from humanoid_balance.gaits.table import load
from humanoid_balance.stack import RunSettings

PLANE = RunSettings(robot="r2d", planar=True, period=0.002)
STEP, TICK = 0.36, 0.002


def steps(learner: Learner, learning: Learning, wanted: float, count: int) -> None:
    """Steps in which a torque is wanted all the time, and the feedback gives what is missing."""
    for _ in range(count):
        for k in range(round(STEP / TICK)):
            age = k * TICK
            learner.see(age, wanted - learner.forward(age), learning)


def test_what_the_feedback_gives_step_after_step_is_learnt() -> None:
    learning = Learning(bin=0.005)
    learner = Learner(learning)
    steps(learner, learning, 30.0, 50)
    # 30 (1 - 0.9^50), each bin visited once per step
    assert learner.forward(0.1) == pytest.approx(29.85, abs=0.1)


def test_one_visit_of_a_bin_is_one_update_however_many_ticks_it_has() -> None:
    learning = Learning(bin=0.02)
    learner = Learner(learning)
    steps(learner, learning, 30.0, 1)
    assert learner.forward(0.1) == pytest.approx(3.0)


def test_learning_stops_at_its_limit() -> None:
    learning = Learning(bin=0.005, most=10.0)
    learner = Learner(learning)
    steps(learner, learning, 30.0, 50)
    assert learner.forward(0.1) == 10.0


def test_with_a_rate_of_zero_what_was_learnt_is_applied_and_stays() -> None:
    learning = Learning(bin=0.005, rate=0.0, torque=(5.0, 6.0))
    learner = Learner(learning)
    steps(learner, learning, 30.0, 5)
    assert (learner.forward(0.0), learner.forward(0.005), learner.forward(0.01)) == (5.0, 6.0, 0.0)


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ("{bin: 0}", ("learning.bin", "0.0005 to 0.1")),
        ("{rate: 0.1}", ("learning.bin",)),
        ("{bin: 0.005, rate: 2}", ("learning.rate", "0 to 1")),
        ("{bin: 0.005, torque: [1, .nan]}", ("learning.torque[1]", "nan")),
        ("{bin: 0.005, bins: 3}", ("learning.bins",)),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, entry: str, names: tuple[str, ...]) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"about: a test\nspace: plane\nlearning: {entry}\nstates:\n  - {{time: 0.3}}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(file)
    for name in ("mine.yaml", *names):
        assert name in str(caught.value)


def test_too_short_a_run_to_learn_is_refused() -> None:
    with pytest.raises(InputError, match="time is 20 s"):
        experiment.run(replace(PLANE, time=20.0), "walk", 0.005)


@pytest.mark.slow
def test_the_trunk_of_the_walk_comes_to_rest_and_half_the_gains_do_as_well(tmp_path: Path) -> None:
    done, text = experiment.run(PLANE, "walk", 0.005)
    assert not done.result["fell"]
    found = done.result["learning"]
    assert found["before"]["swing_deg"] > 4.0
    assert found["after"]["swing_deg"] < found["before"]["swing_deg"] / 5  # Y21
    assert found["half_gains"]["rms_deg"] < found["before"]["rms_deg"]
    file = tmp_path / "learnt.yaml"
    file.write_text(text, encoding="utf-8")
    table = load(file)
    assert table.learning is not None
    assert len(table.learning.torque) > STEP / 0.005 * 0.9
