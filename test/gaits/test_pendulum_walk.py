"""Torres' walker: where its feet land by the pendulum, how its legs reach there, and that it goes where it is sent."""

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.experiments.gait import BEGIN, Chain, period, run
from humanoid_balance.experiments.walk import Itinerary
from humanoid_balance.gaits import library
from humanoid_balance.gaits.limb_views import posed
from humanoid_balance.gaits.pendulum_steps import PendulumSteps
from humanoid_balance.gaits.table import load
from humanoid_balance.gaits.two_links import two_links
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.run import Run
from humanoid_balance.stack import RunSettings

HUMAN = "human:mass=70,height=1.81,drives=impedance"
OMEGA = 3.3


@pytest.mark.parametrize("place", [(0.3, 0.1, -0.7), (-0.4, -0.2, -0.6), (0.0, 0.0, -0.5)])
def test_the_ankle_of_a_leg_of_two_links_is_where_it_should_be(place: tuple[float, float, float]) -> None:
    forward, left, knee = two_links((0.45, 0.42), *place)
    thigh = posed(0.0, left, forward)
    found = thigh @ [0.0, 0.0, -0.45] + thigh @ pin.utils.rotate("y", -knee) @ [0.0, 0.0, -0.42]
    assert found == pytest.approx(np.array(place), abs=1e-9)
    assert knee < 0.0  # bends backward


def test_a_place_out_of_reach_is_pointed_at_with_a_leg_that_is_not_quite_straight() -> None:
    forward, left, knee = two_links((0.45, 0.45), 2.0, 0.0, -2.0)
    assert left == 0.0
    assert forward == pytest.approx(math.pi / 4, abs=0.1)
    assert -0.2 < knee < 0.0


def test_landings_of_the_pendulum_repeat_themselves_at_the_speed_that_is_asked_for() -> None:
    """Rolled over step after step, the pendulum settles at the wish, with the feet ``width`` apart."""
    steps = PendulumSteps(time=0.4, width=0.2, swing=())
    x, y, side = np.array([0.0, 0.1]), np.array([0.3, -0.2]), 1.0  # CoM and its speed, from the stance ankle
    foot, places = np.zeros(2), []
    cosh, sinh = math.cosh(OMEGA * steps.time), math.sinh(OMEGA * steps.time)
    for _ in range(40):
        capture = x + y / OMEGA
        landing = np.array(steps.landing(OMEGA, tuple(capture), (0.0, 0.0), steps.time, (0.6, 0.0), side))
        x, y = cosh * x + sinh / OMEGA * y - landing, OMEGA * sinh * x + cosh * y
        foot, side = foot + landing, -side
        places.append(foot)
    stride = places[-1] - places[-2]
    assert stride[0] == pytest.approx(0.6 * steps.time, abs=1e-3)
    assert abs(stride[1]) == pytest.approx(0.2, abs=1e-3)


def sent(velocity: tuple[float, float, float], seconds: float, pushes: tuple[PushProfile, ...] = ()) -> Run:
    settings = RunSettings(robot=HUMAN, time=seconds, period=period(HUMAN))
    return run(settings, Chain(((BEGIN, "torres"),)), pushes, way=Itinerary(((BEGIN, velocity),)))


def test_it_goes_forward_where_it_looks() -> None:
    done = sent((0.5, 0.0, 0.0), 6.0)
    assert not done.result["fell"]
    assert 0.3 < done.result["velocity"][0] < 0.7
    assert abs(done.result["velocity"][1]) < 0.1
    assert done.result["heading_rms_deg"] < 10.0


@pytest.mark.slow
@pytest.mark.parametrize("velocity", [(1.0, 0.0, 0.0), (-0.5, 0.0, 0.0), (0.0, 0.0, 1.0)])
def test_it_obeys_velocities(velocity: tuple[float, float, float]) -> None:
    result = sent(velocity, 12.0).result
    assert not result["fell"]
    assert result["velocity"] == pytest.approx(velocity, abs=0.2)


BAD = (
    ("swing: [[0, 0, 0]]", r"pendulum\.swing\[0\]"),
    ("swing: [[0, 0, 0, 0], [0, 1, 0, 0]]", r"pendulum\.swing\[1\].*phase after 0"),
    ("swing: [[0, 0, .nan, 0]]", r"pendulum\.swing\[0\].*nan"),
)


@pytest.mark.parametrize(("line", "message"), BAD)
def test_a_wrong_knot_is_named(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        f"about: x\nspace: space\npendulum: {{time: 0.4, width: 0.2, {line}}}\nstates: [{{time: 0.3}}]\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError, match=message):
        load(file)


def test_the_table_of_the_package_loads() -> None:
    assert library.find("torres").pendulum is not None
