"""The rows of docs/walking.md that take many runs: a table with a verdict per row, over worker processes.

    python benchmarks/walking.py ROW [--robot human] [--workers 2] [--seeds 3] [--phases 8] [--dv 0.6]

A walk is good when the robot is up at the end and, unless it was pushed, obeyed: every commanded speed within 5 %, its
heading within 2 degrees where no turn is commanded. A plan of footsteps is good when all of them were placed within
2 cm and 3 degrees, a tour when odometry is within 2 % of the distance, a stop when it took two steps at most (squaring
up not counted) and the robot then stood within 1 cm. Random commands are followed without the legs touching each other.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.verdicts import report
from humanoid_balance.balance.gait import Gait
from humanoid_balance.balance.reach import Reach
from humanoid_balance.balance.route import Placed, Route
from humanoid_balance.experiments.footstep_plan import Plan, foothold
from humanoid_balance.experiments.leg_contact import leg_contacts
from humanoid_balance.experiments.stride import Way
from humanoid_balance.experiments.walk import BEGIN, Itinerary, Velocity, run
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.run import Run
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import Foothold

import numpy as np  # isort: skip  # after the package, which sees to it that linear algebra takes one thread

OBEYED, STRAIGHT = 0.05, 2.0  # relative error of a speed; of the heading [deg]
PLACED, TURNED = 0.02, 3.0  # of a footstep [m], [deg]
DRIFT = 0.02  # of odometry, share of the distance
STOPPED, CREPT = 2, 0.01  # steps after the command ended; way of the CoM [m] ...
SETTLED = 3.0  # ... from this long after the last step on [s]
STILL: Velocity = (0.0, 0.0, 0.0)
THESIS_MASS = 71.0  # of Kudoh's body [kg]
PLACEMENTS = ("capture", "torres", "kudoh")  # step policies that differ while walking
LEE = {0: 0.59, 90: 0.47, 180: 0.72, 270: 0.36}  # direction of the force [deg]: change of velocity [m/s]


@dataclass(frozen=True)
class Asked:
    """What issue 19 asks of a robot: speeds [m/s, rad/s], and the speed at which it is pushed."""

    forward: float
    backward: float
    aside: float
    turn: float
    pushed: float


def asked(options: argparse.Namespace) -> Asked:
    """Of a robot, whatever its options are."""
    return ASKED[options.robot.split(":")[0]]


ASKED = {
    "human": Asked(1.2, 0.5, 0.3, 1.0, 1.0),
    "talos": Asked(0.5, 0.3, 0.2, 0.5, 0.4),
    "g1": Asked(0.8, 0.5, 0.25, 1.0, 0.5),
}


@dataclass(frozen=True)
class Episode:
    name: str
    settings: RunSettings
    script: Itinerary
    pushes: tuple[PushProfile, ...] = ()
    phase: float | None = None
    obeys: bool = True  # speeds and heading count
    far: bool = False  # odometry counts
    halts: bool = False  # the command ends, and how it stops counts
    apart: bool = False  # legs must not touch each other


def changed(robot: str, option: str) -> str:
    """A robot's name with one more option."""
    return f"{robot}{',' if ':' in robot else ':'}{option}"


def steady(velocity: Velocity) -> Itinerary:
    return Itinerary(((BEGIN, velocity),))


def forward(options: argparse.Namespace) -> Iterator[Episode]:
    """20 s straight on."""
    for seed in range(options.seeds):
        velocity = (asked(options).forward, 0.0, 0.0)
        settings = RunSettings(robot=options.robot, time=20.0, seed=seed)
        yield Episode(f"{velocity[0]} m/s, seed {seed}", settings, steady(velocity))


