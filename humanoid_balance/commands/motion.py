"""Recorded motion: read it, fit it to a robot, play it (motion info|import FILE, make NAME, play|view CLIP)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from humanoid_balance.commands.common import Bar, add_common, number, print_json, writable
from humanoid_balance.commands.outputs import add_outputs, check_outputs, write_outputs
from humanoid_balance.commands.push import add_world, world_settings
from humanoid_balance.commands.walk import push
from humanoid_balance.motions import info, library
from humanoid_balance.robot import registry

ABOUT_MAKE = (
    "walk, turn, stop: recorded from the walking mode in simulation; normative: a normal person's walk from published "
    "joint angles, fitted."
)


ABOUT_MEASURE = (
    "CoM, ZMP, impulse of each push and k_CM, the slope of the CoM's acceleration over its position, from markers and "
    "force plates."
)


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    about = actions.add_parser("info", help="what a clip is", description="What a clip is.")
    about.add_argument("file", type=Path, metavar="FILE", help="BVH, or npz with pose arrays")
    about.set_defaults(act=show)
    fit = actions.add_parser("import", help="fit a clip to a robot", description="Fit a clip to a robot.")
    fit.add_argument("file", type=Path, metavar="FILE", help="BVH, or npz with pose arrays")
    fit.add_argument("--robot", default="human", metavar="SPEC", help="name, name:option=value or path to a YAML")
    fit.add_argument("-o", "--output", type=Path, metavar="CLIP.npz", help="default: FILE's name with .ROBOT.npz")
    fit.add_argument("--map", type=Path, metavar="F.yaml", help="which joint is what, where it is not found rightly")
    fit.add_argument("--plot", type=Path, metavar="F.png", help="the robot in twelve frames of the clip")
    fit.set_defaults(act=bring)
    own = actions.add_parser("make", help="a clip that needs no recording", description=ABOUT_MAKE)
    own.add_argument("name", choices=library.OWN, metavar="|".join(library.OWN))
    own.add_argument("--robot", default="human", metavar="SPEC", help="name, name:option=value or path to a YAML")
    own.add_argument("-o", "--output", type=Path, metavar="CLIP.npz", help="default: NAME.ROBOT.npz")
    own.set_defaults(act=generate)
    view = actions.add_parser("view", help="a clip as a page with a slider", description="A clip as a page.")
    view.add_argument("file", type=Path, metavar="CLIP.npz", help="from 'motion import'")
    view.add_argument("--robot", metavar="SPEC", help="default: the one that the clip was made for")
    view.add_argument("-o", "--output", type=Path, metavar="F.html", help="default: the clip's name with .html")
    view.add_argument("--plot", type=Path, metavar="F.png", help="the robot in twelve frames of the clip")
    view.set_defaults(act=watch)
    play = actions.add_parser("play", help="let a robot follow a clip on standing feet", description="Play a clip.")
    add_common(play)
    play.add_argument("file", type=Path, metavar="CLIP.npz", help="of this robot, from 'motion import'")
    play.add_argument("--time", type=number, metavar="S", help="length of the run; default: the clip once")
    play.add_argument("--push", type=push, action="append", default=[], metavar="N:S:DEG:AT", help="may be repeated")
    add_world(play)
    add_outputs(play)
    play.set_defaults(act=perform)
    lab = actions.add_parser("measure", help="a person who is pushed, from C3D", description=ABOUT_MEASURE)
    lab.add_argument("file", type=Path, metavar="F.c3d", help="markers and force plates, the first half second still")
    lab.add_argument("--markers", type=Path, metavar="F.yaml", help="ends of the segments; default: joint centres")
    lab.add_argument("-o", "--output", type=Path, metavar="F.csv", help="time series at the rate of the markers")
    lab.set_defaults(act=observe)
    for action in (about, fit, own, lab):
        action.add_argument("--json", action="store_true", help="one JSON object on stdout, nothing else")


def run(options: argparse.Namespace) -> None:
    options.act(options)


def show(options: argparse.Namespace) -> None:
    found = info.facts(library.load(options.file))
    if options.json:
        print_json(found)
    else:
        print(info.story(found))


def bring(options: argparse.Namespace) -> None:
    from humanoid_balance.motions.retarget import retarget

    robot = registry.load(options.robot)
    output = options.output or options.file.with_name(f"{options.file.stem}.{robot.name}.npz")
    writable(output, "--output", (".npz",))
    if options.plot is not None:
        writable(options.plot, "--plot", (".png",))
    clip = retarget(library.load(options.file), robot, options.map)
    clip.save(output)
    if options.plot is not None:
        from humanoid_balance.figures import strip

        strip.save(clip, robot, options.plot)
    if options.json:
        print_json(clip.report)
    else:
        print(f"{output}: {story(clip.report)}")


def generate(options: argparse.Namespace) -> None:
    from humanoid_balance.experiments import own_clip

    robot = registry.load(options.robot)
    output = options.output or Path(f"{options.name}.{robot.name}.npz")
    writable(output, "--output", (".npz",))
    with Bar(f"{options.name} {options.robot}") as bar:
        clip = own_clip.make(options.name, options.robot, bar)
    clip.save(output)
    if options.json:
        print_json(clip.report)
    else:
        print(f"{output}: {story(clip.report)}")


def watch(options: argparse.Namespace) -> None:
    from humanoid_balance.motions.robot_clip import RobotClip

    clip = RobotClip.load(options.file)
    robot = registry.load(options.robot or clip.robot)
    clip.check(robot)
    output = options.output or options.file.with_suffix(".html")
    writable(output, "--output", (".html",))
    if options.plot is not None:
        from humanoid_balance.figures import strip

        writable(options.plot, "--plot", (".png",))
        strip.save(clip, robot, options.plot)
    from humanoid_balance.viewer import clip_page

    output.write_text(clip_page.page(clip, robot), encoding="utf-8")
    print(output)


def perform(options: argparse.Namespace) -> None:
    from humanoid_balance.experiments import motion as experiment

    settings = world_settings(options, options.time)
    check_outputs(options)
    with Bar(f"play {options.robot}") as bar:
        done = experiment.run(settings, options.file, options.push, bar, options.log)
    write_outputs(done, options, done.title)
    if options.json:
        print_json(done.result)
    else:
        modes = " -> ".join(f"{name} ({t:.2f} s)" for t, name in done.result["modes"])
        print(f"{done.title}\nmodes: {modes}")


def observe(options: argparse.Namespace) -> None:
    from humanoid_balance.motions import c3d, measure

    markers = options.markers or registry.config_folder() / "motions" / "markers.yaml"
    if options.output is not None:
        writable(options.output, "--output", (".csv",))
    found = measure.measure(c3d.load(options.file), measure.marker_set(markers))
    if options.output is not None:
        found.save(options.output)
    figures = {"name": options.file.stem, **found.figures()}
    if options.json:
        print_json(figures)
        return
    print(
        f"{figures['name']}: {found.mass:.1f} kg, {figures['duration']:.2f} s, CoM {figures['com_height']:.3f} m high"
    )
    for shove in found.pushes:
        slope = "" if shove["k_cm"] is None else f", k_CM {shove['k_cm']:.1f} 1/s²"
        x, y = shove["impulse"]
        print(f"pushed at {shove['at']:.2f} s: {x:.1f} {y:.1f} N s, {shove['dv']:.3f} m/s{slope}")


def story(report: dict[str, Any]) -> str:
    """How well a clip fits, in three lines."""
    slower = (
        "" if report["slower"] == 1.0 else f", {report['slower']:g} times slower than recorded: joints are not faster"
    )
    error = report["joint_error_rms"]
    off = "" if error is None else f", directions {error:.3f} rad rms off"
    touching = ", ".join(f"{name} {found['share']:.0%}" for name, found in report["contacts"].items() if found["share"])
    return (
        f"{report['robot']}, {report['frames']} frames at {report['rate']:g} Hz, {report['duration']:.2f} s{slower}\n"
        f"slip {1e3 * report['slip_max']:.1f} mm, penetration {1e3 * report['penetration_max']:.1f} mm, "
        f"{report['limit_hits']} limit hits{off}; {report['seconds']:.2f} s\non the ground: {touching}"
    )
