"""Tests of what goes over topics need the message packages."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("rclpy") else ["test_ros.py"]
