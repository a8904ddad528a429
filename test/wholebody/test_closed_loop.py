"""In the simulator, with ground truth for a state: standing, shifting weight, lifting a foot, taking a push."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from wholebody.harness import polygon, reference_at, state_of

from humanoid_balance.geometry import margin
from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.world import PlantOptions
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings, simulated
from humanoid_balance.types import Array, FootReference, Stack
from humanoid_balance.wholebody.controller import WholeBody
from humanoid_balance.wholebody.solution import Status

ROBOTS = ("human", "talos", "g1")
KUDOH = Stack("kudoh", (("feet", "com"), ("kudoh",)))


@dataclass
class Run:
    """What happened."""

    fell: bool = False
    statuses: set[Status] = field(default_factory=set)
    slip: float = 0.0  # of a sole that should stand [m]
    com_error: float = 0.0  # at the end [m]
    zmp_measured: float = np.inf  # smallest margin of the measured ZMP while the QP says feasible [m]
    zmp_planned: float = np.inf


def smooth(x: float) -> float:
    x = float(np.clip(x, 0, 1))
    return x * x * (3 - 2 * x)


def measured_margin(plant: MujocoPlant) -> float:
    """Margin of the ZMP that the soles measure to the edge of the support polygon [m]."""
    truth, robot = plant.truth(), plant.robot
    force, moment = truth.sole_force, truth.sole_moment
    loaded = force[:, 2] > 0.02 * robot.weight
    corners = np.einsum("sij,skj->ski", truth.sole_rotation, robot.soles) + truth.sole_position[:, None]
    position = truth.sole_position
    total = force[loaded].sum(axis=0)
    about_origin = (moment[loaded] + np.cross(position[loaded], force[loaded])).sum(axis=0)
    zmp = np.array([-about_origin[1], about_origin[0]]) / total[2]
    return margin(polygon(corners[loaded]), zmp)


def stand(name: str, seconds: float, pushes: tuple[PushProfile, ...] = (), stack: Stack | None = None) -> Run:
    robot = registry.load(name)
    plant, wholebody, run = MujocoPlant(robot, PlantOptions(), pushes), WholeBody(robot), Run()
    start = state_of(plant)
    for _ in range(int(seconds * 1000)):
        plant.read()
        state = state_of(plant)
        reference = reference_at(robot, state) if stack is None else reference_at(robot, state, stack=stack)
        command = wholebody.update(state, reference)
        solution = wholebody.solution
        assert solution is not None
        run.statuses.add(solution.status)
        plant.write(command)
        if solution.feasible:
            run.zmp_planned = min(run.zmp_planned, solution.zmp_slack)
            run.zmp_measured = min(run.zmp_measured, measured_margin(plant))
        if plant.fell():
            run.fell = True
            break
    end = state_of(plant)
    run.slip = float(np.linalg.norm(end.sole_position - start.sole_position, axis=1).max())
    run.com_error = float(np.linalg.norm(end.com - robot.com_nominal))
    return run


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_stand_still(name: str) -> None:
    run = stand(name, 1.0)
    assert not run.fell and run.statuses == {Status.SOLVED}
    assert run.slip < 2e-3 and run.com_error < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_robots_stand_still_for_ten_seconds(name: str) -> None:
    run = stand(name, 10.0)
    assert not run.fell and run.statuses == {Status.SOLVED}
    assert run.slip < 2e-3 and run.com_error < 1e-2


@pytest.mark.parametrize(("name", "force", "direction"), [("human", 200, 0), ("talos", 300, 90), ("g1", 100, 180)])
def test_measured_zmp_stays_in_the_polygon_while_the_qp_is_feasible(name: str, force: float, direction: float) -> None:
    run = stand(name, 1.8, (PushProfile(force, 0.1, direction, start=0.2),))
    assert not run.fell and Status.SOLVED in run.statuses
    assert run.zmp_planned >= 0.005 - 1e-4  # the margin that the reference asks for, but for the tilt of the soles
    assert run.zmp_measured >= -1e-4  # it cannot leave the true contact; soles press in and tilt by so much
    assert run.slip < 5e-3 and run.com_error < 1e-2


def lift_a_foot(name: str) -> tuple[Run, Array, Array]:
    """Shift the weight over the left foot, unload the right one, lift it forward; wanted and reached sole position."""
    robot = registry.load(name)
    plant, wholebody, run = MujocoPlant(robot, PlantOptions()), WholeBody(robot), Run()
    start = state_of(plant)
    over = start.sole_position[0] + start.sole_rotation[0] @ robot.soles[0].mean(axis=0)
    for i in range(2600):
        t = i * 1e-3
        plant.read()
        state = state_of(plant)
        com = robot.com_nominal.copy()
        com[:2] += smooth(t / 1.3) * (over - com)[:2]
        goal = start.sole_position[1] + smooth((t - 1.8) / 0.6) * np.array([0.05, 0.0, 0.08])
        foot = FootReference(goal, start.sole_rotation[1], np.zeros(6), np.zeros(6))
        if t < 1.4:
            reference = reference_at(robot, state, com)
        elif t < 1.8:
            reference = reference_at(robot, state, com, load_max=np.array([1.5, max(0.0, 1 - (t - 1.4) / 0.3)]))
        else:
            reference = reference_at(robot, state, com, contact=np.array([True, False]), feet=(None, foot))
        plant.write(wholebody.update(state, reference))
        assert wholebody.solution is not None
        run.statuses.add(wholebody.solution.status)
        if plant.fell():
            run.fell = True
            break
    end = state_of(plant)
    run.slip = float(np.linalg.norm(end.sole_position[0] - start.sole_position[0]))
    return run, goal, end.sole_position[1]


@pytest.mark.parametrize("name", ["human", "talos"])
def test_weight_shifts_and_a_foot_is_lifted(name: str) -> None:
    run, wanted, reached = lift_a_foot(name)
    assert not run.fell and run.statuses == {Status.SOLVED}
    assert run.slip < 5e-3
    np.testing.assert_allclose(reached, wanted, atol=5e-3)


SLACK, EDGE = 1e-4, 1e-3  # what the softness of the contact lets through: now and then, and never [m]
IN_PLACE = {"strategy": "in-place", "delay": 0.2}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "push"),
    [
        ("human", IN_PLACE, PushProfile(300, 0.1, 0)),
        ("human", IN_PLACE, PushProfile(300, 0.1, 180)),
        ("human", {"strategy": "step"}, PushProfile(300, 0.1, 0)),
        ("human", {}, PushProfile(300, 0.4, 0)),
        ("human:mass=90", {}, PushProfile(550, 0.2, 90)),
        ("talos", {}, PushProfile(225, 0.2, 0)),
        ("g1", {}, PushProfile(80, 0.2, 180)),
    ],
)
def test_measured_zmp_of_the_whole_loop_stays_in_the_polygon(
    name: str, options: dict[str, Any], push: PushProfile
) -> None:
    """From sensors, with steps: in every tick that the QP calls feasible, as far as the soft contact allows."""
    robot = registry.load(name)
    plant = MujocoPlant(robot, PlantOptions(noise=1.0), [push])
    loop, margins = simulated(robot, plant, RunSettings(robot=name, **options).balance), []
    for _ in range(5000):
        loop.tick()
        solution = loop.wholebody.solution
        if solution is not None and solution.feasible and plant.truth().sole_force[:, 2].max() > 0.02 * robot.weight:
            margins.append(measured_margin(plant))
    assert not plant.fell() and len(margins) > 3000
    assert min(margins) > -EDGE
    assert np.mean(np.array(margins) < -SLACK) < 1e-3
