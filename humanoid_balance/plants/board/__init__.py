"""A virtual motor board: speaks the wire protocol byte for byte, with a MuJoCo robot behind it."""

from humanoid_balance.plants.board.board import VirtualBoard, boards_of
from humanoid_balance.plants.board.body import Body
from humanoid_balance.plants.board.device import Device
from humanoid_balance.plants.board.endpoint import Endpoint, PtyEndpoint, TcpEndpoint
from humanoid_balance.plants.board.faults import FaultPlan
from humanoid_balance.plants.board.line import Disturbance, Line
from humanoid_balance.plants.board.server import ModeChange, Server

__all__ = [
    "Body",
    "Device",
    "Disturbance",
    "Endpoint",
    "FaultPlan",
    "Line",
    "ModeChange",
    "PtyEndpoint",
    "Server",
    "TcpEndpoint",
    "VirtualBoard",
    "boards_of",
]
