"""What stands between a TorqueCommand and the joint: ideal torque, an electric motor, later muscles."""
