"""A finished run as a web page of its own: the scene with a time slider, played by viser's client from one file."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import viser
from viser.infra import StateSerializer

from humanoid_balance.experiments import replay
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.viewer.moment import TrueMoments
from humanoid_balance.viewer.stage import Stage

if TYPE_CHECKING:
    from humanoid_balance.experiments.push import PushRun

RATE = 30.0  # pictures a second
BEFORE, AFTER = 0.5, 1.0  # shown before the first push and after the robot is quiet or down [s]


def page(done: PushRun, pushes: list[PushProfile]) -> str:
    """The HTML of the replay; needs no server and no network."""
    with _recorded(done, pushes) as serializer:
        return serializer.as_html()


def data(done: PushRun, pushes: list[PushProfile]) -> bytes:
    """The replay alone, in viser's format."""
    with _recorded(done, pushes) as serializer:
        return serializer.serialize()


def rows(done: PushRun, pushes: list[PushProfile]) -> list[int]:
    """Rows of the record that are shown, evenly spaced in time."""
    time = done.record["time"]
    first = max(float(time[0]), min((p.start for p in pushes), default=0.0) - BEFORE)
    last = min(float(time[-1]), replay.settled(done, pushes) + AFTER)
    shown = np.searchsorted(time, np.arange(first, last + 0.5 / RATE, 1 / RATE))
    return [int(k) for k in np.clip(shown, 0, len(time) - 1)]


@contextlib.contextmanager
def _recorded(done: PushRun, pushes: list[PushProfile]) -> Iterator[StateSerializer]:
    """Everything that a visitor of a server would have been sent. Nobody can visit: it listens to this machine only."""
    robot, moments = done.record.robot, TrueMoments(done)
    quiet = contextlib.redirect_stdout(io.StringIO())  # viser tells about its server
    with quiet:
        server = viser.ViserServer("127.0.0.1", 0, verbose=False)
        try:
            stage = Stage(server, robot, done.plant.options.world)
            stage.look_from(server.initial_camera)
            shown = rows(done, pushes)
            stage.show(moments.at(shown[0]), clock=True)
            serializer = server.get_scene_serializer()
            for k in shown:
                stage.show(moments.at(k), clock=True)
                serializer.insert_sleep(1 / RATE)
            yield serializer
        finally:
            server.stop()
