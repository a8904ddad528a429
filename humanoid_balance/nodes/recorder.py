"""Records all topics of a robot into one MCAP file, which opens at every moment, also after a crash.

It reads in Foxglove and PlotJuggler, with ``ros2 bag``, and with ``humanoid-balance replay``. Times are of arrival.
"""

from __future__ import annotations

import struct
import time
from operator import itemgetter
from pathlib import Path

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped, Vector3Stamped, WrenchStamped
from mcap.opcode import Opcode
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, String
from visualization_msgs.msg import MarkerArray

from humanoid_balance.errors import InputError
from humanoid_balance.experiments.mcap_file import Batch, McapFile
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.message_schema import schema
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import LATCHED
from humanoid_balance.robot.model import Robot

EVERY = 0.5  # batches are written so often [s]
ANY = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)  # matches reliable publishers as well

TOPICS: dict[str, type] = {
    "joint_states": JointState,
    "imu": Imu,
    "left_foot/wrench": WrenchStamped,
    "right_foot/wrench": WrenchStamped,
    "odom": Odometry,
    "com": PointStamped,
    "zmp": PointStamped,
    "dcm": PointStamped,
    "com_velocity": Vector3Stamped,
    "push_estimate": WrenchStamped,
    "effort_controller/commands": Float64MultiArray,
    "robot_state": Float64MultiArray,
    "push": WrenchStamped,
    "balance/markers": MarkerArray,
    "/diagnostics": DiagnosticArray,
}
LATCHED_TOPICS: dict[str, type] = {"balance/mode": String, "robot_description": String}

ENTRIES = (Entry("file", "", "MCAP file to write"),)


class Recorder(BoxNode):
    """Takes the bytes of the messages as they are."""

    def __init__(self) -> None:
        super().__init__("recorder", ENTRIES)

    def setup(self, robot: Robot) -> None:
        path = Path(self.parameters["file"])
        if not path.name or path.is_dir():
            raise InputError(f"parameter 'file' is '{path}'; allowed: the path of a file to write")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = McapFile(path)
        except OSError as error:
            raise InputError(f"parameter 'file': {path} cannot be written: {error.strerror}") from None
        self._counts: dict[str, int] = {}
        self._waiting: list[tuple[int, int, bytes]] = []  # arrival [ns], channel, record
        for topics, qos, latched in ((TOPICS, ANY, False), (LATCHED_TOPICS, LATCHED, True)):
            for topic, kind in topics.items():
                self._record(topic, kind, qos, latched)

    def _record(self, topic: str, kind: type, qos: QoSProfile, latched: bool) -> None:
        name = f"{kind.__module__.split('.')[0]}/{kind.__name__}"
        full = self.resolve_topic_name(topic)
        channel = self._file.channel(full, name, latched=latched, schema=schema(name))
        self._counts[full] = 0

        def keep(data: bytes, arrived: int) -> None:
            count = self._counts[full] = self._counts[full] + 1
            head = struct.pack("<BQHIQQ", Opcode.MESSAGE, 22 + len(data), channel, count, arrived, arrived)
            self._waiting.append((arrived, channel, head + data))

        self.inbox.subscribe(kind, topic, qos, keep, raw=True, timed=True)

    def teardown(self) -> None:
        self._file.close()

    def loop(self) -> None:
        try:
            written = time.monotonic()
            while self.running:
                self.inbox.wait(EVERY)
                self.inbox.poll()
                if time.monotonic() - written > EVERY:
                    self._flush()
                    written = time.monotonic()
        finally:
            self._flush()

    def _flush(self) -> None:
        """In the order of arrival, whatever the order in which the topics were looked at."""
        if not self._waiting:
            return
        batch = Batch()
        for arrived, channel, record in sorted(self._waiting, key=itemgetter(0)):
            batch.mark(channel, np.array([arrived]), np.array([batch.size]))
            batch.put(record)
        self._file.write(batch)
        self._waiting = []

    def diagnose(self) -> tuple[str, dict[str, object]]:
        return "", {"messages": sum(self._counts.values())}
