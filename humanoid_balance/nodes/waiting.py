"""Services that take a while: the callback waits for something without holding up the executor.

Such a callback is a coroutine in a callback group of its own (``ReentrantCallbackGroup``). rclpy goes on with a
coroutine in every round of the executor; the short sleep keeps these rounds from taking the loop's interpreter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any

from rclpy.client import Client

PAUSE = 0.002  # [s]
ANSWER = 1.5  # another node gets so long to answer [s]
AGAIN = 0.7  # then it is asked again [s]
DISCOVERY = 6.0  # of nodes that have just started: what fails once is repeated after 3 s [s]


class _Pause:
    """Lets the executor do its round."""

    def __await__(self) -> Generator[None, None, None]:
        time.sleep(PAUSE)
        yield


async def until(true: Callable[[], bool], seconds: float) -> bool:
    """Wait for something; False if it did not come in time."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        await _Pause()
    return True


async def ask(client: Client, request: Any, seconds: float = ANSWER) -> str:
    """Call a service with ``success`` and ``message``; the reason of a refusal, or empty.

    The request is repeated: one to a node that has just been started anew may still go to the one that was killed.
    """
    if not await until(client.service_is_ready, seconds):
        return f"{client.srv_name} is not there"
    futures: list[Any] = []
    end, again = time.monotonic() + seconds, 0.0

    def answered() -> bool:
        nonlocal again
        if time.monotonic() >= again:
            again = time.monotonic() + AGAIN
            futures.append(client.call_async(request))
        return any(future.done() for future in futures)

    came = await until(answered, end - time.monotonic())
    answer = next((future.result() for future in futures if future.done()), None)
    for future in futures:
        client.remove_pending_request(future)
    if not came or answer is None:
        return f"{client.srv_name} did not answer within {seconds:g} s"
    return "" if answer.success else answer.message or f"{client.srv_name} refused"
