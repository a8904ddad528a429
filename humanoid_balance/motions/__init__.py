"""Recorded motion: clips, their import, and how they are fitted to a robot (docs/motions.md)."""
