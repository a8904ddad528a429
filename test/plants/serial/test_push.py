"""A virtual robot on boards is pushed: by its own plan, or by the host over the wire."""

from __future__ import annotations

import numpy as np
import pytest
from bench import Bench
from geometry_msgs.msg import WrenchStamped

from humanoid_balance.errors import InputError
from humanoid_balance.plants.board import Body
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.ros.push import HOLD, PushInput
from humanoid_balance.robot import registry
from humanoid_balance.types import Array, TorqueCommand

ROBOT = registry.load("g1")
ZERO = np.zeros(ROBOT.n)
OFF, BRAKE = TorqueCommand.damp(0.0, ZERO), TorqueCommand.damp(0.0, ROBOT.brake)
IDLE = TorqueCommand(0.0, ZERO, ZERO, ZERO, ZERO, ZERO)


def test_a_planned_push_is_the_one_of_the_command_push() -> None:
    """Same robot, same forces: bit for bit the simulator's own run, counted from the moment of letting go."""
    pushes = [PushProfile(120.0, 0.03, 90.0, 0.01), PushProfile(60.0, 0.02, 0.0, 0.02, link=ROBOT.config.feet[0].frame)]
    plant, body = MujocoPlant(ROBOT, pushes=pushes), Body(ROBOT, pushes=pushes)
    for _ in range(7):  # held, while a host connects
        body.step(lambda q, v: ZERO)
    body.held = False
    for _ in range(60):
        plant.write(IDLE)
        body.step(lambda q, v: ZERO)
        np.testing.assert_allclose(body.plant.data.qvel, plant.data.qvel, rtol=0, atol=1e-12)
    assert np.abs(plant.data.qvel[1]) > 0.05  # it was pushed to the left


def test_a_planned_push_on_a_link_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="push link 'tail': the robot has no such link"):
        Body(ROBOT, pushes=[PushProfile(1.0, 1.0, link="tail")])


@pytest.mark.parametrize("text", ["100", "100:0.1:0", "a:b:c:d", "1:2:3:4:5", "nan:1:0:0", "1:-1:0:0"])
def test_a_push_that_is_mistyped_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="push"):
        PushProfile.parse(text)


class PushedBench:
    """A robot in MuJoCo behind two boards, with drives that follow."""

    def __init__(self) -> None:
        self.body = Body(ROBOT)
        self.bench = Bench(ROBOT, body=self.body)
        for board in self.bench.boards:
            board.machine.simulator = True
        for bus in self.bench.plant.buses:
            assert bus.identity is not None and bus.identity.simulator
        self.plant = self.bench.plant
        for command in (OFF, BRAKE, IDLE):
            for _ in range(4):
                self.tick(command)

    def tick(self, command: TorqueCommand = IDLE) -> Array:
        """The force on the torso after it."""
        self.plant.read()
        self.plant.write(command)
        self.bench.advance()
        self.plant.unread()
        return self.force

    @property
    def force(self) -> Array:
        return self.body.plant.data.xfrc_applied[self.body._body(ROBOT.config.torso), :3].copy()


def test_a_force_of_the_host_acts_while_it_lasts_at_the_height_of_the_com() -> None:
    pushed = PushedBench()
    body = pushed.body
    start = pushed.plant.time
    push = PushProfile(80.0, 0.02, 90.0, start + 0.004)
    pushed.plant.add_push(push)
    seen = [pushed.tick() for _ in range(60)]
    acting = [k for k, force in enumerate(seen) if force.any()]
    assert 18 <= len(acting) <= 24 and acting == list(range(acting[0], acting[-1] + 1))
    np.testing.assert_allclose(seen[acting[5]], [0.0, 80.0, 0.0], atol=1e-4)
    pushed.plant.add_push(PushProfile(80.0, 1.0, 0.0, pushed.plant.time))
    pushed.tick()
    torso, data = body._body(ROBOT.config.torso), body.plant.data
    (frame,) = body._pushes.values()
    point = data.xpos[torso] + data.xmat[torso].reshape(3, 3) @ frame.point
    np.testing.assert_allclose(point, data.subtree_com[1], atol=5e-3)  # it moved on since by a millisecond


def test_a_push_ends_when_the_host_goes_silent() -> None:
    pushed = PushedBench()
    pushed.plant.add_push(PushProfile(80.0, 10.0, 0.0, pushed.plant.time))
    for _ in range(3):
        pushed.tick()
    assert pushed.force.any()
    for _ in range(22):
        pushed.bench.advance()
    assert not pushed.force.any()


def test_messages_push_while_they_keep_coming_and_a_tenth_of_a_second_more() -> None:
    """As the node that owns the boards uses it."""
    pushed = PushedBench()
    complaints: list[str] = []
    pushes = PushInput(pushed.plant, lambda what, why: complaints.append(what))  # type: ignore[arg-type]
    message = WrenchStamped()
    message.wrench.force.x = 50.0
    seen: list[bool] = []
    for k in range(300):
        if k < 100 and k % 20 == 0:
            pushes.on_message(message)
        pushes.update()
        seen.append(bool(pushed.tick().any()))
    last = 80  # tick of the last message; the way to the board is a tick or two
    assert all(seen[3:last]) and not any(seen[last + round(1e3 * HOLD) + 5 :])
    assert sum(seen) == pytest.approx(last + 1e3 * HOLD, abs=5) and not complaints


def test_real_boards_cannot_be_pushed() -> None:
    bench = Bench(ROBOT)
    for bus in bench.plant.buses:
        object.__setattr__(bus.identity, "simulator", False)
    assert not bench.plant.simulated
    with pytest.raises(InputError, match="none of the boards is a simulator"):
        bench.plant.add_push(PushProfile(1.0, 1.0))
