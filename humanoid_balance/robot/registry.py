"""One registry of robots: by name (``human``, ``talos``, …), by path to a YAML, with options after a colon.

``human:mass=90,height=1.81,shank=1.06`` sets the generator's options; ``talos:mass=99`` scales every link of a robot
that comes from a URDF file. Options are numbers or words; every robot understands ``actuation=motor`` and
``drives=impedance``.
"""

from __future__ import annotations

import importlib.util
import math
import multiprocessing
import re
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

from humanoid_balance.errors import ConfigError, InputError
from humanoid_balance.robot import config as robot_config
from humanoid_balance.robot import human, lee47, r2d
from humanoid_balance.robot.model import Robot
from humanoid_balance.robot.repair import repair

_said: set[tuple[str, str]] = set()  # repairs that were reported already

GENERATORS = {"human": human.generate, "lee47": lee47.generate, "r2d": r2d.generate}
EVERY = "**"  # a pattern for all joints that comes after those of the file
WORD = re.compile(r"[a-z][a-z0-9_-]*")


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


def parse(spec: str) -> tuple[str, dict[str, float | str]]:
    """``name:key=value,...`` -> name or path, options; a value is a number or a word."""
    name, colon, rest = spec.partition(":")
    options: dict[str, float | str] = {}
    if not name or (colon and not rest):
        raise InputError(f"robot '{spec}': expected NAME or NAME:option=value,option=value")
    for item in rest.split(",") if rest else []:
        key, equals, text = item.partition("=")
        value = _value(text)
        if not equals or value is None:
            raise InputError(f"robot '{spec}': option '{item}' is not of the form name=number or name=word")
        if key in options:
            raise InputError(f"robot '{spec}': option '{key}' is given twice")
        options[key] = value
    return name, options


def _value(text: str) -> float | str | None:
    """A finite number, a word of letters, or nothing that an option can be."""
    try:
        number = float(text)
    except ValueError:
        return text if WORD.fullmatch(text) else None
    return number if math.isfinite(number) else None


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
    if "actuation" in options:
        kind = options.pop("actuation")
        if kind not in robot_config.ACTUATIONS:
            allowed = ", ".join(robot_config.ACTUATIONS)
            raise InputError(f"robot '{spec}': option 'actuation' is {kind}; allowed: {allowed}")
        settings = replace(settings, actuation=str(kind))
    if "drives" in options:
        kind = options.pop("drives")
        if kind not in robot_config.DRIVES:
            raise InputError(f"robot '{spec}': option 'drives' is {kind}; allowed: {', '.join(robot_config.DRIVES)}")
        settings = replace(settings, joints={**settings.joints, EVERY: robot_config.DRIVES[str(kind)]})
    _, _, body = settings.urdf.partition("generate:")
    if body in GENERATORS:
        return Robot(label, spec, settings, GENERATORS[body](**options), None)
    mass = options.pop("mass", None)
    if options:
        raise InputError(f"robot '{spec}': unknown option '{next(iter(options))}'; allowed: actuation, drives, mass")
    if isinstance(mass, str):
        raise InputError(f"robot '{spec}': option 'mass' is {mass}; allowed: a number [kg]")
    path = _path(settings)
    try:
        urdf = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ConfigError(settings.file, *settings.source, f"a readable file; looked at {path}") from None
    if settings.mjcf:
        from humanoid_balance.robot import mjcf  # only those who need it wait for MuJoCo

        urdf, settings = mjcf.convert(path, settings)
    urdf, settings, repairs = repair(urdf, settings)
    _say(label, repairs)
    return Robot(label, spec, settings, urdf, path, mass=mass)


def _say(label: str, repairs: tuple[str, ...]) -> None:
    """Each line once per session; workers leave it to the process that started them."""
    for line in repairs:
        if (label, line) not in _said and multiprocessing.parent_process() is None:
            print(f"robot {label}: {line}", file=sys.stderr)
            _said.add((label, line))


def _path(settings: robot_config.RobotConfig) -> Path:
    _, address = settings.source
    package, colon, inside = address.partition(":")
    if not colon:
        return (settings.file.parent / address).resolve()
    if package != "example-robot-data":
        raise ConfigError(settings.file, *settings.source, robot_config.URDF_FORMS)
    # The wheel is data only: it puts its files beside Pinocchio's, into cmeel's prefix.
    origin = importlib.util.find_spec("pinocchio")
    assert origin is not None and origin.origin is not None
    for parent in Path(origin.origin).resolve().parents:
        for folder in (parent, parent / "cmeel.prefix"):
            robots = folder / "share" / "example-robot-data" / "robots"
            if robots.is_dir():
                return robots / inside
    raise ConfigError(settings.file, *settings.source, "the package example-robot-data installed (pip)")
