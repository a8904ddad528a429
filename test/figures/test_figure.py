"""The figure of a run: size, nothing cut off, telling joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from matplotlib.text import Text
from PIL import Image

from humanoid_balance.figures import figure
from humanoid_balance.figures.bodies import View
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry

ROBOTS = ("human", "talos", "g1")


@pytest.mark.parametrize(("robot", "direction"), [("human", 0.0), ("talos", 90.0), ("g1", 180.0)])
def test_no_text_is_cut_off_and_the_size_is_right(
    short_run: Callable[..., Any], tmp_path: Path, robot: str, direction: float
) -> None:
    picture = figure.draw(short_run(robot, direction))
    picture.savefig(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as image:
        assert (image.format, image.size) == ("PNG", (1400, 1000))
        pixels = np.asarray(image.convert("L"))
    assert (pixels < 250).mean() > 0.1  # it is no blank sheet
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert border.min() == 255
    renderer = picture.canvas.get_renderer()  # type: ignore[attr-defined]
    for text in picture.findobj(Text):
        if text.get_visible() and text.get_text():
            box = text.get_window_extent(renderer)
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= 1400 and box.y1 <= 1000, text.get_text()


def test_bodies_stay_apart_and_inside_when_the_robot_lies_down(short_run: Callable[..., Any]) -> None:
    done = short_run()
    bodies = figure.Bodies(done, View.of(done.main_push))
    rotation = pin.rpy.rpyToMatrix(0.0, 1.4, 0.0)
    q = done.record["true_q"]
    before = q[-1].copy()
    try:
        q[-1, 3:7] = pin.Quaternion(rotation).coeffs()
        picture = figure.Figure((14.0, 3.0))
        axes = picture.add_axes((0, 0, 1, 1))
        bodies.draw(axes, [0, len(q) - 1, len(q) - 1], 14.0 / 3.0)
    finally:
        q[-1] = before
    spans = [patch.get_path().vertices[:, 0] for patch in axes.patches]
    count = len(spans) // 3
    ends = [(min(s.min() for s in group), max(s.max() for s in group)) for group in
            (spans[:count], spans[count : 2 * count], spans[2 * count :])]  # fmt: skip
    assert ends[0][1] < ends[1][0] and ends[1][1] < ends[2][0]
    assert ends[0][0] >= axes.get_xlim()[0] and ends[2][1] <= axes.get_xlim()[1]
    width, height = (high - low for low, high in (axes.get_xlim(), axes.get_ylim()))
    assert width / height == pytest.approx(14.0 / 3.0, rel=1e-6)  # bodies keep their proportions


def test_a_run_without_a_push_and_one_on_a_slope_have_a_figure_too(
    short_run: Callable[..., Any], tmp_path: Path
) -> None:
    done = replace(short_run("human", 0.0, 8.0), pushes=())
    figure.save(done, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", ROBOTS)
def test_telling_joints_turn_in_the_plane_of_the_push(name: str) -> None:
    robot = registry.load(name)
    jacobian = pin.computeJointJacobians(robot.model, robot.model.createData(), robot.q_nominal)[3:, 6:]
    for push, axis in ((PushProfile(1.0, 0.1, 0.0), 1), (PushProfile(1.0, 0.1, 90.0), 0)):
        parts = figure.telling_joints(robot, View.of(push).depth)
        assert list(parts) == ["shoulder", "waist", "hip", "knee", "ankle"]
        for part in ("hip", "ankle"):
            for joint in parts[part]:
                assert abs(jacobian[axis, joint]) > 0.9, (part, robot.joint_names[joint])
        for part in ("shoulder", "hip", "knee", "ankle"):
            left, right = parts[part]
            assert left != right
            assert [robot.joint_names[left], robot.joint_names[right]] == sorted(
                [robot.joint_names[left], robot.joint_names[right]]
            )


def test_the_view_shows_a_push_along_its_plane() -> None:
    for direction in (0.0, 45.0, 90.0, 180.0, 200.0, 270.0, 300.0):
        push = PushProfile(1.0, 0.1, direction)
        view = View.of(push)
        assert abs(push.axis @ view.depth) < 1e-12
        assert np.allclose(np.cross(view.depth, [0, 0, 1]), view.right)  # seen, not mirrored
    assert View.of(PushProfile(1.0, 0.1, 180.0)).right[0] == 1.0  # a robot pushed backward still faces right
