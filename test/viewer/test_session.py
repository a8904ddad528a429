"""The robot behind the live page, without page and clock."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.stack import RunSettings
from humanoid_balance.viewer.session import COLUMNS, EVERY, Pull, Session


def run(session: Session, seconds: float) -> None:
    for _ in range(round(seconds / session.dt)):
        session.tick()


@pytest.fixture
def session() -> Session:
    return Session(RunSettings())


def test_a_push_moves_the_com_its_way_and_changes_the_mode(session: Session) -> None:
    run(session, 0.3)
    before = session.look(1.0)
    session.push(280.0, 0.1, 180.0)
    run(session, 0.3)
    after = session.look(1.0)
    backward, aside, _ = before.moment.com - after.moment.com
    assert backward > 0.03 and abs(aside) < backward
    assert after.changes[0][1] == "in place"
    assert all(reason for _, _, reason in after.changes)


def test_the_arrow_of_a_push_is_there_while_it_acts(session: Session) -> None:
    session.push(100.0, 0.05, 90.0)
    run(session, 0.03)
    assert session.look(1.0).moment.push == pytest.approx([0.0, 100.0, 0.0])
    run(session, 0.04)
    assert session.look(1.0).moment.push == pytest.approx([0.0, 0.0, 0.0])


def test_a_hand_pulls_toward_its_place_and_lets_go(session: Session) -> None:
    torso = session.robot.config.torso
    session.hold(Pull(torso, (0.0, 0.0, 0.2), (0.2, -0.3, 1.0)))
    run(session, 0.05)
    moment = session.look(1.0).moment
    assert moment.push[0] > 10.0 and moment.push[1] < -10.0 and moment.push[2] == 0.0
    assert np.isfinite(moment.grip).all()
    session.hold(None)
    run(session, 0.01)
    moment = session.look(1.0).moment
    assert not moment.push.any() and np.isnan(moment.grip).all()


def test_no_hand_is_stronger_than_the_robot_is_heavy(session: Session) -> None:
    session.hold(Pull(session.robot.config.torso, (0.0, 0.0, 0.2), (50.0, 0.0, 1.0)))
    run(session, 0.02)
    assert 0.5 < np.linalg.norm(session.look(1.0).moment.push) / session.robot.weight < 1.0


def test_pushes_that_are_over_cost_nothing(session: Session) -> None:
    for _ in range(50):
        session.push(1.0, 0.002, 0.0)
    run(session, 0.05)
    assert session.pushes == [] and not session.look(1.0).moment.push.any()


def test_the_foothold_is_shown_where_the_foot_lands() -> None:
    session = Session(RunSettings(strategy="step"))
    run(session, 0.2)
    session.push(400.0, 0.1, 0.0)
    planned = np.zeros(0)
    for _ in range(1200):
        session.tick()
        footstep = session.look(1.0).moment.footstep
        if len(footstep):
            planned = footstep.mean(axis=0)
        elif len(planned):
            break
    centres = session.robot.sole_centres
    truth = session.plant.truth()
    feet = [truth.sole_rotation[i] @ centres[i] + truth.sole_position[i] for i in range(2)]
    assert min(np.linalg.norm(foot[:2] - planned[:2]) for foot in feet) < 0.08


def test_marks_fit_the_true_body(session: Session) -> None:
    run(session, 0.5)
    moment, truth = session.look(1.0).moment, session.plant.truth()
    assert moment.com == pytest.approx(truth.com, abs=0.01)
    assert moment.force[:, 2].sum() == pytest.approx(session.robot.weight, rel=0.05)
    low, high = moment.support.min(axis=0), moment.support.max(axis=0)
    assert (low[:2] < moment.zmp[:2]).all() and (moment.zmp[:2] < high[:2]).all()
    assert moment.support[:, 2] == pytest.approx(0.0, abs=0.01)


def test_charts_miss_no_row(session: Session) -> None:
    session.look(1.0)
    run(session, 0.5)
    rows = session.look(1.0).rows
    assert rows.shape == (0.5 / session.dt / EVERY, len(COLUMNS))
    assert np.diff(rows[:, 0]) == pytest.approx(EVERY * session.dt)
    assert (rows[:, COLUMNS.index("tick_max")] >= rows[:, COLUMNS.index("tick_median")]).all()
    assert len(session.look(1.0).rows) == 0


def test_reset_stands_it_up_again(session: Session) -> None:
    session.push(1000.0, 0.4, 45.0)
    run(session, 1.5)
    assert session.fallen > 0.0
    session.reset()
    run(session, 0.2)
    now = session.look(1.0)
    assert not now.moment.fell and now.moment.mode == "stable" and now.moment.time < 0.3


def steer(session: Session, seconds: float, velocity: tuple[float, float, float]) -> None:
    for k in range(round(seconds / session.dt)):
        if k % 33 == 0:
            session.steer(velocity, "")
        session.tick()


def test_it_walks_while_it_is_pushed_and_a_wish_that_is_not_repeated_goes_stale(session: Session) -> None:
    steer(session, 2.0, (0.4, 0.0, 0.0))
    session.push(150.0, 0.1, 90.0)
    steer(session, 1.5, (0.4, 0.0, 0.0))
    moment = session.look(1.0).moment
    assert moment.mode == "walking" and moment.com[0] > 0.8 and not moment.fell
    run(session, 0.6)
    assert "means stop" in session.look(1.0).notice
    run(session, 2.0)
    assert session.last.reference.mode in ("in place", "stable")


def test_gains_act_at_once_and_outlive_a_reset(session: Session) -> None:
    session.set_gain("dcm", 2.5)
    assert session.balance.maker.laws.gain == 2.5
    session.reset()
    assert session.balance.maker.laws.gain == 2.5


def test_what_a_robot_can_do_depends_on_the_robot_and_its_world(session: Session) -> None:
    assert "walk-3d" in session.abilities.gaits and "walk" not in session.abilities.gaits
    on_boom = Session(RunSettings(robot="r2d", planar=True)).abilities
    assert "walk" in on_boom.gaits and "walk-3d" not in on_boom.gaits and on_boom.skills == ()
    assert session.abilities.skills
    session.ask(session.abilities.skills[0])
    assert "only when it lies" in session.look(1.0).notice


def test_an_unknown_robot_is_named() -> None:
    with pytest.raises(InputError, match="r2d2"):
        Session(RunSettings(robot="r2d2"))


def test_a_visitor_pushes_where_the_page_says(session: Session) -> None:
    session.push(100.0, 0.05, 90.0, height=1.3)
    run(session, 0.03)
    assert session.look(1.0).moment.push_point[2] == pytest.approx(1.3, abs=0.01)
    session.push(100.0, 0.05, 90.0, link="tail")
    assert "push link 'tail'" in session.notice
