"""What can go wrong around gzserver: each a clear error and a clean state, no process and no port left behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.plants.gazebo.plant import GazeboPlant
from humanoid_balance.plants.gazebo.server import GazeboServer
from humanoid_balance.plants.gazebo.world import sdf_world
from humanoid_balance.plants.protocol import FROM_BOARD, Decoder, Identify, Identity, Mode, Sender, State
from humanoid_balance.plants.serial import SerialPlant
from humanoid_balance.plants.world import World
from humanoid_balance.robot import registry
from humanoid_balance.stack import simulated
from humanoid_balance.types import TorqueCommand

CLI = (sys.executable, "-c", "import sys; from humanoid_balance.cli import main; sys.exit(main())")


def servers(parent: int) -> set[int]:
    """Process ids of the gzservers that a process has started."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            if name == "gzserver" and int(rest.split()[1]) == parent:
                found.add(int(folder.name))
        except OSError:
            continue
    return found


def runs(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def wait_until(condition, seconds: float = 30.0) -> bool:  # type: ignore[no-untyped-def]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.fixture
def server() -> Iterator[GazeboServer]:
    with GazeboServer(sdf_world(registry.load("g1"), World())) as server:
        yield server


def test_gzserver_killed_in_a_run(g1: GazeboPlant) -> None:
    loop = simulated(g1.robot, g1)
    for _ in range(50):
        loop.tick()
    g1.server.process.kill()
    with pytest.raises(InputError, match=r"socket://127\.0\.0\.1"):
        for _ in range(50):
            loop.tick()
    g1.close()
    assert g1.server.process.poll() is not None
    assert free(g1.server.port)


@pytest.fixture
def run() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A push experiment in a process of its own, and its gzserver."""
    options = ["--plant", "gazebo", "--robot", "g1", "--force", "0", "--duration", "0", "--direction", "0"]
    with subprocess.Popen([*CLI, "push", *options, "--time", "60"], stderr=subprocess.PIPE) as process:
        try:
            assert wait_until(lambda: servers(process.pid))
            (server,) = servers(process.pid)
            time.sleep(3.0)
            yield process, server
        finally:
            process.kill()


def test_controller_killed_in_a_run(run: tuple[subprocess.Popen[bytes], int]) -> None:
    process, server = run
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert wait_until(lambda: not runs(server), 5.0)


def test_interrupt_ends_it_all(run: tuple[subprocess.Popen[bytes], int]) -> None:
    process, server = run
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Traceback" not in told
    assert not runs(server)


def test_host_that_leaves_stops_the_board_and_the_next_one_is_served(server: GazeboServer) -> None:
    robot = registry.load("g1")
    with SerialPlant(robot, [server.url], lockstep=True) as plant:
        plant.arm()
    with SerialPlant(robot, [server.url], lockstep=True, timeout=10.0) as plant:
        assert wait_until(lambda: plant.read_modes() == (Mode.STOPPED,))
        plant.reset()
        off = TorqueCommand.damp(0.0, np.zeros(robot.n))

        def disarmed() -> bool:
            plant.write(off)
            return plant.read_modes() == (Mode.DISARMED,)

        assert wait_until(disarmed)
        plant.unread()
        plant.arm()
        assert plant.modes == (Mode.DAMPING,)


def test_a_second_host_is_turned_away(server: GazeboServer) -> None:
    robot = registry.load("g1")
    with SerialPlant(robot, [server.url], lockstep=True) as plant:
        with closing(socket.create_connection(("127.0.0.1", server.port))) as second:
            second.settimeout(5.0)
            assert second.recv(1) == b""
        plant.arm()


def test_garbage_is_dropped(server: GazeboServer) -> None:
    noise = np.random.default_rng(0).bytes(200_000)
    with closing(socket.create_connection(("127.0.0.1", server.port))) as host:
        host.sendall(noise)
        host.sendall(b"\0" + Sender().encode(Identify(), 1))
        host.settimeout(10.0)
        decoder, seen = Decoder(FROM_BOARD), []
        while not any(isinstance(frame, Identity) for frame in seen):
            seen += [packet.frame for packet in decoder.feed(host.recv(65536))]
    assert all(frame.mode is Mode.UNCONFIGURED for frame in seen if isinstance(frame, State))
    assert server.process.poll() is None


def test_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} on the loopback cannot be had: Address already in use"):
            GazeboServer(sdf_world(registry.load("g1"), World(), port))
    assert not servers(os.getpid())


def test_free_running_robot_brakes_when_its_host_falls_silent(server: GazeboServer) -> None:
    robot = registry.load("g1")
    with SerialPlant(robot, [server.url], 0.002) as plant:
        plant.arm(timeout=10.0)
        assert wait_until(lambda: plant.read_modes() == (Mode.LAPSED,), 5.0)  # reading only
        assert wait_until(lambda: plant.read_modes() == (Mode.OFF,), 5.0)
        plant.stop()
        assert wait_until(lambda: plant.read_modes() == (Mode.STOPPED,), 5.0)


def test_without_set_up_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment = os.environ | {"HUMANOID_BALANCE_GAZEBO": str(tmp_path)}
    options = ["--plant", "gazebo", "--force", "0", "--duration", "0", "--direction", "0"]
    done = subprocess.run([*CLI, "push", *options], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "make gazebo" in done.stderr and len(done.stderr.splitlines()) == 1