def ways(options: argparse.Namespace) -> Iterator[Episode]:
    """Backward, to both sides, on the spot, and a curve, 10 s each."""
    speeds = asked(options)
    curve = (speeds.forward / 2, 0.0, speeds.turn / 2)
    others = (
        (-speeds.backward, 0.0, 0.0),
        (0.0, speeds.aside, 0.0),
        (0.0, -speeds.aside, 0.0),
        (0.0, 0.0, speeds.turn),
    )
    for velocity in (*others, curve):
        for seed in range(options.seeds):
            settings = RunSettings(robot=options.robot, time=10.0, seed=seed)
            yield Episode(f"{velocity}, seed {seed}", settings, steady(velocity))


def halt(options: argparse.Namespace) -> Iterator[Episode]:
    """Ten moments of the gait at which the command ends; 8 s more, the first one 60 s."""
    for k in range(10):
        end = 4.0 + 0.09 * k
        script = Itinerary(((BEGIN, (asked(options).forward, 0.0, 0.0)), (end, STILL)))
        settings = RunSettings(robot=options.robot, time=end + (8.0 if k else 60.0), seed=k)
        yield Episode(f"command ends at {end:.2f} s", settings, script, obeys=False, halts=True)


def pushed(options: argparse.Namespace, force: float, duration: float, directions: Iterable[int]) -> Iterator[Episode]:
    """One push in each of some phases of the gait; up 4 s after it."""
    script = steady((asked(options).pushed, 0.0, 0.0))
    for seed, direction, k in itertools.product(range(options.seeds), directions, range(options.phases)):
        settings = RunSettings(robot=options.robot, time=7.5, seed=seed)
        push = PushProfile(force, duration, direction, 2.4)
        name = f"{direction} deg, phase {k / options.phases:.2f}, seed {seed}"
        yield Episode(name, settings, script, (push,), k / options.phases, obeys=False)


def pushes(options: argparse.Namespace) -> Iterator[Episode]:
    """Eight directions; ``--dv`` [m/s] within 0.2 s."""
    force = options.dv * registry.load(options.robot).mass / 0.2
    yield from pushed(options, force, 0.2, range(0, 360, 45))


def ke7(options: argparse.Namespace) -> Iterator[Episode]:
    """Kudoh: 300 N for 0.4 s from behind on 71 kg; other bodies get the same change of velocity."""
    force = 300.0 * registry.load(options.robot).mass / THESIS_MASS
    yield from pushed(options, force, 0.4, (0,))


def t4(options: argparse.Namespace) -> Iterator[Episode]:
    """Torres: 500 N for 0.1 s from four sides, scaled to the mass in the same way."""
    force = 500.0 * registry.load(options.robot).mass / THESIS_MASS
    yield from pushed(options, force, 0.1, (0, 90, 180, 270))


def lee(options: argparse.Namespace) -> Iterator[Episode]:
    """Lee: ten pushes of 0.4 s, one every 4 s, at the change of velocity that his walker bore from that side."""
    mass = registry.load(options.robot).mass
    script = steady((asked(options).pushed, 0.0, 0.0))
    for direction, dv in LEE.items():
        for k in range(options.phases):
            train = tuple(PushProfile(dv * mass / 0.4, 0.4, direction, 2.4 + 4.0 * i) for i in range(10))
            name = f"{direction} deg, {dv} m/s, phase {k / options.phases:.2f}"
            settings = RunSettings(robot=options.robot, time=44.0)
            yield Episode(name, settings, script, train, k / options.phases, obeys=False)


def policies(options: argparse.Namespace) -> Iterator[Episode]:
    """Each way to place feet: undisturbed at the speed of the pushes, and pushed from four sides (``--dv``)."""
    force = options.dv * registry.load(options.robot).mass / 0.2
    script = steady((asked(options).pushed, 0.0, 0.0))
    for policy in PLACEMENTS:
        settings = RunSettings(robot=options.robot, time=7.5, step_policy=policy)
        yield Episode(f"{policy}, not pushed", settings, script, obeys=False)
        for direction in range(0, 360, 90):
            push = PushProfile(force, 0.2, direction, 2.4)
            yield Episode(f"{policy}, {direction} deg", settings, script, (push,), 0.5, obeys=False)


