"""Fast DDS without shared memory: nobody who is frozen can freeze a control loop.

The lock of a shared-memory port lies in the shared memory. A subscriber that is stopped (Ctrl-Z, a debugger) while it
holds the lock stalls whoever publishes to it, and rclpy publishes without letting go of the interpreter: the loop
stands still, for 1 to 5 s in one of ten tries, while its motors wait. Over UDP a full inbox loses messages instead.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

TRANSPORTS, PROFILES = "FASTDDS_BUILTIN_TRANSPORTS", "FASTRTPS_DEFAULT_PROFILES_FILE"
RANGE, PEERS, LOCALHOST_ONLY = "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS", "ROS_LOCALHOST_ONLY"
LOOPBACK = "127.0.0.1"


def avoid_shared_memory(environment: MutableMapping[str, str] = os.environ) -> None:
    """Before the middleware is loaded; a choice of transports or a profile that the user made is kept.

    With the range LOCALHOST the ROS layer adds shared memory whatever Fast DDS is told. The same range is reached by
    a profile for the loopback interface and a static peer, and nodes of both kinds find each other.
    """
    if TRANSPORTS in environment or PROFILES in environment:
        return
    environment[TRANSPORTS] = "UDPv4"
    if environment.get(RANGE, "").upper() == "LOCALHOST" or environment.get(LOCALHOST_ONLY) == "1":
        from humanoid_balance.robot.registry import config_folder  # slow to load: not before signals are heeded

        environment.pop(LOCALHOST_ONLY, None)
        environment[PROFILES] = str(config_folder() / "fastdds" / "this_machine.xml")
        environment[RANGE] = "SUBNET"
        environment[PEERS] = ";".join(filter(None, (environment.get(PEERS, ""), LOOPBACK)))
