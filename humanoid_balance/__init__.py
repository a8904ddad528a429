"""Balance for torque-controlled humanoids: estimate, decide, control, and stay on your feet."""

__version__ = "0.1.0"