def random(options: argparse.Namespace) -> Iterator[Episode]:
    """120 s of commands that change by up to 0.5 m/s and 0.5 rad/s every 3 s."""
    speeds = asked(options)
    low = np.array([-speeds.backward, -speeds.aside, -speeds.turn])
    high = np.array([speeds.forward, speeds.aside, speeds.turn])
    for seed in range(options.seeds):
        rng, velocity, lines = np.random.default_rng(seed), np.zeros(3), []
        for k in range(40):
            velocity = np.clip(velocity + rng.uniform(-0.5, 0.5, 3), low, high)
            x, y, turn = velocity.tolist()
            lines.append((BEGIN + 3.0 * k, (x, y, turn)))
        settings = RunSettings(robot=options.robot, time=120.0, seed=seed)
        yield Episode(f"random, seed {seed}", settings, Itinerary(tuple(lines)), obeys=False, apart=True)


def tour(options: argparse.Namespace) -> Iterator[Episode]:
    """Ten legs of about 5 m with curves of 90 degrees between them, to either side."""
    speed, turn = asked(options).pushed, asked(options).turn / 2
    curve = math.pi / 2 / turn
    for seed in range(options.seeds):
        lines, time = [], BEGIN
        for k in range(10):
            lines.append((time, (speed, 0.0, 0.0)))
            time += 5.0 / speed
            lines.append((time, (0.6 * speed, 0.0, turn if k % 3 else -turn)))
            time += curve
        lines.append((time, STILL))
        settings = RunSettings(robot=options.robot, time=time + 3.0, seed=seed)
        yield Episode(f"tour, seed {seed}", settings, Itinerary(tuple(lines)), obeys=False, far=True)


def footsteps(options: argparse.Namespace) -> Iterator[Episode]:
    """Plans of 20 footsteps at random within what is allowed."""
    robot = registry.load(options.robot)
    for seed in range(options.seeds):
        settings = RunSettings(robot=options.robot, time=14.0, seed=seed)
        script = Itinerary(plans=((BEGIN, _plan(robot, np.random.default_rng(seed), 20)),))
        yield Episode(f"20 footsteps, seed {seed}", settings, script, obeys=False)


def _plan(robot: Robot, rng: np.random.Generator, count: int) -> Plan:
    gait = Gait(robot, Reach.of(robot))
    route, side, offset = Route(robot, gait), int(rng.integers(2)), float(robot.sole_centres[0][0])
    feet = [Placed(k, (offset, sign * robot.stance_width / 2), 0.0) for k, sign in ((0, 1.0), (1, -1.0))]
    plan: list[Foothold] = []
    while len(plan) < count:
        (sx, sy), yaw, sign = feet[1 - side].centre, feet[1 - side].yaw, 1.0 if side == 0 else -1.0
        x, y = rng.uniform(-gait.longest, gait.longest), sign * rng.uniform(gait.reach.near, gait.reach.far)
        place = sx + math.cos(yaw) * x - math.sin(yaw) * y, sy + math.sin(yaw) * x + math.cos(yaw) * y
        turned = yaw + rng.uniform(-gait.toes_out, gait.toes_out)
        foot = Placed(side, place, turned)
        if not route.unreachable(feet[1 - side], foot):
            feet[side] = foot
            plan.append(
                foothold(side, place[0] - math.cos(turned) * offset, place[1] - math.sin(turned) * offset, turned)
            )
            side = 1 - side
    return tuple(plan)


