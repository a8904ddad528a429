"""Processes that work for this one: they leave interrupts to it, end when called off, and never outlive it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection, resource_tracker
from typing import Any

START = multiprocessing.get_context("spawn")

_stop: Any = None  # in a worker: an event, set when the work is called off


class Stopped(Exception):
    """The work was called off."""


def check(_: float = 0.0) -> None:
    """Called by a worker now and then."""
    if _stop is not None and _stop.is_set():
        raise Stopped


@contextmanager
def crew(count: int, begin: Callable[..., None] | None = None, *arguments: Any) -> Iterator[ProcessPoolExecutor]:
    """A pool of workers, each of which calls ``begin`` first. An exception in the block calls them off."""
    stop = START.Event()
    with ProcessPoolExecutor(count, START, _begin, (stop, begin, arguments)) as pool:
        try:
            yield pool
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _begin(stop: Any, begin: Callable[..., None] | None, arguments: tuple[Any, ...]) -> None:
    global _stop
    _stop = stop
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    if begin is not None:
        begin(*arguments)


@contextmanager
def quiet_start() -> Iterator[None]:
    """Processes started here leave interrupts to us."""
    resource_tracker.ensure_running()  # the first process starts it, and that would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _leave_with_parent() -> None:
    """Whatever ends the main process ends this one."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
