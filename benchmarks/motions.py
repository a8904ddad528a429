"""Walking by recorded motions (docs/motions.md): a verdict per run and a count per row.

    python benchmarks/motions.py ROW --clips FOLDER [--only NAME] [--workers 1] [--seed 0]

FOLDER has the BVH files of the thesis. They are fitted to the body first. Rows: ``gaits`` 40 s and 50 steps each;
``ablations`` without a part of the control, which should fall, within the thesis's number of steps and half as many
again; ``varied`` other bodies and grounds, 20 s; ``pushes`` ten of 0.4 s in 40 s, 88.6 kg, from four sides.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.verdicts import report
from humanoid_balance.experiments.walk import BEGIN, Itinerary, run
from humanoid_balance.motions import library
from humanoid_balance.motions.retarget import retarget
from humanoid_balance.motions.tracking import Tracking
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings

GAITS = {
    "normal": "wd2_WalkSameSame01",
    "gentle": "wd2_WalkForwardNormal00",
    "slow": "wd2_WalkForwardSlow01",
    "fast": "wd2_WalkForwardVFast00",
    "wide swing": "wd2_WalkHandWav00",
    "brisk": "wd2_WalkAzuma01",
    "march": "wd2_WalkSoldier00",
    "backward": "wd2_WalkBackward00",
    "u-turn": "wd2_u-turn",
    "spin": "wd2_2foot_walk_turn2",
}
ABLATIONS = {"stance hip": 6, "swing hip": 12, "synchronisation": 8}  # part that is left out: steps at most
SIDES = {0.0: 0.72, 180.0: 0.59, 90.0: 0.36, 270.0: 0.47}  # direction of a push [deg]: change of speed [m/s]
PUSHED = 0.7  # of those changes of speed has to be survived every time
HEAVY = 15.0 / 5.0  # of a shin, with 15 kg more and its own 5 kg


@dataclass(frozen=True)
class Episode:
    name: str
    clip: Path  # BVH
    body: str  # of the clip and of the controller
    settings: RunSettings
    steps: int = 0  # at least
    without: tuple[str, ...] = ()
    most: int = 0  # steps after which it has fallen; 0: it should not
    pushes: tuple[PushProfile, ...] = ()


def world(time: float, body: str = "lee47", **other: object) -> RunSettings:
    return RunSettings(robot=body, time=BEGIN + time, ground="springs", **({"friction": 1.0} | other))  # type: ignore[arg-type]


def gaits(folder: Path, seed: int) -> Iterator[Episode]:
    for name, clip in GAITS.items():
        yield Episode(name, folder / f"{clip}.bvh", "lee47", world(40.0, seed=seed), steps=50)


def ablations(folder: Path, seed: int) -> Iterator[Episode]:
    clip = folder / f"{GAITS['normal']}.bvh"
    for part, most in ABLATIONS.items():
        yield Episode(f"without {part}", clip, "lee47", world(20.0, seed=seed), without=(part,), most=most)


def varied(folder: Path, seed: int) -> Iterator[Episode]:
    """The plant alone is another, but for legs of another length."""
    clip = folder / f"{GAITS['normal']}.bvh"
    for name, plant in (("15 kg on a leg", f"left_shin_mass={1 + HEAVY:g}"), ("a leg 3 % shorter", "left_leg=0.97")):
        yield Episode(name, clip, "lee47", world(20.0, plant_robot=f"lee47:{plant}", seed=seed))
    for leg in (0.5, 1.5):
        body = f"lee47:leg={leg:g}"
        yield Episode(f"legs times {leg:g}", clip, body, world(20.0, body, seed=seed))
    for slope in (6.0, -4.0):
        yield Episode(f"slope {slope:g} deg", clip, "lee47", world(20.0, slope=slope, seed=seed))
    for friction in (0.6, 12.0):
        yield Episode(f"friction {friction:g}", clip, "lee47", world(20.0, friction=friction, seed=seed))


def pushes(folder: Path, seed: int) -> Iterator[Episode]:
    clip, body = folder / f"{GAITS['normal']}.bvh", "lee47:masses=simbicon"
    mass = registry.load(body).mass
    for direction, speed in SIDES.items():
        force = PUSHED * speed * mass / 0.4
        ten = tuple(PushProfile(force, 0.4, direction, BEGIN + 8.0 + 4.0 * k) for k in range(10))
        settings = world(48.0, body, stiffness=3000.0, friction=1.5, seed=seed)
        yield Episode(f"{force:.0f} N at {direction:g} deg", clip, body, settings, pushes=ten)


ROWS: dict[str, Callable[[Path, int], Iterator[Episode]]] = {
    row.__name__: row for row in (gaits, ablations, varied, pushes)
}


def attempt(episode: Episode) -> tuple[bool, str]:
    Tracking.without = episode.without
    with tempfile.TemporaryDirectory() as folder:
        style = Path(folder) / f"{episode.clip.stem}.npz"
        retarget(library.load(episode.clip), registry.load(episode.body)).save(style)
        result = run(episode.settings, Itinerary(), episode.pushes, style=style).result
    fell, steps = result["fell"], result["steps"]
    good = fell and steps <= episode.most if episode.most else not fell and steps >= episode.steps
    how = f"fell at {result['time']:.1f} s" if fell else "up"
    return good, f"{how}, {steps} steps, {result['distance']:.1f} m, {result['heading_error_deg']:.0f} deg off"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", choices=ROWS)
    parser.add_argument("--clips", type=Path, required=True, help="folder of the BVH files")
    parser.add_argument("--only", default="", help="part of an episode's name")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    episodes = [e for e in ROWS[options.row](options.clips, options.seed) if options.only in e.name]
    report(episodes, attempt, options.workers)


if __name__ == "__main__":
    main()
