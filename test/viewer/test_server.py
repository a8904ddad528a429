"""The page's server takes what our thread writes while its own thread sends."""

from __future__ import annotations

import asyncio

from humanoid_balance.viewer.server import PageServer, Wake


def test_a_write_from_another_thread_leaves_the_waiters_to_the_loop() -> None:
    """asyncio's own event walks over the waiters there, while the loop adds and removes some."""

    async def scenario() -> None:
        event = Wake()
        waiter = asyncio.create_task(event.wait())
        await asyncio.sleep(0)
        await asyncio.to_thread(event.set)
        await asyncio.sleep(0.01)
        assert event.is_set() and not waiter.done()
        event.set()  # what viser queues on the loop wakes them, though the flag is set already
        assert await asyncio.wait_for(waiter, 10.0)
        assert await asyncio.wait_for(event.wait(), 10.0)  # and who comes later does not wait

    asyncio.run(scenario())


def test_the_servers_messages_use_it_and_nothing_leaves_the_machine() -> None:
    server = PageServer("127.0.0.1", 0, "test")
    try:
        assert isinstance(server._websock_server._broadcast_buffer.message_event, Wake)
        assert server.request_share_url() is None
    finally:
        server.stop()
