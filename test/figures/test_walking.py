"""The figure of a walk."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import Polygon
from PIL import Image

from humanoid_balance.experiments import walk
from humanoid_balance.experiments.footstep_plan import foothold
from humanoid_balance.experiments.stride import Way
from humanoid_balance.figures import figure
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.run import Run
from humanoid_balance.stack import RunSettings


@pytest.fixture(scope="module")
def walked() -> Run:
    """Two seconds of g1 and half a step more, most of it on its way, with a tap on the shoulder."""
    script = walk.Itinerary(((0.3, (0.4, 0.0, 0.0)),))
    return walk.run(RunSettings(robot="g1", time=2.15), script, [PushProfile(20.0, 0.1, 90.0, 1.2)])


def test_it_shows_every_footstep_and_cuts_no_text_off(walked: Run, tmp_path: Path) -> None:
    picture = figure.draw(walked)
    picture.savefig(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == (1400, 1000)
        pixels = np.asarray(image.convert("L"))
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert border.min() == 255
    above = picture.axes[1]
    soles = [patch for patch in above.patches if isinstance(patch, Polygon)]
    assert len(soles) == 2 + len(Way.of(walked).landings)


def test_landings_alternate_and_each_takes_about_a_nominal_step(walked: Run) -> None:
    way = Way.of(walked)
    feet = [landing.foot for landing in way.landings]
    assert len(feet) > 2
    assert all(a != b for a, b in pairwise(feet))
    assert way.step_time == pytest.approx(0.38, abs=0.05)  # 1.45 sqrt(h / g)
    assert way.phase(float(walked.record["time"][way.landings[0].row])) == 0.0


def test_a_heading_that_is_kept_is_no_error(walked: Run) -> None:
    assert Way.of(walked).heading_error() < np.radians(2.0)


def test_planned_footsteps_are_outlined(walked: Run) -> None:
    made = len(figure.draw(walked).axes[1].patches)
    planned = replace(walked, plan=(foothold(0, 0.2, 0.1, 0.3), foothold(1, 0.4, -0.1, 0.0)))
    above = figure.draw(planned).axes[1]
    assert len(above.patches) == made + 2
    outlined = [patch for patch in above.patches if isinstance(patch, Polygon) and not patch.get_fill()]
    middle = outlined[0].get_xy()[:-1].mean(axis=0)
    expected = walked.robot.sole_centres[0][:2] @ [[np.cos(0.3), np.sin(0.3)], [-np.sin(0.3), np.cos(0.3)]] + [0.2, 0.1]
    np.testing.assert_allclose(middle, expected, atol=1e-9)
