"""An hour of ticks: no memory grows, no tick gets slower.

HUMANOID_BALANCE_TICKS=3600000 makes it the hour of docs/results.md.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from memory import resident

from humanoid_balance.experiments.push import run
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import BodyReference, RobotState, TorqueCommand
from humanoid_balance.wholebody.controller import WholeBody

TICKS = int(os.environ.get("HUMANOID_BALANCE_TICKS", "60000"))
GROWTH = 0.5  # [MB]; an hour of 100 bytes a tick would be 360


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
def test_neither_memory_nor_time_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ticks of a push with steps, over and over: every mode, active limits, levels that give way."""
    recorded: list[tuple[RobotState, BodyReference]] = []
    update = WholeBody.update

    def remember(self: WholeBody, state: RobotState, reference: BodyReference) -> TorqueCommand:
        recorded.append((state, reference))
        return update(self, state, reference)

    with monkeypatch.context() as patch:
        patch.setattr(WholeBody, "update", remember)
        run(RunSettings(time=4.0), [PushProfile(300, 0.4, 0)])
    controller, memory, times = WholeBody(registry.load("human")), [], []
    for _ in range(max(4, TICKS // len(recorded))):
        begun = time.thread_time()
        for state, reference in recorded:
            controller.update(state, reference)
        times.append(time.thread_time() - begun)
        memory.append(resident())
    assert memory[-1] - memory[1] < GROWTH, memory
    tenth = max(1, len(times) // 10)
    assert np.median(times[-tenth:]) < 1.3 * np.median(times[1:])
