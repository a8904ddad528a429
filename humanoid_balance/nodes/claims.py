"""One plant, one estimator and one controller per namespace: who is active says so, who comes second is refused.

Topic ``claims``, std_msgs/String: node, process, roles and since when, five times a second. A list of publishers
would not do: a process that was killed stands in it for twenty seconds, and its successor must not wait for that.
"""

from __future__ import annotations

import os
import time
import uuid
from dataclasses import dataclass

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from humanoid_balance.nodes.inbox import Inbox

TOPIC = "claims"
LISTEN = 0.8  # a claim is heard within this time: to be found, and three of them [s]
VALID = 0.7  # a claim counts for so long, three of them missed [s]
CLAIMS = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
PLANT, ESTIMATOR, CONTROLLER = "plant", "estimator", "controller"


@dataclass(frozen=True)
class Claim:
    """Of one active node."""

    node: str
    process: str
    since: int  # system clock [ns]
    roles: frozenset[str]

    @property
    def text(self) -> str:
        return " ".join((self.node, self.process, str(self.since), *sorted(self.roles)))

    @staticmethod
    def of(text: str) -> Claim | None:
        node, process, since, *roles = [*text.split(), "", "", ""]
        return Claim(node, process, int(since), frozenset(filter(None, roles))) if since.isdecimal() else None


class Claims:
    """Of a node with ``roles``; all methods from the executor's thread."""

    def __init__(self, node: Node, roles: tuple[str, ...]) -> None:
        self._node, self._roles = node, frozenset(roles)
        self._process = f"{os.getpid()}.{uuid.uuid4().hex[:8]}"
        self._made = time.monotonic()
        self._heard: dict[str, tuple[Claim, float]] = {}  # by process, with the time on the steady clock [s]
        self._own: Claim | None = None
        if roles:
            self._publisher = node.create_publisher(String, TOPIC, CLAIMS)
            self._inbox = Inbox(node)
            self._inbox.subscribe(String, TOPIC, CLAIMS, self._on_claim)

    def _on_claim(self, message: String) -> None:
        claim = Claim.of(message.data)
        if claim is not None and claim.process != self._process and claim.roles & self._roles:
            self._heard[claim.process] = (claim, time.monotonic())

    def _rivals(self) -> list[Claim]:
        self._inbox.poll()
        self._heard = {k: v for k, v in self._heard.items() if time.monotonic() - v[1] < VALID}
        return [claim for claim, _ in self._heard.values()]

    def refused(self) -> str:
        """Whether a node may become active: empty, or who is there already. Waits until that would be known."""
        if not self._roles:
            return ""
        while (left := self._made + LISTEN - time.monotonic()) > 0.0:
            self._inbox.wait(left)
            self._inbox.poll()
        return _told(self._rivals()[:1], self._roles)

    def hold(self) -> str:
        """Five times a second while the node is active; who has an older claim, or empty."""
        if not self._roles:
            return ""
        if self._own is None:
            self._own = Claim(self._node.get_fully_qualified_name(), self._process, time.time_ns(), self._roles)
        self._publisher.publish(String(data=self._own.text))
        return _told(
            [c for c in self._rivals() if (c.since, c.process) < (self._own.since, self._process)], self._roles
        )

    def drop(self) -> None:
        """The node is not active any more."""
        self._own = None


def _told(rivals: list[Claim], roles: frozenset[str]) -> str:
    if not rivals:
        return ""
    rival = rivals[0]
    shared = ", ".join(sorted(rival.roles & roles))
    return f"'{rival.node}' (process {rival.process.split('.')[0]}) is already the {shared} of this namespace"
