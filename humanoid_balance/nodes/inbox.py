"""Messages taken by the loop's own thread: no executor between a sample and the tick that uses it."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.callback_groups import CallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription

from humanoid_balance.nodes import quick

BURST = 200  # messages of a topic taken in one go: a flood must not keep the loop from its work


class _NotForTheExecutor(CallbackGroup):
    """Keeps subscriptions out of every executor's wait set; all of rclpy asks ``can_execute`` first."""

    def can_execute(self, entity: object) -> bool:
        return False

    def beginning_execution(self, entity: object) -> bool:
        return False

    def ending_execution(self, entity: object) -> None:
        """Never begun."""


class Inbox:
    """Subscriptions that one thread polls or waits for; each message goes to the handler of its topic."""

    def __init__(self, node: Node, complain: Callable[[str, str], object] = lambda what, detail: None) -> None:
        """``complain`` hears of messages that cannot be read."""
        self._node, self._group, self._complain = node, _NotForTheExecutor(), complain
        self._handlers: list[tuple[Subscription, Callable[..., object], bool]] = []
        self._guard = node.create_guard_condition(lambda: None, callback_group=self._group)

    def subscribe(
        self,
        kind: type,
        topic: str,
        qos: QoSProfile,
        handler: Callable[..., object],
        raw: bool = False,
        timed: bool = False,
    ) -> Subscription:
        """``handler`` stores what it needs; it runs in the thread that polls.

        Of a kind that comes with every tick it gets what ``quick`` makes of the bytes. ``raw`` gives it the bytes,
        ``timed`` also when they arrived, system clock [ns], and which one of its publisher's messages it is, counted
        from 1 (None where the middleware does not tell).
        """
        if not raw and (decode := quick.decoder(kind)) is not None:
            raw, handler = True, self._reading(topic, decode, handler)
        subscription = self._node.create_subscription(
            kind, topic, lambda _: None, qos, callback_group=self._group, raw=raw
        )
        self._handlers.append((subscription, handler, timed))
        self._wait_set = _rclpy.WaitSet(len(self._handlers), 1, 0, 0, 0, 0, self._node.context.handle)
        return subscription

    def _reading(self, topic: str, decode: quick.Decoder, handler: Callable[..., object]) -> Callable[..., object]:
        def handle(data: bytes, *times: object) -> None:
            try:
                message = decode(data)
            except quick.UNREADABLE as error:
                self._complain(f"{topic} refused: cannot be read", str(error))
            else:
                handler(message, *times)

        return handle

    def wait(self, seconds: float) -> None:
        """Sleep until there is a message, ``wake`` is called, or the time is over."""
        wait_set = self._wait_set
        wait_set.clear_entities()
        for subscription, _, _ in self._handlers:
            wait_set.add_subscription(subscription.handle)
        wait_set.add_guard_condition(self._guard.handle)
        wait_set.wait(max(0, round(1e9 * seconds)))

    def poll(self) -> int:
        """Hand out all messages that are there; how many they were."""
        count = 0
        for subscription, handler, timed in self._handlers:
            for _ in range(BURST):
                taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
                if taken is None:
                    break
                if timed:
                    handler(taken[0], taken[1]["received_timestamp"], taken[1]["publication_sequence_number"])
                else:
                    handler(taken[0])
                count += 1
        return count

    def wake(self) -> None:
        """End a ``wait`` from another thread."""
        self._guard.trigger()
