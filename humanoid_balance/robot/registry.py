"""One registry of robots: by name (``human``, ``talos``, ``g1``), by path to a YAML, with options after a colon.

``human:mass=90,height=1.81,shank=1.06`` sets the generator's options; ``talos:mass=99`` scales every link of a robot
that comes from a URDF file.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import sysconfig
from pathlib import Path

from humanoid_balance.errors import ConfigError, InputError
from humanoid_balance.robot import config as robot_config
from humanoid_balance.robot import human
from humanoid_balance.robot.model import Robot


def config_folder() -> Path:
    """``config/`` of the source tree, of the installed package, or of the ROS workspace; the first that exists."""
    package = Path(__file__).resolve().parents[1]
    share = Path("share") / "humanoid_balance" / "config"
    candidates = [package.parent / "config", *(parent / share for parent in package.parents)]
    candidates += [Path(p) / share for p in (sys.prefix, sysconfig.get_path("data"))]
    for folder in candidates:
        if (folder / "robots").is_dir():
            return folder
    raise InputError("humanoid_balance: its config folder is not installed (share/humanoid_balance/config/robots)")


def names() -> list[str]:
    """Robots that can be called by name."""
    return sorted(file.stem for file in (config_folder() / "robots").glob("*.yaml"))


def parse(spec: str) -> tuple[str, dict[str, float]]:
    """``name:key=value,...`` -> name or path, options."""
    name, colon, rest = spec.partition(":")
    options: dict[str, float] = {}
    if not name or (colon and not rest):
        raise InputError(f"robot '{spec}': expected NAME or NAME:option=value,option=value")
    for item in rest.split(",") if rest else []:
        key, equals, text = item.partition("=")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not equals or not math.isfinite(value):
            raise InputError(f"robot '{spec}': option '{item}' is not of the form name=number")
        if key in options:
            raise InputError(f"robot '{spec}': option '{key}' is given twice")
        options[key] = value
    return name, options


def load(spec: str) -> Robot:
    """The robot of a specification string."""
    name, options = parse(spec)
    file = Path(name)
    if file.suffix in (".yaml", ".yml") or len(file.parts) > 1:
        label = file.stem
    elif name in names():
        file, label = config_folder() / "robots" / f"{name}.yaml", name
    else:
        raise InputError(f"robot '{name}': unknown; allowed: {', '.join(names())} or a path to a YAML file")
    settings = robot_config.load(file)
    if settings.urdf == "generate:human":
        return Robot(label, spec, settings, human.generate(**options), None)
    unknown = [key for key in options if key != "mass"]
    if unknown:
        raise InputError(f"robot '{spec}': unknown option '{unknown[0]}'; allowed: mass")
    path = _urdf_path(settings)
    try:
        urdf = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ConfigError(settings.file, "urdf", settings.urdf, f"a readable file; looked at {path}") from None
    return Robot(label, spec, settings, urdf, path, mass=options.get("mass"))


def _urdf_path(settings: robot_config.RobotConfig) -> Path:
    package, colon, inside = settings.urdf.partition(":")
    if not colon:
        return (settings.file.parent / settings.urdf).resolve()
    if package != "example-robot-data":
        raise ConfigError(settings.file, "urdf", settings.urdf, robot_config.URDF_FORMS)
    # The wheel is data only: it puts its files beside Pinocchio's, into cmeel's prefix.
    origin = importlib.util.find_spec("pinocchio")
    assert origin is not None and origin.origin is not None
    for parent in Path(origin.origin).resolve().parents:
        for folder in (parent, parent / "cmeel.prefix"):
            robots = folder / "share" / "example-robot-data" / "robots"
            if robots.is_dir():
                return robots / inside
    raise ConfigError(settings.file, "urdf", settings.urdf, "the package example-robot-data installed (pip)")
