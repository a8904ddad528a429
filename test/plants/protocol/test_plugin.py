"""The Gazebo plugin's C++ speaks the same bytes and keeps the same modes as the Python board; no Gazebo needed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from humanoid_balance.plants.protocol import (
    FROM_BOARD,
    BoardFault,
    BoardMachine,
    Configure,
    Decoder,
    EmergencyStop,
    Imu,
    Joint,
    Mode,
    Packet,
    Sender,
    WireCommand,
    WireFrame,
    WireReset,
)
from humanoid_balance.plants.protocol.vocabulary import COMMANDED_MODES

SOURCES = Path(__file__).parents[3] / "gazebo" / "src"
JOINTS = [Joint(i, 2, "ab"[i], -1.0, 1.0, 10.0, 50.0, 90.0, 36.0, 58.0, 1e-5, 1e-3) for i in range(2)]

# Lines "TIME HEX" are bytes from the host, "TIME close" is the port closing, "TIME tick" a physics step; after each the
# mode. "imu" prints one frame as the plugin sends it.
SHIM = r"""
#include <cstdio>
#include <iostream>
#include "board.hpp"
#include "wire.hpp"
using namespace humanoid_balance;
int main()
{
  std::vector<JointRow> rows;
  for (const char *name : {"a", "b"})
    rows.push_back({name, -1, 1, 10, 50, 90, 36, 58, 1e-5f, 1e-3f});
  Board board(rows, 1.0);
  Decoder decoder;
  Sender sender;
  uint64_t now;
  std::string what;
  while (std::cin >> now >> what)
  {
    if (what == "imu")
    {
      Writer payload;
      for (int k = 0; k < 6; ++k)
        payload.Put<float>(k);
      Bytes out;
      sender.Append(out, kImu, now, payload.bytes);
      for (uint8_t byte : out)
        std::printf("%02x", byte);
      std::printf("\n");
      continue;
    }
    if (what == "close")
      board.PortClosed(now);
    else if (what == "tick")
      board.Tick(now, {0.0, 0.0}, {0.0, 0.0});
    else
    {
      Bytes data;
      for (size_t k = 0; k + 1 < what.size(); k += 2)
        data.push_back(static_cast<uint8_t>(std::stoi(what.substr(k, 2), nullptr, 16)));
      for (const Packet &packet : decoder.Feed(data.data(), data.size()))
        board.Receive(packet, now);
    }
    std::printf("%d %d\n", static_cast<int>(board.mode()), board.configuration() ? 1 : 0);
  }
}
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "shim.cpp").write_text(SHIM)
    sources = [str(folder / "shim.cpp"), str(SOURCES / "wire.cpp"), str(SOURCES / "board.cpp")]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-O1", f"-I{SOURCES}"]
    subprocess.run([compiler, *flags, "-o", str(folder / "shim"), *sources], check=True)
    return folder / "shim"


def talk(plugin: Path, lines: list[str]) -> list[str]:
    done = subprocess.run([plugin], input="\n".join(lines), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_its_frames_stand_between_two_zeros(plugin: Path) -> None:
    wires = [bytes.fromhex(line) for line in talk(plugin, ["1000 imu", "2000 imu"])]
    frame = Imu(np.array([0.0, 1.0, 2.0]), np.array([3.0, 4.0, 5.0]))
    sender = Sender()
    assert wires == [sender.encode(frame, 1000), sender.encode(frame, 2000)]
    assert all(wire[0] == 0 and wire[-1] == 0 for wire in wires)
    assert len(Decoder(FROM_BOARD).feed(wires[0] + b"noise" + wires[1])) == 2


def test_noise_in_front_of_a_disarm_does_not_keep_it_working(plugin: Path) -> None:
    sender = Sender()
    zero = np.zeros(2)
    configure = Configure(BoardMachine(JOINTS, True).table, 1000, False, zero + 50.0, zero + 1.0)
    frames: list[WireFrame] = [
        configure,
        WireCommand.idle(Mode.DAMPING, 10, 2),
        WireCommand(Mode.TORQUE, 10, np.ones((1, 2))),
        WireCommand.idle(Mode.DISARMED, 10, 2),
    ]
    wires = [sender.encode(frame, 20) for frame in frames]
    told = talk(plugin, [f"20 {wire.hex()}" for wire in (*wires[:3], b"\x91", wires[3])])
    assert [int(line.split()[0]) for line in told] == [1, 2, 3, 3, 1]


@pytest.mark.parametrize("seed", range(5))
def test_its_modes_are_those_of_the_python_board(plugin: Path, seed: int) -> None:
    """Random frames, ticks and closing ports: the same mode, and a configuration or none, after each."""
    rng = np.random.default_rng(seed)
    machine, sender, zero = BoardMachine(JOINTS, simulator=True), Sender(), np.zeros(2)
    configure = Configure(machine.table, 1000, False, zero + 50.0, zero + 1.0)
    lines: list[str] = []
    expected: list[str] = []
    now = 1_000_000
    rows = {Mode.TORQUE: 1, Mode.IMPEDANCE: 5}
    for _ in range(3000):
        now += int(rng.choice([0, 1000, 1000, 5000, 21_000, 510_000], p=[0.3, 0.3, 0.2, 0.16, 0.03, 0.01]))
        choice = rng.choice(["command", "command", "command", "configure", "reset", "stop", "close", "tick", "tick"],
                            p=[0.25, 0.2, 0.2, 0.05, 0.05, 0.01, 0.02, 0.12, 0.1])  # fmt: skip
        if choice == "close":
            machine.port_closed(now)
            lines.append(f"{now} close")
        elif choice == "tick":
            machine.tick(now, False, False)
            lines.append(f"{now} tick")
        else:
            mode = COMMANDED_MODES[int(rng.integers(4))]
            command = WireCommand(mode, now - int(rng.choice([0, 5000, 25_000], p=[0.7, 0.25, 0.05])),
                              np.ones((rows.get(mode, 0), 2)))  # fmt: skip
            frame: WireFrame = {
                "command": command,
                "configure": configure,
                "reset": WireReset(),
                "stop": EmergencyStop(),
            }[choice]
            machine.receive(Packet(frame, 0, now), now)
            lines.append(f"{now} {sender.encode(frame, now).hex()}")
        expected.append(f"{machine.mode.value} {int(machine.configure is not None)}")
    assert talk(plugin, lines) == expected
    assert {line.split()[0] for line in expected} >= {str(mode.value) for mode in Mode if mode is not Mode.LAPSED}


def test_port_closed_is_a_fault_of_armed_boards_only() -> None:
    machine, zero = BoardMachine(JOINTS, simulator=False), np.zeros(2)
    configure = Configure(machine.table, 1000, False, zero + 50.0, zero + 1.0)
    for armed in (False, True):
        machine.receive(Packet(configure, 0, 0), 0)
        if armed:
            machine.receive(Packet(WireCommand.idle(Mode.DAMPING, 0, 2), 0, 0), 0)
        machine.port_closed(0)
        assert machine.mode is (Mode.STOPPING if armed else Mode.UNCONFIGURED)
        assert bool(machine.faults) is armed and (machine.configure is not None) is armed
    assert machine.faults == BoardFault.PORT_CLOSED
