"""A robot behind ROS topics: sensor frames, commands, pushes and stamps as messages."""
