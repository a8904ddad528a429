"""Lets the tests of this folder share their helpers as ``wholebody.<module>``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
