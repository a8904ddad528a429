"""From a Reference to joint torques: tasks in strict priority under dynamics, contact and limits."""
