"""What a process keeps in memory, as Linux tells it."""

from pathlib import Path


def resident(process: int | str = "self") -> float:
    """Resident set of a process [MB]."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
