"""A robot behind ROS topics as a plant: the controller's end of the wire."""

from __future__ import annotations

from collections.abc import Callable

from std_msgs.msg import Float64MultiArray

from humanoid_balance.plants.ros.commands import CommandWriter
from humanoid_balance.types import RobotState, SensorFrame, TorqueCommand, TouchWrench


class TopicPlant:
    """``put`` brings what came over the topics; ``read`` gives it to the loop, ``write`` publishes the answer.

    The state estimator runs in another process, so frame and state come together; this is also the loop's estimator.
    A disarmed controller sends nothing: the plant is left to whatever holds it.
    """

    def __init__(
        self,
        dt: float,
        writer: CommandWriter,
        publish: Callable[[Float64MultiArray], None],
        takes_gains: Callable[[], bool],
    ) -> None:
        """``takes_gains``: the drives behind the topic close the feedback of a command, so its gains are sent too."""
        self.dt = dt
        self._writer, self._publish, self._takes_gains = writer, publish, takes_gains
        self._frame: SensorFrame | None = None
        self._state: RobotState | None = None
        self.silent = True  # nothing was sent for the last frame

    def put(self, frame: SensorFrame, state: RobotState) -> None:
        self._frame, self._state = frame, state

    def read(self) -> SensorFrame:
        assert self._frame is not None
        return self._frame

    def update(self, frame: SensorFrame, touch: TouchWrench | None = None) -> RobotState:
        """The state that came with the frame; the estimator, in a process of its own, does not hear of ``touch``."""
        assert self._state is not None
        return self._state

    def write(self, command: TorqueCommand) -> None:
        self.silent = command.damped and not command.damping.any()
        if not self.silent:
            self._publish(self._writer.fill(command, self.read(), self._takes_gains()))

    def repeat(self) -> None:
        """Send the last command again: the plant seems to have missed it."""
        self._publish(self._writer.message)
