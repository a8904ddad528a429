"""A gait's YAML: what is read, and what is refused in one line."""

import math
from pathlib import Path

import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.gaits import library
from humanoid_balance.gaits.table import load

GOOD = """
about: a test
space: plane
states:
  - {time: 0.3, c_v: 0.2, swing_hip: 0.4, swing_knee: -1.1}
  - {until: swing, c_d: 2.2, swing_hip: -0.7}
"""


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_package_has_the_thesis_s_twelve_planar_gaits_and_two_in_space() -> None:
    tables = [library.find(name) for name in library.names()]
    assert sum(table.space == "plane" for table in tables) == 12
    assert {"walk-3d", "run-3d"} <= {table.name for table in tables if table.space == "space"}


def test_the_walk_is_the_thesis_s() -> None:
    swing, strike = library.find("walk").states
    assert (swing.time, swing.c_d, swing.c_v, swing.swing_hip, swing.swing_knee) == (0.30, 0.0, 0.20, 0.40, -1.10)
    assert (strike.time, strike.c_d, strike.c_v, strike.swing_hip, strike.swing_knee) == (None, 2.20, 0.0, -0.70, -0.05)


def test_what_is_not_given_is_zero(tmp_path: Path) -> None:
    table = load(written(tmp_path, GOOD))
    assert table.name == "mine"
    assert table.states[0].torso == 0.0
    assert table.states[1].time is None


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (("time: 0.3", "time: 0"), ("states[0].time", "0", "above 0")),
        (("time: 0.3", "time: -1"), ("states[0].time", "-1")),
        (("time: 0.3", "time: .nan"), ("states[0].time", "nan")),
        (("time: 0.3, ", ""), ("states[0].time", "until: swing")),
        (("swing_hip: 0.4", "swing_hip: .nan"), ("states[0].swing_hip", "nan")),
        (("swing_hip: 0.4", "swing_hop: 0.4"), ("states[0].swing_hop", "swing_hip")),
        (("until: swing", "until: stance"), ("states[1].until", "stance")),
        (("until: swing", "until: swing, time: 1"), ("states[1].time", "not both")),
        (("space: plane", "space: hyper"), ("space", "hyper", "plane, space")),
        (("about: a test", ""), ("about",)),
    ],
)
def test_a_wrong_entry_is_named_with_file_key_and_value(
    tmp_path: Path, change: tuple[str, str], names: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as caught:
        load(written(tmp_path, GOOD.replace(*change)))
    message = str(caught.value)
    assert "\n" not in message
    assert "mine.yaml" in message
    for name in names:
        assert name in message


@pytest.mark.parametrize("given", ["[1.6, -0.4]", "[-4, 1]", "[.nan, 1]", "1.6"])
def test_a_range_of_the_thigh_that_is_none_is_refused(tmp_path: Path, given: str) -> None:
    with pytest.raises(InputError, match=r"mine\.yaml.*thigh"):
        load(written(tmp_path, GOOD + f"thigh: {given}\n"))


def test_a_table_without_states_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="states"):
        load(written(tmp_path, "about: nothing\nspace: plane\nstates: []\n"))


def test_an_unknown_gait_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"moonwalk.*allowed: .*walk"):
        library.find("moonwalk")


def test_a_gait_that_needs_another_first_is_routed() -> None:
    names = [table.name for table in library.route(None, library.find("high-step"))]
    assert names == ["walk", "high-step"]
    names = [table.name for table in library.route("walk", library.find("backwards"))]
    assert names == ["in-place", "backwards"]
    assert len(library.route(None, library.find("backwards"))) == 1


def test_routes_that_go_round_in_circles_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD + f"enter: [{tmp_path / 'mine.yaml'}]\n")
    with pytest.raises(InputError, match="and back"):
        library.route(None, load(file))


def test_leaning_as_far_as_a_state_asks_is_part_of_the_gait() -> None:
    assert library.find("scissor-hop").leans == (0.0, 1.0)
    assert library.find("backwards").leans == (-0.3, 0.0)


def test_parameters_change_a_gait_as_a_whole() -> None:
    plain, other = library.find("walk"), library.find("walk:hip=0.05,lean=0.1,drift=0.02,slope=10")
    assert other.name == "walk:hip=0.05,lean=0.1,drift=0.02,slope=10"
    climb = math.radians(10.0)
    for before, after in zip(plain.states, other.states, strict=True):
        assert after.swing_hip == pytest.approx(before.swing_hip + 0.05 + 0.7 * climb)
        assert after.torso == pytest.approx(before.torso - 0.1 - 0.6 * climb)  # it leans into the slope
        assert after.stance_ankle == pytest.approx(before.stance_ankle + climb)
        assert after.swing_knee == before.swing_knee
    assert other.drift == 0.02


def test_a_gait_between_two_others_has_the_states_between_theirs() -> None:
    walk, bent = library.find("walk"), library.find("bent")
    half = library.find("walk:toward=bent,share=0.5")
    assert half.states[0].torso == pytest.approx(-0.3)
    assert half.gains.torso.stiffness == pytest.approx(450.0)
    assert library.find("walk:toward=bent,share=0").states == walk.states
    assert library.find("walk:toward=bent,share=1").states == bent.states


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("walk:hop=1", "hop=1"),
        ("walk:hip=nan", "hip is nan"),
        ("walk:hip=9", "-1 to 1"),
        ("walk:share=0.5", "belong together"),
        ("walk:toward=bent", "belong together"),
        ("walk:toward=skip,share=0.5", "end alike"),
        ("moonwalk:hip=0.1", "moonwalk"),
    ],
)
def test_a_wrong_parameter_is_named(name: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        library.find(name)


def test_a_gait_with_parameters_counts_as_itself_on_a_route() -> None:
    assert [table.name for table in library.route("walk:hip=0.1", library.find("high-step"))] == ["high-step"]
