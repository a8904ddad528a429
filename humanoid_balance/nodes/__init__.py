"""ROS 2 nodes: thin wires between topics and the boxes of the loop (docs/ros.md)."""
