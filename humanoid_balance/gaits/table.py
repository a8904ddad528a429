"""A gait as data: states, when each ends, the pose it asks for, and how the swing hip answers to balance.

Angles are Yin's (Yin, Loken, van de Panne, "SIMBICON: Simple biped locomotion control", SIGGRAPH 2007; K. Yin, PhD
thesis, UBC 2007, table 7.1), in rad: hip and torso against the world, the others against their parent. Seen from the
robot's right side they turn counter-clockwise: hip + swings the leg forward, knee - bends it, ankle + lifts the toes,
torso - leans forward.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path

from humanoid_balance.gaits.cycle import LONGEST as LONGEST_CYCLE
from humanoid_balance.gaits.cycle import MOST, Cycle, FourierCurve
from humanoid_balance.gaits.cycle import SHORTEST as SHORTEST_CYCLE
from humanoid_balance.gaits.learning import NARROWEST, WIDEST, Learning
from humanoid_balance.gaits.pendulum_steps import KNOT, PendulumSteps
from humanoid_balance.yaml_file import Reader, names_of, read

SWING = "swing"  # ``until`` of a state that ends when the swinging foot touches the ground
LONGEST = 10.0  # of a state [s]
FEWEST = 2  # states per half cycle: shorter tables are padded with states that take no time, see GaitTable.padded
SPACES = ("plane", "space")
# Feedback does not throw the swinging thigh further than a leg swings: of the authors' own demonstration (S. Coros and
# M. van de Panne, 2007), which bounds the target of the hip. The tables count on it: the skip asks for 2.44 rad and the
# scissor hop for -0.82, and with that both fall.
THIGH = (-0.4, 1.6)  # [rad]
FREE = (-math.pi, math.pi)
Feedback = tuple[float, float]  # c_d [rad/m], c_v [rad s/m]


@dataclass(frozen=True)
class GaitState:
    """One row: the pose, seen from the stance leg, and the feedback while it lasts."""

    time: float | None  # after which the state ends [s]; None: when the swinging foot touches the ground
    torso: float = 0.0  # pitch of the trunk in the world [rad]
    swing_hip: float = 0.0  # angle of the swinging thigh in the world [rad]
    swing_knee: float = 0.0  # against the thigh [rad]
    swing_ankle: float = 0.0  # against the shank; 0 is a right angle [rad]
    stance_knee: float = 0.0
    stance_ankle: float = 0.0
    c_d: float = 0.0  # swing hip per metre from the stance ankle to the hips [rad/m]
    c_v: float = 0.0  # swing hip per speed of the hips [rad s/m]
    swing_roll: float = 0.0  # of the swinging thigh in the world, outward [rad]
    lateral: Feedback = (0.0, 0.0)  # c_d, c_v in the frontal plane
    ankle: Feedback = (0.0, 0.0)  # the same for the stance ankle, sagittal


NUMBERS = (
    "torso", "swing_hip", "swing_knee", "swing_ankle", "stance_knee", "stance_ankle", "c_d", "c_v", "swing_roll",
)  # fmt: skip
PAIRS = ("lateral", "ankle")


@dataclass(frozen=True)
class Gain:
    """Joint feedback: stiffness [N m/rad] and damping [N m s/rad]."""

    stiffness: float = 300.0
    damping: float = 30.0


@dataclass(frozen=True)
class GaitGains:
    """Yin's: 300 and 30, a waist of 1000 and 100; beside the legs no stiffer than the torque limit is strong."""

    torso: Gain = field(default_factory=Gain)
    hip: Gain = field(default_factory=Gain)
    knee: Gain = field(default_factory=Gain)
    ankle: Gain = field(default_factory=Gain)
    waist: Gain = field(default_factory=lambda: Gain(1000.0, 100.0))
    rest: Gain = field(default_factory=Gain)  # arms, head

    def firmer(self, factor: float) -> GaitGains:
        """Trunk and hips held more firmly. With all gains doubled the walk falls after smaller pushes."""
        torso, hip = (Gain(factor * gain.stiffness, factor * gain.damping) for gain in (self.torso, self.hip))
        return replace(self, torso=torso, hip=hip)


@dataclass(frozen=True)
class Reaction:
    """Gains rise for a while after a push, not before a person's reaction time is over (Y22)."""

    factor: float  # of the gains of trunk and hips
    delay: float = 0.15  # after the push began [s]
    time: float = 1.0  # for so long [s], about three steps


