"""Where Gazebo Classic 11 is: installed on the system, or in the folder of its own that ``make gazebo`` fills."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from humanoid_balance.errors import InputError

VARIABLE = "HUMANOID_BALANCE_GAZEBO"  # names the folder, if not the default
PLUGIN = Path("opt/humanoid_balance")  # in that folder or, where there is one, in its Debian root
BOARD, ODE = "libhumanoid_balance_board.so", "libhumanoid_balance_ode.so"


def folder() -> Path:
    """The cache folder of ``make gazebo``; the same rule is in ``gazebo/install.sh``."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "humanoid_balance" / "gazebo"


@dataclass(frozen=True)
class Home:
    """A Gazebo to run. ``root`` is the Debian root that it lives in, None on the system itself."""

    root: Path | None
    plugin: Path  # folder of the plugin as Gazebo sees it

    def command(self, program: str, *arguments: str) -> list[str]:
        """How a program of it is started."""
        enter = [] if self.root is None else ["chroot", str(self.root)]
        return [*enter, program, *arguments]

    @property
    def scratch(self) -> Path:
        """A folder for files that Gazebo has to read."""
        return Path("/tmp") if self.root is None else self.root / "tmp"

    def inside(self, path: Path) -> str:
        """A path as Gazebo sees it."""
        return str(path) if self.root is None else f"/{path.relative_to(self.root)}"


def find() -> Home:
    """The Gazebo to use; an InputError says how to get one."""
    here = folder()
    root = here / "root"
    if (root / PLUGIN / BOARD).is_file():
        if os.geteuid() != 0:
            raise InputError(f"gazebo: {root} is entered with chroot, which only root may do")
        return Home(root, Path("/") / PLUGIN)
    if (here / PLUGIN / BOARD).is_file() and shutil.which("gzserver"):
        return Home(None, here / PLUGIN)
    raise InputError(f"gazebo: not set up in {here}; run 'make gazebo' first")
