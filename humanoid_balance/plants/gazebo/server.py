"""A ``gzserver`` process with one world, from its start until its port listens, and its end."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from humanoid_balance.errors import InputError
from humanoid_balance.plants.gazebo import home as gazebo_home

START = 60.0  # longest wait for the world to be loaded [s]
LOOK = 0.02  # how often the log is read meanwhile [s]
LISTENS = re.compile(r"humanoid_balance: board '.*' listens on port (\d+)")
COMPLAINT = re.compile(r"humanoid_balance: (?!board)(.*)|\[Err\].*?\] (.*)")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class GazeboServer:
    """Runs until ``close``, or until this process ends, however it ends."""

    def __init__(self, world: str) -> None:
        """``world`` is a whole SDF."""
        home = gazebo_home.find()
        self._folder = Path(tempfile.mkdtemp(prefix="humanoid_balance_", dir=home.scratch))
        self._folder.chmod(0o755)
        file, self.log = self._folder / "robot.world", self._folder / "gzserver.log"
        file.write_text(world, encoding="utf-8")
        start = home.command("gzserver", "--verbose", home.inside(file))
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *start],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | environment(home),
                start_new_session=True,  # an interrupt at the terminal is for us; we end it
            )
        try:
            self.port = self._await_port()
        except BaseException:
            self.close()
            raise

    def _await_port(self) -> int:
        deadline = time.monotonic() + START
        while True:
            ended = self.process.poll() is not None
            found = LISTENS.search(self.log.read_text(errors="replace"))
            if found:
                return int(found[1])
            if ended:
                raise InputError(f"gazebo: gzserver ended while it was starting: {self.complaint()}")
            if time.monotonic() > deadline:
                raise InputError(f"gazebo: gzserver did not load its world within {START:g} s: {self.complaint()}")
            time.sleep(LOOK)

    @property
    def url(self) -> str:
        """What a serial plant opens."""
        return f"socket://127.0.0.1:{self.port}"

    def complaint(self) -> str:
        """The last error that it logged."""
        text = COLOUR.sub("", self.log.read_text(errors="replace"))
        found = [told or error for told, error in COMPLAINT.findall(text)]
        return " ".join(found[-1].split()) if found else "it says nothing"

    def close(self) -> None:
        """End the process. There is nothing to be saved, so it is not asked."""
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> GazeboServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def environment(home: gazebo_home.Home) -> dict[str, str]:
    """Variables for gzserver: on the loopback alone, with our plugin, without the model data base.

    Where its own tools find it is up to GAZEBO_MASTER_URI, as usual; else it takes a free port, so that many can run.
    """
    return {
        "GAZEBO_MASTER_URI": os.environ.get("GAZEBO_MASTER_URI", f"http://127.0.0.1:{_free_port()}"),
        "GAZEBO_IP": "127.0.0.1",
        "GAZEBO_PLUGIN_PATH": str(home.plugin),
        "GAZEBO_MODEL_DATABASE_URI": "",
        "LD_PRELOAD": str(home.plugin / gazebo_home.ODE),
        "HOME": "/tmp",
        "LC_ALL": "C",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
