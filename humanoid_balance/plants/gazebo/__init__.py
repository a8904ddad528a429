"""A robot in Gazebo Classic: its server, its world, its model, and the plant that speaks with the plugin."""
