"""What the body is asked to do, one task a file."""