def mismatch(options: argparse.Namespace) -> Iterator[Episode]:
    """60 % of the speed on a body or in a world that the controller does not know."""
    mass = registry.load(options.robot).mass
    cases: dict[str, dict[str, Any]] = {
        "mass +10 %": {"plant_robot": changed(options.robot, f"mass={1.1 * mass:.2f}")},
        "mass -10 %": {"plant_robot": changed(options.robot, f"mass={0.9 * mass:.2f}")},
        "friction 0.5": {"friction": 0.5},
        "torques x 0.8": {"torque_scale": 0.8},
        "latency 2 + 2 ms": {"sensor_latency": 0.002, "actuator_latency": 0.002},
        "payload 5 kg": {"payload": 5.0},
    }
    if options.robot.startswith("human"):
        cases["shank +6 %"] = {"plant_robot": changed(options.robot, "shank=1.06")}
    velocity = (0.6 * asked(options).forward, 0.0, 0.0)
    for name, changes in cases.items():
        yield Episode(name, RunSettings(robot=options.robot, time=20.0, **changes), steady(velocity), obeys=False)


ROWS: dict[str, Callable[[argparse.Namespace], Iterator[Episode]]] = {
    row.__name__: row
    for row in (forward, ways, halt, pushes, ke7, t4, lee, random, mismatch, tour, footsteps, policies)
}


def attempt(episode: Episode) -> tuple[bool, str]:
    done = run(episode.settings, episode.script, episode.pushes, episode.phase)
    result = done.result
    good, how = not result["fell"], f"fell at {result['time']:.2f} s" if result["fell"] else "up"
    if episode.obeys:
        turning = any(velocity[2] for _, velocity in episode.script.lines)
        good = good and result["velocity_error"] < OBEYED and (turning or result["heading_error_deg"] < STRAIGHT)
    good = good and (not episode.far or result["estimation"]["odometry_drift"] < DRIFT)
    if episode.halts and good:
        steps, crept = stopped(done, episode.script.lines[-1][0])
        good = steps <= STOPPED and crept < CREPT
        how += f", stopped in {steps} steps, crept {1e3 * crept:.1f} mm"
    if episode.apart:
        met = leg_contacts(done)
        good = good and not met
        how += f", legs met {len(met)} times" + (
            f", first {' and '.join(met[0].links)} at {met[0].stamp:.2f} s" if met else ""
        )
    plan = result.get("footsteps")
    if plan is not None:
        worst = plan["place_error_max"] or 0.0, plan["yaw_error_max_deg"] or 0.0
        good = good and plan["taken"] == plan["planned"] and worst[0] < PLACED and worst[1] < TURNED
        how += f", {plan['taken']} of {plan['planned']} within {100 * worst[0]:.1f} cm and {worst[1]:.1f} deg"
    error = result["velocity_error"]
    off = "" if error is None else f", {100 * error:.1f} % off"
    return good, (
        f"{how}, {result['steps']} steps{off}, heading {result['heading_error_deg']:.1f} deg, "
        f"slip {1e3 * result['slip_max']:.0f} mm, odometry {100 * result['estimation']['odometry_drift']:.2f} %, "
        f"cost {result['cost_of_transport'] or 0:.2f}, {result['modes'][-1][1]}"
    )


def stopped(done: Run, end: float) -> tuple[int, float]:
    """Steps of a walk after its command ended [s], and how far the CoM moved once the last foot was down [m]."""
    landed = [float(done.record["time"][landing.row]) for landing in Way.of(done).landings]
    over = next((stamp for stamp, mode in done.record.mode_changes if stamp > end and mode != "walking"), math.inf)
    still = done.record["true_com"][done.record["time"] > max([end, *landed]) + SETTLED, :2]
    return sum(end < stamp <= over for stamp in landed), float(np.ptp(still, axis=0).max()) if len(still) else math.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", choices=ROWS)
    parser.add_argument("--robot", default="human")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--phases", type=int, default=8)
    parser.add_argument("--dv", type=float, default=0.6, help="velocity change of a push [m/s]")
    options = parser.parse_args()
    episodes = list(ROWS[options.row](options))
    report(episodes, attempt, options.workers)


if __name__ == "__main__":
    main()
