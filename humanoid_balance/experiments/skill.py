"""One skill: the robot lies on the ground, or is knocked over, and is asked for it; what came of it is measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from humanoid_balance.errors import InputError
from humanoid_balance.experiments import comeback, timing
from humanoid_balance.experiments.simulation import Progress, simulate
from humanoid_balance.loop import Tick
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.simulator import Simulator
from humanoid_balance.recording.run import Run
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.skills.plan import RECOVER, chain
from humanoid_balance.skills.rollout import Bench
from humanoid_balance.skills.script import FEET, Script, find, library
from humanoid_balance.skills.side import LEFT_SIDE, LYING, PRONE, RIGHT_SIDE, SUPINE, UPRIGHT, TrunkAxes, side_of
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import GRAVITY, Array, Command

STARTS = ("supine", "prone", "side", "fallen", "random")
SETTLING = 0.5  # the loop runs this long before the skill is asked for [s]
LEFT_FOR_FALLING = 3.5  # a robot that is knocked over is asked this long after the push [s]
AFTER = 1.5  # the run goes on this long after the scripts [s]
RISING = 4.0  # and so much longer where it should stand up [s]
KNOCK = 0.7  # change of velocity by the push that knocks a robot over [sqrt(g CoM height)]: hardly a stance survives it
KNOCK_TIME = 0.2  # [s]
STILL_FOR = 1.0  # it has succeeded when it still stands, or lies as it should, in the last second [s]
SEEN = 1.5  # the run is over when the robot has stood for so long, or lain after the skill [s]
ON_THE_WAY = ("falling", "skill", "rising")
FOOT = 0.06  # parts of the body that are so near the lowest in the stance are feet [m]


class Asker:
    """The operator of a skill: asks for it once the body lies, and watches how hard the ground hits."""

    def __init__(self, robot: Robot, skill: str, at: float, stays: bool = False) -> None:
        """``at`` [s]: not before; ``stays``: to the end of the run, also when there is nothing more to see."""
        self.robot, self.skill, self.at, self.stays = robot, skill, at, stays
        self.lying = self.over = False
        self._rests = math.inf  # since when the skill has led to something [s]
        self.began = math.nan  # when the skill was begun [s]
        self.head_speed = 0.0  # largest at which the head met the ground [m/s]
        self.refused = ""
        self._head: HeadWatch | None = None

    def command(self, stamp: float) -> Command:
        ask = self.lying and math.isnan(self.began) and stamp >= self.at
        return Command(stamp, skill=self.skill if ask else "")

    def see(self, tick: Tick, plant: Simulator) -> None:
        mode = tick.reference.mode
        self.lying = mode == "lying"
        self.refused = tick.refused or self.refused
        if mode == "skill" and math.isnan(self.began):
            self.began = tick.state.stamp
        now, led = tick.state.stamp, not math.isnan(self.began) and mode not in ON_THE_WAY
        self._rests = min(self._rests, now) if led else math.inf
        self.over = not self.stays and now - self._rests > SEEN
        if isinstance(plant, MujocoPlant):
            self._head = self._head or HeadWatch(plant)
            self.head_speed = max(self.head_speed, self._head.look())


class HeadWatch:
    """How fast the head of a simulated body meets the ground."""

    def __init__(self, plant: MujocoPlant) -> None:
        self.model, self.data = plant.model, plant.data
        model, robot = self.model, plant.robot
        self._ground = model.geom("ground").id
        stance = mujoco.MjData(model)
        joints = [model.joint(name).qposadr[0] for name in robot.joint_names]
        q = robot.q_nominal
        stance.qpos[:3], stance.qpos[3:7], stance.qpos[joints] = q[:3], q[[6, 3, 4, 5]], q[7:]
        mujoco.mj_kinematics(model, stance)
        bodies = [g for g in range(model.ngeom) if model.geom_contype[g] and g != self._ground]
        self.head = max(bodies, key=lambda g: stance.geom_xpos[g, 2])  # the part that is highest in the stance
        low = min(stance.geom_xpos[g, 2] for g in bodies)
        feet = {model.geom_bodyid[g] for g in bodies if stance.geom_xpos[g, 2] < low + FOOT}
        self._feet = {g for g in bodies if model.geom_bodyid[g] in feet}
        self._velocity = np.zeros(6)

    def on_ground(self) -> set[int]:
        """The parts, beside the feet, that touch the ground."""
        pairs = [set(map(int, pair)) for pair in self.data.contact.geom if self._ground in pair]
        return set().union(*pairs) - self._feet - {self._ground}

    def look(self) -> float:
        """Speed toward the ground while they touch [m/s]."""
        data = self.data
        if not any(self.head in pair and self._ground in pair for pair in data.contact.geom):
            return 0.0
        mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_GEOM, self.head, self._velocity, 0)
        return max(0.0, -float(self._velocity[5]))


def start_pose(robot: Robot, settings: RunSettings, start: str) -> Array | None:
    """Where the run begins, settled in MuJoCo: a Pinocchio configuration; None: standing, to be knocked over."""
    if start not in STARTS:
        raise InputError(f"start is '{start}'; allowed: {', '.join(STARTS)}")
    rng = np.random.default_rng(settings.seed)
    bench = Bench(robot, settings.friction)
    sides = {"side": (LEFT_SIDE, RIGHT_SIDE), "random": LYING}.get(start, (start,))
    side = str(rng.choice(sides))
    if start == "fallen":
        return None
    return bench.lay(side, rng)


def run(
    settings: RunSettings,
    skill: str,
    start: str | None = None,
    progress: Progress | None = None,
    log: Path | None = None,
    against_limp: bool = False,
) -> Run:
    """Play a skill; the result is the JSON object of ``humanoid-balance skill``.

    ``against_limp``: a robot that is knocked over falls once more, without torque, for the sake of ``peak_force_limp``.
    """
    if settings.plant != "mujoco" and start != "fallen":
        raise InputError(f"plant is '{settings.plant}'; allowed with a lying start: mujoco")
    if against_limp and start != "fallen":
        raise InputError(f"limp is for a fall, start is '{start or 'as the skill begins'}'; allowed: fallen")
    robot = registry.load(settings.robot)
    scripts = library(robot)
    script = None if skill == RECOVER else find(scripts, skill, robot)
    start = start or (PRONE if script is None else _usual(script))
    pose = start_pose(robot, settings, start)
    pushes, at = [], SETTLING
    if pose is None:
        direction = float(np.random.default_rng(settings.seed).uniform(0, 360))
        speed = KNOCK * math.sqrt(GRAVITY * robot.com_height)
        pushes = [PushProfile(speed * robot.mass / KNOCK_TIME, KNOCK_TIME, direction, 0.5)]
        at = LEFT_FOR_FALLING
    operator = Asker(robot, skill, at, stays=settings.time is not None)
    settings = replace(settings, time=settings.time or at + 1.0 + _length(scripts, script))
    assert settings.time is not None
    done = simulate(settings, pushes, settings.time, progress, log, operator, start=pose, to_the_end=True)
    done.result = figures(done, skill, start, script, operator)
    if against_limp:
        limp = simulate(replace(settings, fall="limp"), pushes, LEFT_FOR_FALLING, to_the_end=True)
        done.result["peak_force_limp"] = round(peak_force(limp), 1)
    done.title = story(done.result)
    return done


def _usual(script: Script) -> str:
    return script.starts[0] if script.starts[0] in (SUPINE, PRONE) else "side"


def _length(scripts: dict[str, Script], script: Script | None) -> float:
    """How long the skill and what follows may take [s]."""
    if script is not None:
        return script.length + AFTER + (RISING if script.ends == FEET else 0.0)
    lengths = [sum(s.length for s in chain(scripts, side)) for side in LYING]
    return max(lengths, default=0.0) + AFTER + RISING


def figures(run: Run, skill: str, start: str, script: Script | None, operator: Asker) -> dict[str, Any]:
    """The JSON object of ``humanoid-balance skill``."""
    robot, record = run.robot, run.record
    times, ends = record["time"], FEET if script is None else script.ends
    standing = comeback.standing(run)
    axes = TrunkAxes(robot)
    last = times > times[-1] - STILL_FOR
    began = operator.began
    if ends == FEET:
        success = bool(standing[last].all())
        up = comeback.since(times, standing) if success else math.nan
    else:
        sides = [side_of(axes.of(q)) for q in record["true_q"][last][::50]]
        success = all(side == ends for side in sides)
        up = math.nan
    tell: Callable[[float], float | None] = lambda t: None if math.isnan(t) else round(t, 3)  # noqa: E731
    over = [t for t, name in record.mode_changes if t > began and name != "skill"]
    end = up if ends == FEET else (over[0] if over else math.nan)
    return {
        "skill": skill,
        "robot": robot.spec,
        "start": start,
        "success": bool(success and not math.isnan(began)),
        "time": tell(end - began),  # from asking to the end of the skill, or to standing [s]
        "modes": [[round(t, 4), name] for t, name in record.mode_changes],
        "refused": operator.refused,
        "peak_force": round(peak_force(run), 1),
        "peak_force_limp": None,  # of the same fall without torque, where that was asked for
        "head_speed_max": round(operator.head_speed, 3),
        "torque_ratio_max": float((abs(record["true_torque"]) / robot.torque_limit).max()),
        "upright_at": tell(up),
        "ends": side_of(axes.of(record["true_q"][-1])) if not standing[-1] else UPRIGHT,
        "tick": timing.percentiles(run.times["tick"], tail=True),
        "rtf": round(record.length * run.dt / run.wall, 3),
    }


def peak_force(run: Run) -> float:
    """Largest force of the ground on the whole body, m |a + g|, over one control period [N]."""
    acceleration = np.diff(run.record["true_com_velocity"], axis=0) / run.dt
    push = run.record["true_push"][1:] / run.robot.mass
    return float(run.robot.mass * np.linalg.norm(acceleration - push + (0.0, 0.0, GRAVITY), axis=1).max())


def story(result: dict[str, Any]) -> str:
    """The result in a line."""
    what = f"{result['robot']}: {result['skill']} from {result['start']}"
    if not result["success"]:
        why = f" ({result['refused']})" if result["refused"] else ""
        return f"{what} failed, ends {result['ends']}{why}"
    return f"{what} done in {result['time']:.2f} s, peak force {result['peak_force']:.0f} N"
