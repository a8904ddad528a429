"""A Dask cluster that does the work: a worker that dies loses nothing but the time, another one does its task again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from humanoid_balance.errors import InputError

CONNECT = 10.0  # a cluster is given up after this time [s]


class Cluster:
    """Sends calls to the workers of a scheduler, each of which must be able to import this package."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def done(self, call: Callable[..., Any], arguments: list[Any]) -> Iterator[Any]:
        """Results of ``call(argument)`` as they come."""
        from distributed import as_completed

        with self._sent(call, arguments) as tasks:
            for task in as_completed(tasks):
                yield task.result()
                task.release()

    def map(self, call: Callable[..., Any], arguments: list[Any]) -> list[Any]:
        """Results in the order of the arguments."""
        with self._sent(call, arguments) as tasks:
            results: list[Any] = self._client.gather(tasks)
            return results

    @contextmanager
    def _sent(self, call: Callable[..., Any], arguments: list[Any]) -> Iterator[list[Any]]:
        tasks = [self._client.submit(call, argument, pure=False) for argument in arguments]
        try:
            yield tasks
        except BaseException:
            self._client.cancel(tasks)
            raise


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--cluster needs Dask: pip install 'humanoid_balance[dask]'") from None
    try:
        client = Client(address, timeout=CONNECT)
    except (OSError, ValueError) as error:
        raise InputError(f"--cluster {address}: no scheduler answers: {' '.join(str(error).split())}") from None
    with client:
        yield Cluster(client)
