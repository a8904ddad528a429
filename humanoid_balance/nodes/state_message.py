"""A sensor frame and the state estimated from it as one standard message, bit for bit.

``robot_state`` is a std_msgs/Float64MultiArray: the single numbers, then the arrays, in the order of the tables below,
and at the end the vertices of the support polygon. The label of the first dimension names the form, those of the others
are the estimator's faults.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from humanoid_balance.plants.ros_joints import to_array
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Push, RobotState, SensorFrame

TOPIC = "robot_state"
FORM = "humanoid_balance/robot_state/1"

STATE_NUMBERS = ("stamp", "valid", "omega", "ground_height")
PUSH_NUMBERS = ("active", "onset", "direction", "impulse", "height")
NUMBERS = 1 + len(STATE_NUMBERS) + len(PUSH_NUMBERS)  # the first is the stamp of the frame

Shape = tuple[int, ...]


def frame_arrays(n: int) -> dict[str, Shape]:
    """Arrays of a SensorFrame."""
    joints = dict.fromkeys(("position", "velocity", "torque"), (n,))
    return {**joints, "gyro": (3,), "acceleration": (3,), "wrench": (2, 6)}


def state_arrays(n: int) -> dict[str, Shape]:
    """Arrays of a RobotState without the support polygon."""
    return {
        "q": (n + 7,), "v": (n + 6,), "com": (3,), "com_velocity": (3,), "com_acceleration": (3,),
        "angular_momentum": (3,), "angular_momentum_rate": (3,), "dcm": (3,), "sole_position": (2, 3),
        "sole_rotation": (2, 3, 3), "sole_velocity": (2, 6), "contact": (2,), "contact_probability": (2,),
        "wrench": (2, 6), "cop": (2, 3), "zmp": (3,), "zmp_model": (3,), "zmp_push": (3,), "fri": (3,),
        "ground_normal": (3,),
    }  # fmt: skip


class StateMessage:
    """Writes and reads the message for one robot."""

    def __init__(self, robot: Robot, complain: Callable[[str, str], None]) -> None:
        self._complain = complain
        self._frame, self._state = frame_arrays(robot.n), state_arrays(robot.n)
        self._get_frame, self._get_state = attrgetter(*self._frame), attrgetter(*self._state)
        self._cuts: list[tuple[int, int, Shape]] = []
        self._size = NUMBERS
        for shape in (*self._frame.values(), *self._state.values(), (3,)):  # the last is the push force
            self._cuts.append((self._size, self._size + math.prod(shape), shape))
            self._size += math.prod(shape)
        self._form = MultiArrayDimension(label=FORM)

    def write(self, frame: SensorFrame, state: RobotState) -> Float64MultiArray:
        push = state.push
        numbers = [frame.stamp, *(getattr(state, k) for k in STATE_NUMBERS), *(getattr(push, k) for k in PUSH_NUMBERS)]
        arrays = (*self._get_frame(frame), *self._get_state(state), push.force, state.support)
        flat = np.concatenate([np.array(numbers, dtype=float), *(a.ravel() for a in arrays)])
        message = Float64MultiArray(data=to_array(flat))
        self._form.size = self._form.stride = flat.size
        message.layout.dim = [self._form, *(MultiArrayDimension(label=fault) for fault in state.faults)]
        return message

    def read(self, message: Float64MultiArray) -> tuple[SensorFrame, RobotState] | None:
        """The frame and the state; None, named, when the message is not one of ours."""
        dims = message.layout.dim
        if not dims or dims[0].label != FORM:
            self._complain(f"{TOPIC} refused: not of the form {FORM}", dims[0].label if dims else "no label")
            return None
        flat: Array = np.frombuffer(message.data).copy()
        if flat.size < self._size or (flat.size - self._size) % 2:
            self._complain(f"{TOPIC} refused: wrong length", f"{flat.size} numbers, {self._size} and pairs expected")
            return None
        arrays = [flat[a:b] if len(shape) == 1 else flat[a:b].reshape(shape) for a, b, shape in self._cuts]
        frame_stamp, stamp, valid, omega, height, *push = flat[:NUMBERS].tolist()
        active, onset, direction, impulse, push_height = push
        frame = SensorFrame(frame_stamp, *arrays[: len(self._frame)])
        of_state: dict[str, Any] = dict(zip(self._state, arrays[len(self._frame) :], strict=False))
        of_state["contact"] = of_state["contact"] > 0.5
        state = RobotState(
            stamp=stamp,
            valid=bool(valid),
            faults=tuple(dim.label for dim in dims[1:]),
            omega=omega,
            ground_height=height,
            support=flat[self._size :].reshape(-1, 2),
            push=Push(bool(active), arrays[-1], onset, direction, impulse, push_height),
            **of_state,
        )
        return frame, state
