"""ROS 2 nodes: thin wires between topics and the boxes of the loop (docs/ros.md)."""

import os

# One thread for linear algebra: small matrices lose time to a thread pool. Must be set before numpy is loaded.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
