"""A robot behind ROS topics as a plant: the controller's end of the wire."""

from __future__ import annotations

from collections.abc import Callable

from std_msgs.msg import Float64MultiArray

from humanoid_balance.plants.ros_commands import CommandWriter, effort
from humanoid_balance.types import RobotState, SensorFrame, TorqueCommand


class TopicPlant:
    """``put`` brings what came over the topics; ``read`` gives it to the loop, ``write`` publishes the answer.

    The state estimator runs in another process, so frame and state come together; this is also the loop's estimator.
    A disarmed controller sends nothing: the plant is left to whatever holds it.
    """

    def __init__(self, dt: float, writer: CommandWriter, publish: Callable[[Float64MultiArray], None]) -> None:
        self.dt = dt
        self._writer, self._publish = writer, publish
        self._frame: SensorFrame | None = None
        self._state: RobotState | None = None
        self.silent = True  # nothing was sent for the last frame

    def put(self, frame: SensorFrame, state: RobotState) -> None:
        self._frame, self._state = frame, state

    def read(self) -> SensorFrame:
        assert self._frame is not None
        return self._frame

    def update(self, frame: SensorFrame) -> RobotState:
        """The state that came with the frame."""
        assert self._state is not None
        return self._state

    def write(self, command: TorqueCommand) -> None:
        self.silent = command.damped and not command.damping.any()
        if not self.silent:
            frame = self.read()
            self._publish(self._writer.fill(frame.stamp, effort(command, frame), command.damped))

    def repeat(self) -> None:
        """Send the last command again: the plant seems to have missed it."""
        self._publish(self._writer.message)
