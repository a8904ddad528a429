"""Records all topics of a robot into MCAP files, which open at every moment, also after a crash.

They read in Foxglove and PlotJuggler, with ``ros2 bag``, and with ``humanoid-balance replay``. Times are of arrival.
When every topic that a running robot has is matched, the recorder says so, in its log and on ``recorder/ready``;
simulated robots that are recorded wait for it with their first tick. What is lost is counted and reported.
"""

from __future__ import annotations

import time
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped, PoseArray, Vector3Stamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool, Float64MultiArray, String
from visualization_msgs.msg import MarkerArray

from humanoid_balance.errors import InputError
from humanoid_balance.nodes import wishes
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.inbox import BURST
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.qos import LATCHED
from humanoid_balance.recording.bag import Bag
from humanoid_balance.recording.message_schema import schema
from humanoid_balance.recording.wish_notes import VELOCITY
from humanoid_balance.robot.model import Robot

EVERY = 0.5  # batches are written so often [s]
PAUSE = 0.01  # between two looks at the queues: a thread that wakes for each message takes a core at 1 kHz [s]
LOOK = 0.05  # between two looks at the publishers, until all are there [s]
DEPTH = 20_000  # of the queues: 20 s at 1 kHz in which a busy machine does not let the recorder run
MEGABYTE = 10**6  # [B]

SENSORS: dict[str, type] = {
    "joint_states": JointState,
    "imu": Imu,
    "left_foot/wrench": WrenchStamped,
    "right_foot/wrench": WrenchStamped,
}
TOPICS: dict[str, type] = {
    **SENSORS,
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
    "balance/footsteps": PoseArray,
    "/diagnostics": DiagnosticArray,
}
LATCHED_TOPICS: dict[str, type] = {"balance/mode": String, "robot_description": String}
WISHES = tuple(wishes.kinds(stamped=False))
SHARED = ("push", "/diagnostics", *WISHES)  # by many publishers, so their numbers tell nothing
NOT_ALWAYS = ("robot_state", "push", "/diagnostics", "robot_description", *WISHES)  # there in some graphs only

ENTRIES = (
    Entry("file", "", "MCAP file to write"),
    Entry("rotate", 0.0, "size at which the next file begins, 0: one file [MB]", 0.0, 1e6),
    Entry("keep", 0, "newest files that are kept, 0: all", 0, 10_000),
    *wishes.ENTRIES,
)


class Recorder(BoxNode):
    """Takes the bytes of the messages as they are."""

    def __init__(self) -> None:
        super().__init__("recorder", ENTRIES)

    def setup(self, robot: Robot) -> None:
        path = Path(self.parameters["file"])
        if not path.name or path.is_dir():
            raise InputError(f"parameter 'file' is '{path}'; allowed: the path of a file to write")
        about = {"robot": robot.spec, "namespace": self.get_namespace().strip("/")}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._bag = Bag(path, about, round(MEGABYTE * self.parameters["rotate"]), self.parameters["keep"])
        except OSError as error:
            raise InputError(f"parameter 'file': {path} cannot be written: {error.strerror}") from None
        self._kinds = TOPICS | LATCHED_TOPICS | wishes.kinds(self.parameters["stamped_cmd_vel"])
        self._takers = {
            topic: self._bag.stream(
                self.resolve_topic_name(topic), _name(kind), schema(_name(kind)), topic in LATCHED_TOPICS,
                topic not in SHARED,
            )
            for topic, kind in self._kinds.items()
        }  # fmt: skip
        self._heard: dict[str, Subscription] = {}
        self._ready = False
        self._ready_out = self.create_publisher(Bool, "recorder/ready", LATCHED)
        for topic in self._takers:
            if topic not in SENSORS:
                self._listen(topic, ReliabilityPolicy.RELIABLE)

    def _listen(self, topic: str, reliability: ReliabilityPolicy) -> None:
        kind, late = self._kinds[topic], topic in LATCHED_TOPICS
        durability = DurabilityPolicy.TRANSIENT_LOCAL if late else DurabilityPolicy.VOLATILE
        qos = QoSProfile(depth=DEPTH, reliability=reliability, durability=durability)
        self._heard[topic] = self.inbox.subscribe(kind, topic, qos, self._takers[topic], raw=True, timed=True)

    def teardown(self) -> None:
        self._bag.close()

    def loop(self) -> None:
        written = looked = time.monotonic()
        try:
            while self.running:
                if self.inbox.poll() < BURST:
                    time.sleep(PAUSE)
                now = time.monotonic()
                if not self._ready and now - looked > LOOK:
                    self._look()
                    looked = now
                if now - written > EVERY:
                    self._bag.flush()
                    written = now
        finally:
            while self.inbox.poll() >= BURST:
                continue
            self._bag.flush()
            lost = self._bag.lost
            told = ", ".join(f"{count} of {topic}" for topic, count in lost.items()) or "none lost"
            self.log.info(f"recorded {self._bag.count} messages; {'lost: ' if lost else ''}{told}")

    def _look(self) -> None:
        """Listen to the sensors as their publishers offer it; ready when all that a running robot has is matched.

        A robot of somebody else may send best effort, and a listener who asks for more gets nothing.
        """
        for topic in SENSORS:
            if topic in self._heard:
                continue
            if publishers := self.get_publishers_info_by_topic(self.resolve_topic_name(topic)):
                offered = {publisher.qos_profile.reliability for publisher in publishers}
                sure = offered == {ReliabilityPolicy.RELIABLE}
                self._listen(topic, ReliabilityPolicy.RELIABLE if sure else ReliabilityPolicy.BEST_EFFORT)
        if not self._missing():
            self._ready = True
            self._ready_out.publish(Bool(data=True))
            self.log.info(f"ready: all topics of the robot are there; recording into {self._bag.files[0]}")

    def _missing(self) -> list[str]:
        """Topics of every running robot that nobody publishes yet."""
        wanted = [topic for topic in self._takers if topic not in NOT_ALWAYS]
        return [t for t in wanted if t not in self._heard or not self._heard[t].get_publisher_count()]

    def diagnose(self) -> tuple[str, dict[str, object]]:
        lost = self._bag.lost
        return "", {
            "ready": self._ready, "files": len(self._bag.files),
            "messages": self._bag.count, "lost": sum(lost.values()),
            **{f"lost {topic}": count for topic, count in lost.items()},
        }  # fmt: skip

    def warnings(self) -> list[str]:
        told = []
        kind = _name(self._kinds[VELOCITY])
        for publisher in self.get_publishers_info_by_topic(self.resolve_topic_name(VELOCITY)):
            if publisher.topic_type.replace("/msg/", "/") != kind:
                told.append(f"{VELOCITY} is {publisher.topic_type} here and not recorded; see stamped_cmd_vel")
        if not self._ready:
            told.append(f"waits for {', '.join(self._missing())}")
        if lost := self._bag.lost:
            topic, count = max(lost.items(), key=lambda item: item[1])
            told.append(f"{sum(lost.values())} messages lost, {count} of them of {topic}")
            self.unwell("messages are lost", f"{sum(lost.values())}; {count} of them of {topic}")
        return told


def _name(kind: type) -> str:
    return f"{kind.__module__.split('.')[0]}/{kind.__name__}"
