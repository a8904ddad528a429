"""Watch a robot in a web page: walk it, push it, knock it over."""

from __future__ import annotations

import argparse
import ipaddress
import socket
import sys

from humanoid_balance.balance.settings import STRATEGIES
from humanoid_balance.commands.common import number
from humanoid_balance.errors import InputError
from humanoid_balance.stack import RunSettings

LOOPBACK = "127.0.0.1"
PORT = 8080


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--robot", default="human", metavar="SPEC", help="name, name:option=value or path to a YAML")
    add("--seed", type=int, default=0, help="of the sensor noise")
    add("--strategy", choices=STRATEGIES, default="auto")
    add("--slope", type=number, default=0.0, metavar="DEG", help="the ground rises forward")
    add("--friction", type=number, default=0.8, metavar="MU")
    add("--planar", action="store_true", help="a boom: the base moves in its sagittal plane only")
    add("--host", default=LOOPBACK, metavar="ADDRESS", help="where to listen; default: this machine only")
    add("--port", type=int, default=PORT, help="0: any free one")
    add("--no-browser", action="store_true", help="do not open the page")


def run(options: argparse.Namespace) -> None:
    settings = RunSettings(
        robot=options.robot, strategy=options.strategy, slope=options.slope, friction=options.friction,
        seed=options.seed, planar=options.planar,
    )  # fmt: skip
    if not 0 <= options.port < 2**16:
        raise InputError(f"--port {options.port}: allowed: 0 to 65535")
    if not _local(options.host):
        print(
            f"warning: --host {options.host} lets everybody who can reach this machine see and push the robot; "
            "there is no password",
            file=sys.stderr,
        )
    _free(options.host, options.port)
    from humanoid_balance.viewer.page import Page  # the web server takes a second to load

    page = Page(settings, options.host, options.port)
    try:
        print(f"{page.address}  (Ctrl-C ends it)", flush=True)
        if not options.no_browser:
            import webbrowser

            webbrowser.open(page.address)
        page.run()
    finally:
        page.close()


def _local(host: str) -> bool:
    """Reached from this machine alone; complains about what is no address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise InputError(f"--host {host}: is no address; allowed: localhost, 127.0.0.1, 0.0.0.0 and the like") from None


def _free(host: str, port: int) -> None:
    """Complain about an address that cannot be had; the server itself would go on trying."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            raise InputError(f"--host {host} --port {port}: cannot listen there: {error.strerror}") from None