@dataclass(frozen=True)
class GaitTable:
    """A gait. ``states`` are those of half a cycle; the other half is its mirror image, with the legs exchanged."""

    name: str
    file: Path
    about: str
    space: str  # one of SPACES: for bodies on a boom, or for free ones
    states: tuple[GaitState, ...]
    gains: GaitGains = field(default_factory=GaitGains)
    enter: tuple[str, ...] = ()  # gaits from which it can be entered; empty: from standing, and from all others
    stop: str = ""  # gait to slow down with before standing; empty: this one
    posture: dict[str, float] = field(default_factory=dict)  # joints that are not of the legs: pattern -> angle [rad]
    robots: tuple[str, ...] = ()  # for which it was made; for people
    learning: Learning | None = None  # of the trunk's torque
    reaction: Reaction | None = None  # to a push
    cycle: Cycle | None = None  # curves that the angles of the states are added to
    pendulum: PendulumSteps | None = None  # where the swinging foot goes, instead of its leg's angles
    drift: float = 0.0  # of the swinging thigh to the left, on both sides: it goes sideways [rad]
    thigh: tuple[float, float] = THIGH  # the swinging one is asked for no more, feedback included [rad]

    @cached_property
    def raised(self) -> GaitTable:
        """With the gains of the reaction to a push."""
        return self if self.reaction is None else replace(self, gains=self.gains.firmer(self.reaction.factor))

    @cached_property
    def lands(self) -> bool:
        """It waits for a foot to touch the ground: a walk, not a run."""
        return any(state.time is None for state in self.states)

    @cached_property
    def leans(self) -> tuple[float, float]:
        """How far forward the trunk goes from state to state, at least and at most; upright is among it [rad]."""
        forward = [0.0, *(-state.torso for state in self.states)]
        return min(forward), max(forward)

    def padded(self) -> GaitTable:
        """With at least FEWEST states, so that gaits can be exchanged state by state (Y18)."""
        missing = FEWEST - len(self.states)
        return (
            replace(self, states=self.states + (replace(self.states[0], time=0.0),) * missing) if missing > 0 else self
        )


def load(file: Path) -> GaitTable:
    """Read and check a gait's YAML."""
    reader = read(file)
    space = reader.text("space")
    if space not in SPACES:
        raise reader.bad("space", space, ", ".join(SPACES))
    gains = reader.section("gains", {})
    given = {f.name: _gain(gains, f.name) for f in fields(GaitGains) if f.name in gains.data}
    gains.done(names_of(GaitGains))
    posture = reader.section("posture", {})
    planned = "cycle" in reader.data or "pendulum" in reader.data  # the thigh goes where these say
    table = GaitTable(
        name=file.stem,
        file=file,
        about=reader.text("about"),
        space=space,
        states=tuple(_state(section) for section in reader.sections("states")),
        gains=GaitGains(**given),
        enter=reader.names("enter"),
        stop=reader.text("stop", ""),
        posture={str(k): posture.check_number(str(k), v, -math.tau, math.tau) for k, v in posture.data.items()},
        robots=reader.names("robots"),
        learning=_learning(reader.section("learning")) if "learning" in reader.data else None,
        reaction=_reaction(reader.section("reaction")) if "reaction" in reader.data else None,
        cycle=_cycle(reader.section("cycle")) if "cycle" in reader.data else None,
        pendulum=_pendulum(reader.section("pendulum")) if "pendulum" in reader.data else None,
        drift=reader.number("drift", 0.0, -math.pi, math.pi),
        thigh=_range(reader, "thigh", FREE if planned else THIGH),
    )
    reader.done(names_of(GaitTable, ("name", "file")))
    if all(state.time is None for state in table.states) and len(table.states) > 1:
        raise reader.bad("states", "states that all wait for the swinging foot", "one with a 'time' among them")
    return table


def _state(reader: Reader) -> GaitState:
    allowed = f"'time' above 0 and up to {LONGEST:g} s, or 'until: {SWING}'"
    if "until" in reader.data:
        until = reader.take("until")
        if until != SWING:
            raise reader.bad("until", until, f"'{SWING}': the swinging foot touches the ground")
        if "time" in reader.data:
            raise reader.bad("time", reader.data["time"], "'time' or 'until', not both")
        time = None
    else:
        value = reader.take("time", ..., allowed)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value <= LONGEST:
            raise reader.bad("time", value, allowed)
        time = float(value)
    values = {key: reader.number(key, 0.0, -math.pi, math.pi) for key in NUMBERS}
    pairs = {key: reader.pair(key, (0.0, 0.0), ordered=False) for key in PAIRS}
    state = GaitState(time=time, **values, **pairs)
    reader.done(f"until, {names_of(GaitState)}")
    return state


