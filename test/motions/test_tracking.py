"""Walking by a clip in closed loop: how far it is."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from humanoid_balance import stack
from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.motions import library, tracking
from humanoid_balance.motions.retarget import retarget
from humanoid_balance.repertoire import WHOLE
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import Command

CLIP = Path(__file__).parents[3] / "shared" / "motions" / "snu" / "wd2_WalkSameSame01.bvh"
BEGIN = 0.3  # [s]
LENGTH = 3.3  # [s]; from standing, with four landings


@pytest.mark.slow
@pytest.mark.skipif(not CLIP.exists(), reason="no recordings in shared/motions beside the checkout")
def test_from_standing_the_first_four_steps_land_in_turns(tmp_path: Path) -> None:
    clip = tmp_path / "walk.npz"
    retarget(library.load(CLIP), registry.load("lee47")).save(clip)
    robot, plant = stack.simulator(RunSettings(robot="lee47", friction=1.0))
    with closing(plant):
        loop = stack.simulated(robot, plant)
        loop.balance = supervisor = Supervisor(robot, None, WHOLE.plus([tracking.Tracking], tracking.ROWS))
        mode = supervisor.modes["tracking"]
        assert isinstance(mode, tracking.Tracking)
        for k in range(round(LENGTH / plant.dt)):
            stamp = k * plant.dt
            loop.tick(Command(stamp, gait=str(clip) if stamp > BEGIN else ""))
            assert not plant.truth().fell
        assert mode.reference.steps >= 4
        assert float(plant.truth().com[0]) > 1.0
