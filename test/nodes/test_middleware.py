"""Which transports our nodes use: UDP, unless the user chose otherwise; and what that is for."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from nodes.graph import Graph

from humanoid_balance.nodes.middleware import PEERS, PROFILES, RANGE, TRANSPORTS, avoid_shared_memory


def test_udp_alone_by_default() -> None:
    environment: dict[str, str] = {}
    avoid_shared_memory(environment)
    assert environment == {TRANSPORTS: "UDPv4"}


@pytest.mark.parametrize("given", [{RANGE: "LOCALHOST"}, {RANGE: "localhost"}, {"ROS_LOCALHOST_ONLY": "1"}])
def test_nodes_that_shall_stay_on_this_machine_listen_on_the_loopback_interface_only(given: dict[str, str]) -> None:
    avoid_shared_memory(given)
    assert given[PEERS] == "127.0.0.1" and given[RANGE] == "SUBNET" and "ROS_LOCALHOST_ONLY" not in given
    profile = ElementTree.parse(Path(given[PROFILES])).getroot()
    names = {element.tag.rpartition("}")[2]: (element.text or "").strip() for element in profile.iter()}
    assert names["address"] == "127.0.0.1" and names["type"] == "UDPv4" and names["useBuiltinTransports"] == "false"


def test_peers_of_the_user_are_kept() -> None:
    environment = {RANGE: "LOCALHOST", PEERS: "10.0.0.7"}
    avoid_shared_memory(environment)
    assert environment[PEERS] == "10.0.0.7;127.0.0.1"


@pytest.mark.parametrize("chosen", [{TRANSPORTS: "LARGE_DATA"}, {PROFILES: "mine.xml", RANGE: "LOCALHOST"}])
def test_what_the_user_chose_is_kept(chosen: dict[str, str]) -> None:
    environment = dict(chosen)
    avoid_shared_memory(environment)
    assert environment == chosen


LISTENER = """
import rclpy
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import String

rclpy.init()
node = rclpy.create_node("listener")
node.create_subscription(String, "talk", lambda _: None, qos_profile_sensor_data)
rclpy.spin(node)
"""
TALKER = """
import time
import rclpy
from humanoid_balance.nodes.middleware import avoid_shared_memory
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import String

avoid_shared_memory()
rclpy.init()
node = rclpy.create_node("talker")
publisher, longest = node.create_publisher(String, "talk", qos_profile_sensor_data), 0.0
while publisher.get_subscription_count() == 0:
    time.sleep(0.01)
print("heard")
end = time.monotonic() + 9.0
while time.monotonic() < end:
    begun = time.monotonic()
    publisher.publish(String(data=30 * "x"))
    longest = max(longest, time.monotonic() - begun)
    time.sleep(0.00001)
print(f"longest {longest:.3f}")
"""


def test_a_listener_that_is_frozen_again_and_again_does_not_hold_up_who_publishes_to_it(graph: Graph) -> None:
    """Over shared memory a freeze that hits the lock of the port holds ``publish`` up as long as it lasts."""
    scripts = {"talker": TALKER, "listener": LISTENER}
    for name, text in scripts.items():
        (graph.folder / f"{name}.py").write_text(text)
    talker, listener = (graph.run_script(graph.folder / f"{name}.py") for name in scripts)
    assert talker.says("heard"), graph.told()
    for _ in range(16):
        listener.popen.send_signal(signal.SIGSTOP)
        time.sleep(0.4)
        listener.popen.send_signal(signal.SIGCONT)
        time.sleep(0.1)
    assert talker.says("longest"), graph.told()
    assert float(talker.text.split()[-1]) < 0.3, talker.text
