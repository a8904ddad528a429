"""Run a virtual motor board with a simulated robot behind it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path

from humanoid_balance.commands.common import count, not_negative, print_json
from humanoid_balance.errors import InputError
from humanoid_balance.nodes.realtime import RealTime
from humanoid_balance.plants.board import Body, Disturbance, FaultPlan, PtyEndpoint, Server, TcpEndpoint, boards_of
from humanoid_balance.plants.board.board import VirtualBoard
from humanoid_balance.plants.board.endpoint import Endpoint
from humanoid_balance.plants.board.faults import KINDS, PlannedFault
from humanoid_balance.plants.protocol import Mode, fault_names
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot import registry


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--robot", default="human", metavar="SPEC", help="name, name:option=value or path to a YAML")
    add("--boards", type=count, default=1, metavar="N", help="share the joints among so many boards, a port each")
    add("--tcp", type=int, metavar="PORT", help="listen on this TCP port and the next ones; 0: any free ones")
    add("--link", type=Path, metavar="PATH", help="symbolic link to the pseudo-terminal; of several: PATH0, PATH1 ...")
    add("--half-duplex", action="store_true", help="speak only when spoken to, as on RS-485 with two wires")
    add("--sensor-noise", type=not_negative, default=1.0, metavar="X")
    add("--seed", type=int, default=0, help="of sensor noise and line disturbances")
    add("--hoist", type=not_negative, metavar="M", help="hang the robot so high above its stance")
    for field in fields(Disturbance):
        unit = "S" if field.name in ("delay", "jitter") else "P"
        add(f"--{field.name.replace('_', '-')}", type=not_negative, default=0.0, metavar=unit)
    add("--fault", action="append", default=[], metavar="KIND[:JOINT][@START[+DURATION]]",
        help=f"what goes wrong, and when after the robot was let go [s]; kinds: {', '.join(KINDS)}")  # fmt: skip
    add("--priority", type=int, choices=range(100), default=0, metavar="P",
        help="real-time priority, 1 to 99, where the system permits it; 0: none")  # fmt: skip
    add("--json", action="store_true", help="print the ports as one JSON object")


def run(options: argparse.Namespace) -> None:
    robot = registry.load(options.robot)
    faults = [PlannedFault.parse(text, robot.joint_names) for text in options.fault]
    disturbance = Disturbance(**{field.name: getattr(options, field.name) for field in fields(Disturbance)})
    body = Body(robot, PlantOptions(noise=options.sensor_noise, seed=options.seed), hoist=options.hoist)
    boards = boards_of(body, options.boards)
    for board in boards:
        board.half_duplex = options.half_duplex
    ends = endpoints(options)
    server = Server(body, boards, ends, disturbance, FaultPlan(faults), options.seed, log=tell)
    urls = [end.url for end in ends]
    if options.json:
        print_json({"robot": robot.spec, "joints": robot.n, "ports": urls})
    else:
        for board, url in zip(boards, urls, strict=True):
            print(f"{board.name}: {len(board.index)} joints of {robot.spec} at {url}")
    sys.stdout.flush()
    RealTime(options.priority).apply(lambda why: print(why, file=sys.stderr))
    try:
        server.run(lambda: False)
    finally:
        server.close()


def endpoints(options: argparse.Namespace) -> list[Endpoint]:
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
    return ends


def tell(wall: float, board: VirtualBoard, before: Mode, now: Mode) -> None:
    """A change of mode, on stderr; the time is the machine's monotonic clock."""
    faults = ", ".join(fault_names(board.machine.faults, 16)).lower()
    print(f"{wall:.6f} {board.name}: {before.name} -> {now.name} {faults}".rstrip(), file=sys.stderr, flush=True)