def _range(reader: Reader, key: str, usual: tuple[float, float]) -> tuple[float, float]:
    low, high = reader.pair(key, usual)
    if not -math.pi <= low < high <= math.pi:
        raise reader.bad(key, [low, high], "[lowest, highest], rising, within -pi to pi rad")
    return low, high


def _gain(reader: Reader, key: str) -> Gain:
    stiffness, damping = reader.pair(key, ordered=False)
    for value, most in ((stiffness, 1e4), (damping, 1e3)):
        if not 0.0 <= value <= most:
            raise reader.bad(
                key, [stiffness, damping], "[stiffness, damping], 0 to 10000 N m/rad and 0 to 1000 N m s/rad"
            )
    return Gain(stiffness, damping)


def _cycle(reader: Reader) -> Cycle:
    cycle = Cycle(
        reader.number("period", ..., SHORTEST_CYCLE, LONGEST_CYCLE),
        *(_curve(reader, key) for key in ("hip", "knee", "ankle")),
    )
    reader.done(names_of(Cycle))
    return cycle


def _curve(reader: Reader, key: str) -> FourierCurve:
    given = reader.listed(key)
    if len(given) % 2 == 0 or len(given) > 1 + 2 * MOST:
        raise reader.bad(key, given, f"[mean, a1, b1, a2, b2, ...], up to {MOST} harmonics [rad]")
    mean, *parts = (reader.check_number(f"{key}[{k}]", v, -math.tau, math.tau) for k, v in enumerate(given))
    return FourierCurve(mean, tuple(zip(parts[::2], parts[1::2], strict=True)))


def _pendulum(reader: Reader) -> PendulumSteps:
    knots: list[tuple[float, float, float, float]] = []
    for k, knot in enumerate(reader.listed("swing")):
        if not isinstance(knot, list) or len(knot) != len(KNOT):
            raise reader.bad(f"swing[{k}]", knot, f"[{', '.join(KNOT)}]")
        low, high = zip(*KNOT.values(), strict=True)
        values = [reader.check_number(f"swing[{k}]", *given) for given in zip(knot, low, high, strict=True)]
        if knots and values[0] <= knots[-1][0]:
            raise reader.bad(f"swing[{k}]", knot, f"a phase after {knots[-1][0]:g}")
        knots.append((values[0], values[1], values[2], values[3]))
    steps = PendulumSteps(
        time=reader.number("time", ..., 0.1, 1.0),
        width=reader.number("width", ..., 0.0, 1.0),
        swing=tuple(knots),
        velocity=reader.pair("velocity", PendulumSteps.velocity, ordered=False),
        height=reader.number("height", PendulumSteps.height, 0.5, 1.0),
        reach=reader.number("reach", PendulumSteps.reach, 0.1, 1.0),
        apart=reader.number("apart", PendulumSteps.apart, 0.0, 1.0),
        knee=reader.pair("knee", PendulumSteps.knee, ordered=False),
        ankle=reader.pair("ankle", PendulumSteps.ankle, ordered=False),
    )
    reader.done(names_of(PendulumSteps))
    return steps


def _learning(reader: Reader) -> Learning:
    most = 1e4
    learning = Learning(
        bin=reader.number("bin", ..., NARROWEST, WIDEST),
        rate=reader.number("rate", Learning.rate, 0.0, 1.0),
        most=reader.number("most", Learning.most, 0.0, most),
        torque=tuple(
            reader.check_number(f"torque[{k}]", v, -most, most)
            for k, v in enumerate(reader.listed("torque") if "torque" in reader.data else ())
        ),
    )
    reader.done(names_of(Learning))
    return learning


def _reaction(reader: Reader) -> Reaction:
    reaction = Reaction(
        factor=reader.number("factor", ..., 0.1, 10.0),
        delay=reader.number("delay", Reaction.delay, 0.0, LONGEST),
        time=reader.number("time", Reaction.time, 0.0, LONGEST),
    )
    reader.done(names_of(Reaction))
    return reaction
