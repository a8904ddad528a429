"""Over topics, in three processes, a run is the same as in one."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped
from nodes.graph import Graph
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from humanoid_balance.nodes.qos import LATCHED, PUSH
from humanoid_balance.plants.mujoco.plant import MujocoPlant, PlantOptions
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.ros.stamps import from_time, to_time
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings, simulated

SEED = 7
PUSH_AT, END = 0.3, 1.8  # [s]
KE1 = PushProfile(force=300.0, duration=0.1, direction=0.0, start=PUSH_AT)
ALL = QoSProfile(depth=5000, reliability=ReliabilityPolicy.BEST_EFFORT)
ANSWER = {"strategy": "in-place", "delay": 0.2}


def test_lockstep_over_topics_is_the_run_in_one_process(graph: Graph) -> None:
    """KE1, with sensor noise: every encoder reading at every millisecond, up to 1e-9 rad."""
    joints = graph.listen(JointState, "joint_states", ALL)
    modes = graph.listen(String, "balance/mode", LATCHED)
    pushes = graph.node.create_publisher(WrenchStamped, "push", PUSH)
    simulator = graph.start("simulator", autostart=True, rate=1000, lockstep=True, seed=SEED, lockstep_timeout=30)
    assert graph.wait(lambda: pushes.get_subscription_count() > 0), graph.told()
    message = WrenchStamped()
    message.header.stamp, message.wrench.force.x = to_time(KE1.start), KE1.force
    pushes.publish(message)
    assert graph.wait(lambda: len(joints) > 2)  # waits, and repeats its first frame meanwhile
    graph.start("state_estimator", autostart=True, rate=1000, sync_wait=3600)
    graph.start("balance_controller", autostart=True, rate=1000, auto_arm=True, sensor_timeout=30, **ANSWER)
    assert graph.wait(lambda: from_time(joints[-1].header.stamp) >= END, 180), graph.told()
    assert "damping" not in simulator.text

    robot = registry.load("human")
    plant = MujocoPlant(robot, PlantOptions(noise=1.0, seed=SEED), [KE1])
    loop = simulated(robot, plant, RunSettings(**ANSWER).balance)
    expected = {}
    for _ in range(round(END * 1000)):
        tick = loop.tick()
        expected[round(tick.frame.stamp * 1000)] = tick
    heard = {round(1000 * from_time(m.header.stamp)): m for m in joints}
    together = sorted(expected.keys() & heard.keys())
    assert len(together) > 0.5 * len(expected) and together[-1] > 0.99 * len(expected)
    worst = max(np.abs(np.array(heard[k].position) - expected[k].frame.position).max() for k in together)
    assert worst < 1e-9, f"off by {worst} rad"
    assert [m.data for m in modes][-3:] == ["stable", "in place", "stable"]
