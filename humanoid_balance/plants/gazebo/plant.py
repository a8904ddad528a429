"""A robot in Gazebo Classic behind the Plant protocol: the serial plant on the board that the plugin is.

The world stands still while the controller thinks (lock-step), so a run is the same however fast the machine is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_balance.errors import InputError
from humanoid_balance.plants import protocol
from humanoid_balance.plants.gazebo.server import GazeboServer
from humanoid_balance.plants.gazebo.world import sdf_world
from humanoid_balance.plants.port import Port, PortError
from humanoid_balance.plants.push_place import link_of, takes_hold
from humanoid_balance.plants.pushes import ExternalForce, PushProfile
from humanoid_balance.plants.sensing import Sensing
from humanoid_balance.plants.serial import SerialPlant
from humanoid_balance.plants.serial.bus import BoardBus
from humanoid_balance.plants.serial.config import BusConfig
from humanoid_balance.plants.serial.line import LineSettings
from humanoid_balance.plants.terrain import terrain
from humanoid_balance.plants.truth import Truth, has_fallen
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, SensorFrame, TorqueCommand


class LockstepPlant(SerialPlant):
    """Without a reader thread: nothing comes from a world that stands still, so the loop reads when it waits.

    Handing each sample from one thread to the other took a tenth of a tick.
    """

    def _wait(self, seconds: float) -> None:
        for bus in self.buses:
            if isinstance(bus, BoardBus) and bus.connected:
                bus.pump(seconds)

    def _open_bus(self, config: BusConfig) -> BoardBus:
        wish = LineSettings(round(1e6 * self.dt), True, self.robot.torque_limit, self.robot.brake)
        bus = BoardBus(Port(config.port, config.baud), self.robot, wish, self.config.calibration, self._news)
        try:
            bus.port.open()
        except PortError as error:
            raise InputError(f"port {error}") from None
        bus.connected = True
        return bus


class GazeboPlant:
    """Reads at time t, then ``write`` applies the torques for one control period. Sensors as the MuJoCo plant's.

    The robot is held until the first torque; time 0 is when the controller's first command is due.
    """

    def __init__(self, robot: Robot, options: PlantOptions | None = None, pushes: Sequence[PushProfile] = ()) -> None:
        self.robot = robot
        self.options = options or PlantOptions()
        self.dt = self.options.dt
        if self.options.world.ground == "springs":
            raise InputError("ground 'springs' is MuJoCo's; allowed in Gazebo: any other")
        if self.options.world.planar or self.options.world.fixtures:
            raise InputError("a boom (planar) and fixtures are MuJoCo's; allowed in Gazebo: neither")
        self._pushes: list[tuple[ExternalForce, int, Array | None]] = []
        for push in pushes:
            self.add_push(push)
        self._data, self._terrain = robot.model.createData(), terrain(self.options.world, robot)
        self._start()

    def _start(self, time: float = 0.0) -> None:
        self.server = GazeboServer(sdf_world(self.robot, self.options.world, strength=self.options.torque_scale))
        try:
            self.serial = LockstepPlant(self.robot, [self.server.url], self.dt, lockstep=True, timeout=20.0)
            self.serial.arm(timeout=20.0)
        except BaseException:
            self.server.close()
            raise
        self._moved = False
        self._exact: Array | None = None
        self._begin(time)

    def _begin(self, time: float) -> None:
        """At the sample that waits for its answer."""
        self._ticks = round(time / self.dt)
        options, idle = self.options, TorqueCommand.damp(0.0, np.zeros(self.robot.n))
        delay = round(options.sensor_latency / self.dt)
        self._sensing = Sensing(self.robot.n, options.noise, options.seed, delay)
        self._commands: deque[TorqueCommand] = deque([idle], maxlen=1 + round(options.actuator_latency / self.dt))
        self._push_force = np.zeros(3)
        self._look()
        self._push_point = self._told.com
        self._up = self._torso().rotation.T @ np.array([0.0, 0.0, 1.0])
        self._com_height = self._height()

    def reset(self, *, time: float = 0.0) -> None:
        """Stand in the nominal stance, at rest, at a time; in a new world if the robot of this one has moved."""
        if self._moved:
            self.close()
            self._start(time)
        else:
            self._begin(time)

    def lay(self, q: Array) -> None:
        raise InputError("plant is 'gazebo'; allowed with a lying start: mujoco")

    def close(self) -> None:
        """End the simulation."""
        self.serial.close()
        self.server.close()

    def add_push(self, push: ExternalForce) -> None:
        """Schedule an external force."""
        frame = self.robot.model.getFrameId(link_of(self.robot, push), pin.FrameType.BODY)
        self._pushes.append((push, frame, None if push.point is None else np.array(push.point)))

    def remove_push(self, push: ExternalForce) -> None:
        """Forget an external force, also one that acts now."""
        self._pushes = [entry for entry in self._pushes if entry[0] is not push]

    @property
    def time(self) -> float:
        return self._ticks * self.dt

    # ---- the loop ----

    def read(self) -> SensorFrame:
        return self._sensing.frame(self.time, self._look())

    def _look(self) -> Array:
        """The sample of this tick, exact; waits for it if it has not come yet."""
        if self._exact is None:
            frame = self.serial.read()
            told = self.serial.truth()
            if told is None:
                raise InputError("gazebo: the board at the other end is no simulator")
            self._told, self._stamp = told, round(1e6 * frame.stamp)
            rows = (frame.position, frame.velocity, frame.torque, frame.gyro, frame.acceleration, frame.wrench.ravel())
            self._exact = np.concatenate(rows)
            self._fresh_kinematics = False
        return self._exact

    def write(self, command: TorqueCommand) -> None:
        """Apply a command and move on by one control period."""
        self._look()
        self._apply_pushes()
        self._commands.append(command)
        self._moved = True
        self._answer(self._commands[0])

    def hold(self) -> None:
        """Let one control period pass; a robot that has not been let go stays held."""
        self._look()
        self._answer(TorqueCommand.damp(self.time, self.robot.brake))

    def _answer(self, command: TorqueCommand) -> None:
        self.serial.write(command)
        self._exact = None
        self._ticks += 1

    def _apply_pushes(self) -> None:
        """External forces for the coming period."""
        self._push_force[:] = 0.0
        self._push_point = self._told.com
        for k, (push, frame, point) in enumerate(self._pushes):
            size = push.force_at(self.time)
            if size == 0.0:
                continue
            self._kinematics()
            at = self._data.oMf[frame]
            if point is None:  # from now on fixed to the link
                com = self._told.com
                place = takes_hold(push, at.translation, com, self._ground_below(com))
                point = at.actInv(place)
                self._pushes[k] = (push, frame, point)
            self._push_point = at.act(point)
            force, link = size * push.axis, self.robot.model.frames[frame].name
            until = self._stamp + round(1e6 * self.dt)
            self.serial.push(protocol.WirePush(link, until, point, force, np.zeros(3)))
            self._push_force += force

    # ---- ground truth ----

    def _kinematics(self) -> None:
        """Frames and momentum of the robot as Gazebo has it."""
        if self._fresh_kinematics:
            return
        told, exact, n = self._told, self._look(), self.robot.n
        turn = pin.Quaternion(told.base_quaternion).toRotationMatrix()
        q = np.concatenate([told.base_position, told.base_quaternion, exact[:n]])
        v = np.concatenate([turn.T @ told.base_velocity, turn.T @ told.base_angular_velocity, exact[n : 2 * n]])
        pin.computeCentroidalMomentum(self.robot.model, self._data, q, v)
        for frame in (self.robot.torso_frame, *self.robot.sole_frames, *(frame for _, frame, _ in self._pushes)):
            pin.updateFramePlacement(self.robot.model, self._data, frame)
        self._fresh_kinematics = True

    def _torso(self) -> pin.SE3:
        self._kinematics()
        return self._data.oMf[self.robot.torso_frame]

    def _ground_below(self, point: Array) -> float:
        x, y, _ = point.tolist()
        return self._terrain.height(x, y)

    def _height(self) -> float:
        return float(self._told.com[2] - self._ground_below(self._told.com))

    def fell(self) -> bool:
        self._look()
        height = self._height()
        return has_fallen(self._told.touching, float((self._torso().rotation @ self._up)[2]), height, self._com_height)

    def truth(self) -> Truth:
        """What really happened, at the stamp of the next ``read``."""
        exact, told, n = self._look(), self._told, self.robot.n
        axis = self._torso().rotation @ self._up
        soles = [self._data.oMf[frame] for frame in self.robot.sole_frames]
        rotation = np.array([sole.rotation for sole in soles])
        world = exact[3 * n + 6 :].reshape(2, 2, 3) @ rotation.transpose(0, 2, 1)  # force and moment as rows
        return Truth(
            stamp=self.time,
            com=told.com,
            com_velocity=told.com_velocity,
            angular_momentum=self._data.hg.angular.copy(),
            base_position=told.base_position,
            base_quaternion=told.base_quaternion,
            joint_position=exact[:n],
            torque=exact[2 * n : 3 * n],
            torso_axis=axis,
            sole_position=np.array([sole.translation for sole in soles]),
            sole_rotation=rotation,
            sole_force=world[:, 0],
            sole_moment=world[:, 1],
            push=self._push_force.copy(),
            push_point=self._push_point,
            fell=self.fell(),
        )
