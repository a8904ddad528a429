"""Quality of service of each kind of topic."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

# A sample that is late is worth nothing, the next one is coming.
SENSOR = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# What publishers of samples offer: who wants each of them, as a recorder does, has 2 s at 1 kHz to fetch it; who asks
# for SENSOR gets the newest. With depth 1 a sample is overwritten before the thread that sends it comes to it.
EACH = QoSProfile(depth=2000, reliability=ReliabilityPolicy.RELIABLE)
# What people look at: tools ask for reliable topics by default.
SHOWN = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
# Deep enough that a flood from elsewhere does not wash the controller's commands away between two looks.
COMMAND = QoSProfile(depth=200, reliability=ReliabilityPolicy.RELIABLE)
# Pushes may be sent ahead of their time, many at once.
PUSH = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
# Whoever comes late gets the last one.
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# The same for what changes twice within a millisecond, and a recorder wants both: the mode.
CHANGES = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
