"""A finished run as a web page of its own: the scene with a time slider, played by viser's client from one file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
from viser.infra import StateSerializer

from humanoid_balance.figures import playback as replay
from humanoid_balance.recording.run import Run
from humanoid_balance.viewer.moment import TrueMoments
from humanoid_balance.viewer.server import PageServer
from humanoid_balance.viewer.stage import Scene

RATE = 30.0  # pictures a second
AFTER = 1.0  # shown after the robot is quiet or down [s]


def page(run: Run) -> str:
    """The HTML of the replay; needs no server and no network."""
    with _recorded(run) as serializer:
        return serializer.as_html()


def data(run: Run) -> bytes:
    """The replay alone, in viser's format."""
    with _recorded(run) as serializer:
        return serializer.serialize()


def rows(run: Run) -> list[int]:
    """Rows of the record that are shown, from its beginning: the player's slider then shows the time of the run."""
    time = run.record["time"]
    last = min(float(time[-1]), replay.settled(run) + AFTER)
    shown = np.searchsorted(time, np.arange(float(time[0]), last + 0.5 / RATE, 1 / RATE))
    return [int(k) for k in np.clip(shown, 0, len(time) - 1)]


@contextlib.contextmanager
def _recorded(run: Run) -> Iterator[StateSerializer]:
    """Everything that a visitor of a server would have been sent. Nobody can visit: it listens to this machine only."""
    robot, moments = run.robot, TrueMoments(run)
    server = PageServer("127.0.0.1", 0, "replay")
    try:
        stage = Scene(server, robot, run.settings.world)
        stage.look_from(server.initial_camera)
        shown = rows(run)
        stage.show(moments.at(shown[0]), clock=True)
        serializer = server.get_scene_serializer()
        for k in shown:
            stage.show(moments.at(k), clock=True)
            serializer.insert_sleep(1 / RATE)
        yield serializer
    finally:
        server.stop()
