from __future__ import annotations

from pathlib import Path

import pytest

from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot

SCRIPT = """
about: bends the knees
starts: [supine]
ends: prone
gains: {"*": {stiffness: 50, damping: 2}}
keys:
  - {at: 0.5, pose: {"*_knee": 1.0}}
  - {at: 1.0, pose: {l_knee: 0.2}, until: {side: prone}, patience: 0.4}
"""


@pytest.fixture(scope="session")
def human() -> Robot:
    return registry.load("human")


@pytest.fixture
def script_file(tmp_path: Path) -> Path:
    file = tmp_path / "bend_knees.yaml"
    file.write_text(SCRIPT, encoding="utf-8")
    return file
