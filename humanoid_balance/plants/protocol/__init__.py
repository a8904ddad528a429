"""The wire protocol between the host and its motor boards; ``docs/protocol.md`` is its definition."""

from humanoid_balance.plants.protocol.board import BoardMachine, Derating
from humanoid_balance.plants.protocol.command import EmergencyStop, WireCommand, WireReset
from humanoid_balance.plants.protocol.fault import BOARD, Fault, fault_names
from humanoid_balance.plants.protocol.handshake import Configure, Identify, Identity, Joint, Sensors, table_hash
from humanoid_balance.plants.protocol.packet import FrameError, WireFrame
from humanoid_balance.plants.protocol.sensors import FootWrench, Imu
from humanoid_balance.plants.protocol.simulation import WirePush, WireTruth
from humanoid_balance.plants.protocol.state import State
from humanoid_balance.plants.protocol.stream import FROM_BOARD, FROM_HOST, Counts, Decoder, Packet, Sender
from humanoid_balance.plants.protocol.vocabulary import BoardFault, FaultCode, JointFault, Mode

__all__ = [
    "BOARD",
    "FROM_BOARD",
    "FROM_HOST",
    "BoardFault",
    "BoardMachine",
    "Configure",
    "Counts",
    "Decoder",
    "Derating",
    "EmergencyStop",
    "Fault",
    "FaultCode",
    "FootWrench",
    "FrameError",
    "Identify",
    "Identity",
    "Imu",
    "Joint",
    "JointFault",
    "Mode",
    "Packet",
    "Sender",
    "Sensors",
    "State",
    "WireCommand",
    "WireFrame",
    "WirePush",
    "WireReset",
    "WireTruth",
    "fault_names",
    "table_hash",
]
