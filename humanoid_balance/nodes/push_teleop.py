"""Walk a robot and push a simulated one: by keyboard, by joystick, or by a list of pushes with a CSV of outcomes.

It publishes ``cmd_vel`` while somebody wants to walk, and ``push``, which only simulators obey.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import PointStamped, Twist, TwistStamped, Vector3Stamped, WrenchStamped
from sensor_msgs.msg import Joy
from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool, Trigger

from humanoid_balance.nodes import push_script, walk_hand, wishes
from humanoid_balance.nodes.box_node import BoxNode
from humanoid_balance.nodes.parameters import Entry
from humanoid_balance.nodes.push_hand import HELP, QUIT, Joystick, Keyboard, NextPush
from humanoid_balance.nodes.push_script import CsvFile, PushOutcome, Watcher, samples
from humanoid_balance.nodes.qos import COMMAND, LATCHED, PUSH, SHOWN
from humanoid_balance.nodes.walk_hand import WalkHand
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.ros import push as ros_push
from humanoid_balance.plants.ros.stamps import from_time, to_time
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

TURN = 0.02  # of the loop [s]
SEND = 0.1  # between two velocities [s]: five of them within the time after which a robot stops
AHEAD = 0.5  # a push of the list is announced so long before it begins [s]
WAIT = 30.0  # for the robot to stand [s]

ENTRIES = (
    Entry("input", "keyboard", "who walks and pushes", choices=("keyboard", "joy", "script")),
    Entry("force", 100.0, "of the first push [N]", 0.0, 2000.0),
    Entry("duration", 0.1, "of a push by hand [s]", 0.01, 10.0),
    Entry("speed", 0.5, "of a walk at full stick or after five presses of a key [m/s]", 0.0, 3.0),
    Entry("turn", 0.6, "the same for turning [rad/s]", 0.0, 3.0),
    *wishes.ENTRIES,
    Entry("script", "", "YAML file with the list of pushes"),
    Entry("csv", "pushes.csv", "where the outcomes of the list go"),
    Entry("controller", "balance_stack", "node whose services arm and reset the controller"),
    Entry("simulator", "balance_stack", "node whose service puts a fallen robot on its feet"),
    Entry("estimator", "", "node whose service starts the estimate anew after that; none: it is part of the others"),
)


class PushTeleop(BoxNode):
    """See the module."""

    def __init__(self) -> None:
        super().__init__("push_teleop", ENTRIES)

    def setup(self, robot: Robot) -> None:
        p = self.parameters
        self.source: str = p["input"]
        self.hand = NextPush(p["force"], p["duration"])
        self.walk, self._stamped, self._sent = WalkHand(p["speed"], p["turn"]), p["stamped_cmd_vel"], 0.0
        self.keyboard = Keyboard() if self.source == "keyboard" else None
        self.joystick, self.asked = Joystick(), False
        self.script = push_script.load(Path(p["script"])) if self.source == "script" else None
        self.csv = CsvFile(Path(p["csv"])) if self.source == "script" else None
        self.mode, self.fell, self.stamp = "", False, float("nan")
        self.com, self.velocity = np.zeros(3), np.zeros(3)
        self.watcher: Watcher | None = None
        self._line = ""  # of the status, as it stands there
        self._velocities = self.create_publisher(TwistStamped if self._stamped else Twist, wishes.VELOCITY, COMMAND)
        self._pushes = self.create_publisher(WrenchStamped, ros_push.TOPIC, PUSH)
        subscribe = self.inbox.subscribe
        subscribe(String, "balance/mode", LATCHED, self._on_mode)
        subscribe(Bool, f"{p['simulator']}/fell", LATCHED, self._on_fell)
        subscribe(Vector3Stamped, "com_velocity", SHOWN, self._on_velocity)
        subscribe(PointStamped, "com", SHOWN, self._on_com)
        subscribe(Joy, "joy", SHOWN, self._on_joy)
        self._reset = self.create_client(Trigger, f"{p['controller']}/reset")
        self._put_up = self.create_client(Trigger, f"{p['simulator']}/reset")
        self._anew = self.create_client(Trigger, f"{p['estimator']}/reset") if p["estimator"] else None
        self._arm = self.create_client(SetBool, f"{p['controller']}/arm")

    def teardown(self) -> None:
        if self.csv is not None:
            self.csv.close()

    # ---- what the robot tells ----

    def _on_mode(self, message: String) -> None:
        self.mode = message.data
        if self.watcher is not None:
            self.watcher.see_mode(self.mode)

    def _on_fell(self, message: Bool) -> None:
        self.fell = message.data

    def _on_velocity(self, message: Vector3Stamped) -> None:
        self.velocity = np.array((message.vector.x, message.vector.y, message.vector.z))

    def _on_com(self, message: PointStamped) -> None:
        self.stamp = from_time(message.header.stamp)
        self.com = np.array((message.point.x, message.point.y, message.point.z))
        if self.watcher is not None:
            self.watcher.see_com(self.stamp, self.com, self.velocity)

    def _on_joy(self, message: Joy) -> None:
        self.asked = self.joystick.see(message, self.hand) or self.asked
        self.walk.see(message)

    # ---- by hand ----

    def loop(self) -> None:
        if self.script is not None:
            self._play()
            self.finished = True
        elif self.keyboard is not None:
            with self.keyboard:
                self._by_hand()
        else:
            self._by_hand()

    def _by_hand(self) -> None:
        self._tell(HELP[self.source] + "\n")
        self._tell(walk_hand.HELP + "\n")
        while self.running:
            if self.keyboard is not None:
                for key in self.keyboard.keys(TURN):
                    self.asked = self.hand.key(key) or self.asked
                    self.walk.key(key)
                    self.finished = self.finished or key in QUIT
            else:
                self.inbox.wait(TURN)
            self.inbox.poll()
            self._status("")
            self._send_velocity()
            if self.asked:
                self.asked = False
                self._push_now(self.hand.push())
            if self.finished:
                return

    def _status(self, doing: str) -> None:
        """What the next push will be, and how the robot is; one line that is written anew when it changes."""
        robot = "fell" if self.fell else self.mode or "silent"
        speed = float(np.linalg.norm(self.velocity[:2]))
        line = f"{self.hand}   {self.walk}   robot: {robot}, {speed:.2f} m/s   {doing}".rstrip()
        if line != self._line:
            self._line = line
            self._tell(f"\r{line}\x1b[K")  # which wipes what a longer one left

    def _send_velocity(self) -> None:
        now = time.monotonic()
        twist = self.walk.twist() if now - self._sent >= SEND else None
        if twist is not None:
            self._sent = now
            stamp = to_time(self.stamp) if self.stamp == self.stamp else TwistStamped().header.stamp
            message = TwistStamped(twist=twist) if self._stamped else twist
            if isinstance(message, TwistStamped):
                message.header.stamp, message.header.frame_id = stamp, "base_footprint"
            self._velocities.publish(message)

    def _tell(self, text: str) -> None:
        if sys.stdout.isatty():
            sys.stdout.write(text)
            sys.stdout.flush()

    def _push_now(self, push: PushProfile) -> None:
        """Without stamps: each message acts when it comes, the last one ends the push."""
        begun = time.monotonic()
        while self.running and time.monotonic() - begun < push.duration:
            self._send(push.force * push.axis, None)
            self.inbox.poll()
            self._status("pushes")
            self._send_velocity()
            time.sleep(TURN)
        self._send(0.0 * push.axis, None)

    def _send(self, force: Array, stamp: float | None) -> None:
        message = WrenchStamped()
        if stamp is not None:
            message.header.stamp = to_time(stamp)
        to = message.wrench.force
        to.x, to.y, to.z = force.tolist()
        self._pushes.publish(message)

    # ---- by list ----

    def _play(self) -> None:
        assert self.script is not None and self.csv is not None
        for k, push in enumerate(self.script.pushes):
            if not self._robot_stands():
                self.latch(f"push {k + 1}: the robot does not stand (mode '{self.mode or 'silent'}')")
                return
            outcome = self._play_one(k + 1, push, self.script.rest)
            if outcome is None:
                return
            self.csv.add(outcome)
            recovered = "fell" if outcome.fell else f"recovered after {outcome.recovery_time} s"
            self.log.info(f"push {k + 1} of {len(self.script.pushes)}: {push.force:g} N: {recovered}, {outcome.modes}")

    def _play_one(self, number: int, push: PushProfile, rest: float) -> PushOutcome | None:
        start = self.stamp + AHEAD
        outcome = PushOutcome(
            number, push.force, push.duration, push.direction, push.impulse, push.impulse / self.robot.mass, start
        )
        self.watcher = Watcher(outcome, self.com)
        self.watcher.see_mode(self.mode)
        for after, force in samples(push):
            self._send(force, start + after)
        if not self._until(lambda: self.stamp >= start + push.duration + rest or self.fell):
            return None
        done, self.watcher = self.watcher.done(self.fell or self.mode in ("falling", "tripped")), None
        return done

    def _until(self, true: Any, seconds: float = float("inf")) -> bool:
        """Wait while the robot lives; False when the node is to end or the time is over."""
        end = time.monotonic() + seconds
        while not true():
            if not self.running or time.monotonic() > end:
                return False
            self.inbox.wait(TURN)
            self.inbox.poll()
        return True

    def _robot_stands(self) -> bool:
        """Wait for it; one that fell is put on its feet and armed again."""
        if self.fell or self.mode in ("tripped", "falling"):
            for client in (self._reset, self._put_up):
                client.call_async(Trigger.Request())
            self._until(lambda: not self.fell, WAIT)
            if self._anew is not None:
                self._anew.call_async(Trigger.Request())

            def armed() -> bool:
                if self.mode == "disarmed":
                    self._arm.call_async(SetBool.Request(data=True))
                return self.mode == "stable"

            return self._until(armed, WAIT)
        quiet = self._until(lambda: self.mode == "stable" and self.stamp == self.stamp, WAIT)
        return quiet and self._until(lambda: self._pushes.get_subscription_count() > 0, WAIT)
