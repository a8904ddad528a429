"""MuJoCo's warnings are told on stderr, not in a file of the user's folder."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

import humanoid_balance.plants.mujoco  # noqa: F401

BALL = "<mujoco><worldbody><body><freejoint/><geom size='0.1' mass='1'/></body></worldbody></mujoco>"


def test_a_simulation_that_diverges_leaves_no_log_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    model = mujoco.MjModel.from_xml_string(BALL)
    data = mujoco.MjData(model)
    data.qvel[:] = 1e12
    mujoco.mj_step(model, data)
    assert capfd.readouterr().err.startswith("MuJoCo: ")
    assert list(tmp_path.iterdir()) == []
