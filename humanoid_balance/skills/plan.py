"""Which scripts lead from how a body lies to where it should be: the shortest chain, and the fewest seconds."""

from __future__ import annotations

from collections.abc import Mapping

from humanoid_balance.skills.script import FEET, Script

RECOVER = "recover"  # the name under which any way onto the feet is asked for


def chain(scripts: Mapping[str, Script], side: str, end: str = FEET) -> list[Script]:
    """Scripts to play one after the other; empty when none lead there."""
    best: list[Script] = []
    paths: list[list[Script]] = [[script] for script in scripts.values() if side in script.starts]
    while paths:
        paths.sort(key=lambda path: (len(path), sum(script.length for script in path)))
        path = paths.pop(0)
        if path[-1].ends == end:
            best = path
            break
        been = {side, *(script.ends for script in path)}
        paths += [[*path, s] for s in scripts.values() if path[-1].ends in s.starts and s.ends not in been]
    return best
