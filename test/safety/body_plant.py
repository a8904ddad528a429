"""A body with drives but no boards: what bring-up meets, without the bytes."""

from __future__ import annotations

import numpy as np

from humanoid_balance.balance.supervisor import Supervisor
from humanoid_balance.estimation.estimator import Estimator
from humanoid_balance.plants.board.body import Body
from humanoid_balance.robot.model import Robot
from humanoid_balance.safety.bringup import BringUp
from humanoid_balance.safety.stand import StandSettings
from humanoid_balance.types import Array, SensorFrame, TorqueCommand
from humanoid_balance.wholebody.controller import WholeBody


class Rig:
    """Body, estimator, controller and bring-up, tick by tick."""

    def __init__(self, robot: Robot, body: Body, settings: StandSettings | None = None) -> None:
        self.robot, self.body = robot, body
        self.estimator, self.wholebody = Estimator(robot), WholeBody(robot)
        self.bringup = BringUp(robot, settings=settings, restart=self.restart)
        self.frame: SensorFrame | None = None
        self.sent: TorqueCommand | None = None
        self.flip: dict[int, float] = {}  # sign errors of motors by joint
        self.restart()

    def restart(self) -> None:
        self.estimator.reset()
        self.balance = Supervisor(self.robot)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / 0.001)):
            self.tick()

    def tick(self) -> None:
        frame = self.frame = self.body.sense()
        state = self.estimator.update(frame)
        wanted = self.wholebody.update(state, self.balance.update(state))
        command = self.sent = self.bringup.update(frame, state, wanted)
        if not command.damped:
            self.body.held = False
        limit = self.robot.torque_limit

        def law(position: Array, velocity: Array) -> Array:
            torque = command.torque + command.stiffness * (command.position - position)
            torque = np.clip(torque + command.damping * (command.velocity - velocity), -limit, limit)
            for joint, sign in self.flip.items():
                torque[joint] *= sign
            return torque

        self.body.step(law)
