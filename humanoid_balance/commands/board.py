"""Run a virtual motor board with a simulated robot behind it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from humanoid_balance.commands.common import count, not_negative, print_json
from humanoid_balance.commands.push import add_push_place
from humanoid_balance.errors import InputError
from humanoid_balance.nodes.executables import Signals
from humanoid_balance.nodes.rank import PRIORITY
from humanoid_balance.nodes.realtime import QuietCollector, RealTime
from humanoid_balance.plants.board import (
    Body,
    Device,
    Disturbance,
    FaultPlan,
    ModeChange,
    PtyEndpoint,
    Server,
    TcpEndpoint,
    boards_of,
)
from humanoid_balance.plants.board.endpoint import Endpoint
from humanoid_balance.plants.board.faults import KINDS, PlannedFault
from humanoid_balance.plants.board.wiring import devices_of, endpoint_of
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.serial.config import HardwareConfig, load
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot import registry


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--robot",
        metavar="SPEC",
        help="name, name:option=value or path to a YAML; default: --wiring's, or human",
    )
    add("--wiring", type=Path, metavar="F.yaml",
        help="be the other end of this wiring file: its ports, boards, servos and calibration")  # fmt: skip
    add("--boards", type=count, default=1, metavar="N", help="share the joints among so many boards, a port each")
    add("--tcp", type=int, metavar="PORT", help="listen on this TCP port and the next ones; 0: any free ones")
    add("--link", type=Path, metavar="PATH", help="symbolic link to the pseudo-terminal; of several: PATH0, PATH1 ...")
    add("--half-duplex", action="store_true", help="speak only when spoken to, as on RS-485 with two wires")
    add("--sensor-noise", type=not_negative, default=1.0, metavar="X")
    add("--seed", type=int, default=0, help="of sensor noise and line disturbances")
    add("--hoist", type=not_negative, metavar="M", help="hang the robot so high above its stance")
    add("--push", action="append", default=[], metavar="F:D:DEG:AT",
        help="push the robot [N:s:deg:s], AT after the robot was let go; may be repeated"
    )  # fmt: skip
    add_push_place(parser)
    for field in fields(Disturbance):
        unit = "S" if field.name in ("delay", "jitter") else "P"
        add(f"--{field.name.replace('_', '-')}", type=not_negative, default=0.0, metavar=unit)
    add("--fault", action="append", default=[], metavar="KIND[:JOINT][@START[+DURATION]]",
        help=f"what goes wrong, and when after the robot was let go [s]; kinds: {', '.join(KINDS)}")  # fmt: skip
    add("--priority", type=int, choices=range(100), default=PRIORITY, metavar="P",
        help=f"SCHED_FIFO priority, where permitted; default {PRIORITY} as that of the nodes, 0: none")  # fmt: skip
    add("--json", action="store_true", help="print the ports as one JSON object")


def run(options: argparse.Namespace) -> None:
    signals = Signals()
    wiring = load(options.wiring) if options.wiring else None
    robot = registry.load(options.robot or (wiring.robot if wiring else None) or "human")
    faults = [PlannedFault.parse(text, robot.joint_names) for text in options.fault]
    pushes = [
        replace(PushProfile.parse(text), link=options.push_link, height=options.push_height) for text in options.push
    ]
    disturbance = Disturbance(**{field.name: getattr(options, field.name) for field in fields(Disturbance)})
    body = Body(robot, PlantOptions(noise=options.sensor_noise, seed=options.seed), hoist=options.hoist, pushes=pushes)
    devices, ends = wired(body, wiring, options) if wiring else plain(body, options)
    server = Server(body, devices, ends, disturbance, FaultPlan(faults), options.seed, log=tell)
    try:
        urls = [end.url for end in ends]
        if options.json:
            print_json({"robot": robot.spec, "joints": robot.n, "ports": urls})
        else:
            for device, url in zip(devices, urls, strict=True):
                print(f"{device.name}: {len(device.index)} joints of {robot.spec} at {url}")
        sys.stdout.flush()
        RealTime(options.priority).apply(lambda why: print(why, file=sys.stderr))
        with QuietCollector():  # a full collection takes 50 ms: the host would take the boards for dead
            server.run(lambda: signals.received)
    finally:
        server.close()


def plain(body: Body, options: argparse.Namespace) -> tuple[Sequence[Device], list[Endpoint]]:
    """Boards without calibration, on pseudo-terminals or TCP."""
    boards = boards_of(body, options.boards)
    for board in boards:
        board.half_duplex = options.half_duplex
    if options.tcp is not None and not 0 <= options.tcp + options.boards - 1 <= 65535:
        raise InputError(f"tcp is {options.tcp}; allowed: 0 to {65536 - options.boards}")
    ends: list[Endpoint] = []
    for k in range(options.boards):
        if options.tcp is not None:
            ends.append(TcpEndpoint(options.tcp + k if options.tcp else 0))
        elif options.link is not None and options.boards > 1:
            ends.append(PtyEndpoint(options.link.with_name(f"{options.link.name}{k}")))
        else:
            ends.append(PtyEndpoint(options.link))
    return boards, ends


def wired(body: Body, wiring: HardwareConfig, options: argparse.Namespace) -> tuple[list[Device], list[Endpoint]]:
    """What the wiring file describes."""
    for key, given in (
        ("--boards", options.boards != 1),
        ("--tcp", options.tcp is not None),
        ("--link", options.link is not None),
        ("--half-duplex", options.half_duplex),
    ):
        if given:
            raise InputError(f"{key} beside --wiring; allowed: the file alone says which ports and boards there are")
    devices = devices_of(body, wiring)
    ends: list[Endpoint] = []
    try:
        for bus in wiring.buses:
            ends.append(endpoint_of(bus.port))
    except InputError:
        for end in ends:
            end.close()
        raise
    return devices, ends


def tell(change: ModeChange) -> None:
    """A change of mode, on stderr; the time is the machine's monotonic clock."""
    what = f"{change.board.name}: {change.before.name} -> {change.now.name} {change.board.why}".rstrip()
    when = f"{1e3 * change.starved:.2f} ms after the last command, {1e3 * change.late:.2f} ms late at most"
    print(f"{change.wall:.6f} {what} [{when}]", file=sys.stderr, flush=True)
