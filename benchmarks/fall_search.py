"""Finds the poses of a protected fall: CMA-ES in bare physics, from states in which the whole loop noticed a fall.

    python benchmarks/fall_search.py g1 left --rollouts 900 --seed 1     # begins at, and writes, the file of that fall

The cost is the peak force of the ground against that of a limp fall from the same state, and the speed at which the
head meets the ground. Poses of the keys of ``search`` change, and one factor on all stiffnesses, one on all dampings.
A file must be there to begin with; its result is to be verified by ``benchmarks/falls.py``.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from typing import Any

import cma
import mujoco
import numpy as np

from humanoid_balance.balance.modes.falling import GIVE, TINY
from humanoid_balance.experiments.simulation import simulate
from humanoid_balance.experiments.skill import HeadWatch
from humanoid_balance.loop import Tick
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.simulator import Simulator
from humanoid_balance.robot import registry
from humanoid_balance.robot.model import Robot
from humanoid_balance.skills.curve import Curve
from humanoid_balance.skills.optimise import Space
from humanoid_balance.skills.rollout import STEP, Bench
from humanoid_balance.skills.script import Script, folder, load
from humanoid_balance.skills.writer import write
from humanoid_balance.stack import RunSettings
from humanoid_balance.types import GRAVITY, STILL, Array, Command

DIRECTIONS = {"forward": (0, -40, 40), "backward": (180, 145, 215), "left": (90, 65, 115)}
PUSHES = ((2.0, 0.6), (1.7, 0.9))  # change of velocity [m/s] and friction
LASTS, BEGINS, LENGTH = 0.2, 0.3, 1.6  # of a push, and how long a fall is waited for [s]
ROLL_OUT = 1.4  # of a rollout [s]
HEAD = 0.5  # cost of the head per m/s, beyond what is allowed
GENTLE = 0.7  # speed of a head that may touch [m/s]: below the one that benchmarks count
GAIN = 0.3  # first standard deviation of the logarithm of a gain


@dataclass
class Noticed:
    """MuJoCo's state when the loop noticed a fall."""

    qpos: Array
    qvel: Array
    friction: float
    limp: float = 0.0  # peak force of the limp fall from there [N]


class Witness:
    """Ends the run with the fall, and keeps the state."""

    def __init__(self) -> None:
        self.over, self.state, self.way = False, None, ""

    def command(self, stamp: float) -> Command:
        return STILL

    def see(self, tick: Tick, plant: Simulator) -> None:
        assert isinstance(plant, MujocoPlant)
        if tick.reference.mode == "falling":
            self.state, self.over = (plant.data.qpos.copy(), plant.data.qvel.copy()), True

    def meet(self, loop: Any) -> None:
        self.loop = loop


def noticed(robot: str, way: str) -> list[Noticed]:
    """Falls that way, by the whole loop."""
    found, model = [], registry.load(robot)
    for degrees in DIRECTIONS[way]:
        for dv, friction in PUSHES:
            witness = Witness()
            push = PushProfile(dv * model.mass / LASTS, LASTS, degrees, BEGINS)
            settings = RunSettings(robot, seed=len(found), friction=friction)
            simulate(settings, [push], LENGTH, operator=witness, to_the_end=True)
            towards = witness.loop.balance.modes["falling"].towards if witness.over else ""
            if towards == way:
                found.append(Noticed(*witness.state, friction))
            print(f"{degrees} deg, {dv} m/s: {towards or 'does not fall'}", file=sys.stderr, flush=True)
    return found


class Judge:
    """Rolls a fall out."""

    def __init__(self, robot: Robot, states: list[Noticed]) -> None:
        self.robot, self.states = robot, states
        self.benches = {state.friction: Bench(robot, state.friction) for state in states}
        self.heads = {friction: HeadWatch(bench) for friction, bench in self.benches.items()}  # type: ignore[arg-type]
        for state in states:
            state.limp = self.fall(state, None)[0]

    def fall(self, state: Noticed, script: Script | None) -> tuple[float, float]:
        """Peak force of the ground [N] and speed of the head [m/s]; without a script the joints are limp."""
        robot, bench, head = self.robot, self.benches[state.friction], self.heads[state.friction]
        data, model = bench.data, bench.model
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = state.qpos, state.qvel
        joints, speeds, limit = bench.qpos, bench.qvel, robot.torque_limit
        most, peak, speed, before = GIVE * limit, 0.0, 0.0, None
        if script is not None:
            curve = Curve(
                [0.0, *(k.at for k in script.keys)], np.array([data.qpos[joints], *(k.pose for k in script.keys)])
            )
            stiffness, damping = script.stiffness, script.damping
            reach = most / np.maximum(stiffness, TINY)
        for k in range(round(ROLL_OUT / STEP)):
            torque = np.zeros(robot.n)
            if script is not None:
                error = curve.at(k * STEP)[0] - data.qpos[joints]
                torque = stiffness * np.clip(error, -reach, reach) - damping * data.qvel[speeds]
            data.ctrl[:] = np.clip(torque, -limit, limit)
            mujoco.mj_step(model, data)
            velocity = data.sensordata[bench.velocity].copy()
            if before is not None:
                acceleration = (velocity - before) / STEP + (0.0, 0.0, GRAVITY)
                peak = max(peak, robot.mass * float(np.linalg.norm(acceleration)))
            before = velocity
            speed = max(speed, head.look())
        return peak, speed

    def cost(self, script: Script) -> float:
        values = []
        for state in self.states:
            peak, speed = self.fall(state, script)
            values.append(peak / state.limp + HEAD * max(0.0, speed - GENTLE))
        return float(np.mean(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robot")
    parser.add_argument("way", choices=DIRECTIONS)
    parser.add_argument("--rollouts", type=int, default=900)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    robot = registry.load(options.robot)
    file = folder(robot) / "falls" / f"{options.way}.yaml"
    script = load(file, robot)
    space, judge = Space(script, robot), Judge(robot, noticed(options.robot, options.way))
    low, high = space.bounds()
    n = space.size

    def at(x: Array) -> Script:
        stiff, damped = np.exp(GAIN * np.asarray(x[n:]))
        return replace(
            space.script_at(np.asarray(x[:n])), stiffness=script.stiffness * stiff, damping=script.damping * damped
        )

    settings = {"seed": options.seed, "bounds": [[*low, -4.0, -4.0], [*high, 4.0, 4.0]], "verbose": -9, "verb_log": 0}
    strategy = cma.CMAEvolutionStrategy(np.zeros(n + 2), 1.0, settings)
    first = judge.cost(script)
    best, found, used = first, np.zeros(n + 2), 0
    while used < options.rollouts and not strategy.stop():
        candidates = strategy.ask()
        values = [judge.cost(at(x)) for x in candidates]
        strategy.tell(candidates, values)
        used += len(candidates) * len(judge.states)
        if min(values) < best:
            best, found = min(values), np.asarray(candidates[int(np.argmin(values))])
        print(f"{used} rollouts, cost {best:.3f} (first {first:.3f})", file=sys.stderr, flush=True)
    stiff, damped = np.exp(GAIN * found[n:])
    command = f"python benchmarks/fall_search.py {options.robot} {options.way}"
    write(file, at(found), robot, {
        "command": f"{command} --rollouts {options.rollouts} --seed {options.seed}",
        "cost": round(best, 4), "before": round(first, 4), "states": len(judge.states), "rollouts": used,
    }, (float(stiff), float(damped)))  # fmt: skip
    print(f"{file}: cost {best:.3f}, before {first:.3f}")


if __name__ == "__main__":
    main()
