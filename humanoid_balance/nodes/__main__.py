"""``python -m humanoid_balance.nodes NAME --ros-args ...`` starts a node where nothing is installed."""

import sys

from humanoid_balance.nodes.executables import NODES, start

if len(sys.argv) < 2 or sys.argv[1] not in NODES:
    sys.exit(f"which node? One of: {', '.join(NODES)}")
start(sys.argv.pop(1))
