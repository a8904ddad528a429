"""The same problem solved by someone else: all variables, corner forces, one quadprog a level.

Variables x = (a, f): generalised acceleration and the forces at the corners of every sole that pushes, per weight. No
elimination, no wrench cone, no warm start, no closed form. Slow and plain, to compare optima with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import qpsolvers

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import MIN_LOAD, Array, BodyReference, RobotState
from humanoid_balance.wholebody import contact, forces, limits, terms
from humanoid_balance.wholebody.last_level import REST
from humanoid_balance.wholebody.shape import Shape
from humanoid_balance.wholebody.terms import Terms

LOCAL = pin.ReferenceFrame.LOCAL
TINY = 1e-12  # regularisation that makes the levels' Hessians definite
MET = 1e-5  # a residual this small is the regularisation's, not the constraints'
SLACK = 1e-9  # by which inequalities are widened for lower levels, so that rounding does not make them infeasible


@dataclass
class Oracle:
    """Residual of every upper level, objective of the last, and the optimum itself."""

    feasible: bool
    residuals: list[Array]
    levels: list[tuple[Array, Array]]  # rows and values of the upper levels over a
    last: tuple[Array, Array]  # E, e: the last objective is |E x - e|²
    objective: float
    acceleration: Array
    torque: Array
    wrench: Array


class Plain:
    """Matrices of the plain problem at a state."""

    def __init__(self, robot: Robot, state: RobotState, reference: BodyReference) -> None:
        self.robot, self.reference = robot, reference
        shape = Shape.of(state, reference)
        self.pushing, self.held = shape.pushing, shape.pushing + shape.still
        model, data = robot.model, robot.model.createData()
        nv, n, v = model.nv, robot.n, state.v
        pin.computeAllTerms(model, data, state.q, v)
        self.M = np.triu(data.M) + np.triu(data.M, 1).T
        self.h = data.nle.copy()
        self.h[6:] += robot.damping * v[6:]
        pin.forwardKinematics(model, data, state.q, v, np.zeros(nv))
        pin.updateFramePlacements(model, data)
        self.J = {s: pin.getFrameJacobian(model, data, robot.sole_frames[s], LOCAL) for s in range(2)}
        acceleration = pin.getFrameClassicalAcceleration
        drift = {s: acceleration(model, data, robot.sole_frames[s], LOCAL).vector for s in range(2)}
        self.G = np.zeros((6 * len(self.pushing), 12 * len(self.pushing)))  # corner forces -> wrenches
        for i, side in enumerate(self.pushing):
            for c, corner in enumerate(self.corners(side)):
                columns = slice(12 * i + 3 * c, 12 * i + 3 * c + 3)
                self.G[6 * i : 6 * i + 3, columns] = np.eye(3)
                self.G[6 * i + 3 : 6 * i + 6, columns] = pin.skew(corner)
        self.G *= robot.weight
        self.size = nv + self.G.shape[1]
        Jp = np.vstack([self.J[s] for s in self.pushing]) if self.pushing else np.zeros((0, nv))
        self.Jp = Jp
        self.dynamics = np.hstack([self.M, -Jp.T @ self.G])
        self.torque = self.dynamics[6:]
        rows, values = [self.dynamics[:6]], [-self.h[:6]]
        for s in self.held:
            rows.append(np.hstack([self.J[s], np.zeros((6, self.G.shape[1]))]))
            values.append(-drift[s] - terms.CONTACT_DAMPING * self.J[s] @ v)
        self.A, self.b = np.vstack(rows), np.concatenate(values)
        self.inequalities(state, n)

    def corners(self, side: int) -> Array:
        middle, X, Y = contact.rectangle(self.robot.soles[side])
        margin = self.reference.zmp_margin
        X, Y = max(X - margin, contact.MIN_HALF), max(Y - margin, contact.MIN_HALF)
        return middle + np.array([[X, Y, 0], [-X, Y, 0], [-X, -Y, 0], [X, -Y, 0]])

    def inequalities(self, state: RobotState, n: int) -> None:
        """C x <= d, rows scaled as in the controller."""
        robot, mu, nv = self.robot, self.robot.config.friction, n + 6
        rows, bounds = [], []
        total, allowed = np.zeros(self.size), 0.0
        for i, side in enumerate(self.pushing):
            normal = np.zeros(self.size)
            for c in range(4):
                at = nv + 12 * i + 3 * c
                normal[at + 2] = 1.0
                for axis in range(2):
                    for sign in (1, -1):
                        row = np.zeros(self.size)
                        row[at + axis], row[at + 2] = sign, -mu
                        rows.append(row)
                        bounds.append(0.0)
            load = self.reference.load_max[side]
            rows += [normal, -normal]
            bounds += [load, -min(MIN_LOAD, load / 2)]
            total, allowed = total + normal, allowed + load
        if self.pushing:
            rows.append(-total)
            bounds.append(-min(contact.MIN_TOTAL, allowed / 2))
        scale = 1 / robot.torque_limit
        torque, bias = self.torque * scale[:, None], self.h[6:] * scale
        q, v, top = state.q[7:], state.v[6:], robot.acceleration_limit
        brake = 2 * limits.BRAKING * top
        ahead = q + v * limits.HORIZON
        up = np.minimum(robot.velocity_limit, np.sqrt(brake * np.maximum(robot.upper - ahead, 0)))
        low = -np.minimum(robot.velocity_limit, np.sqrt(brake * np.maximum(ahead - robot.lower, 0)))
        up, low = (np.clip((x - v) / limits.HORIZON, -top, top) / top for x in (up, low))
        joints = np.hstack([np.zeros((n, 6)), np.diag(1 / top), np.zeros((n, self.size - nv))])
        self.C = np.vstack([*[r[None] for r in rows], torque, -torque, joints, -joints])
        self.d = np.concatenate([np.array(bounds), 1 - bias, 1 + bias, up, -low])

    def wrench_cost(self) -> tuple[Array, Array]:
        """Square root form E x + e of FORCE |w scaled|² + TORQUE |tau / limit|², less its minimum over inner forces."""
        robot, p = self.robot, len(self.pushing)
        if p < 2:
            return np.zeros((0, self.size)), np.zeros(0)
        scale = np.zeros((12, 12))
        for i, side in enumerate(self.pushing):
            block = slice(6 * i, 6 * i + 6)
            scale[block, block] = contact.wrench_scale(robot.soles[side], robot.config.friction) / robot.weight
        wrench = np.hstack([np.zeros((12, robot.n + 6)), scale @ self.G]) * np.sqrt(forces.FORCE)
        torque = self.torque * (np.sqrt(forces.TORQUE) / robot.torque_limit)[:, None]
        E = np.vstack([wrench, torque])
        e = np.concatenate([np.zeros(12), self.h[6:] * np.sqrt(forces.TORQUE) / robot.torque_limit])
        # Inner forces: wrenches that the base does not feel.
        inner = np.linalg.svd(self.Jp[:, :6].T)[2][6:].T
        F = np.vstack(
            [
                scale @ inner * np.sqrt(forces.FORCE),
                -(self.Jp[:, 6:].T @ inner) * (np.sqrt(forces.TORQUE) / robot.torque_limit)[:, None],
            ]
        )
        Q = np.linalg.qr(F)[0]  # |E x + e|² less its minimum over g is the part along the columns of F
        return Q.T @ E, Q.T @ e


def lexicographic(plain: Plain, levels: list[tuple[Array, Array]], last: tuple[Array, Array]) -> Oracle:
    """Solve |A a - b|² level by level under all constraints, then the square root form ``last`` (E x - e).

    Inequalities that a level pushes against, by the solver's own multipliers, are equations for the levels below.
    """
    A, b, C, d = plain.A, plain.b, plain.C, plain.d
    residuals, x = [], np.zeros(plain.size)
    unit = np.ones(plain.size)
    unit[: plain.robot.n + 6] = 1e2  # accelerations are of the order of 100
    for k, (rows, values) in enumerate([*levels, last]):
        rows = np.hstack([rows, np.zeros((len(rows), plain.size - rows.shape[1]))]) * unit
        size = np.abs(rows).max()
        H = rows.T @ rows / size**2 + TINY * np.eye(plain.size)
        # Independent equations only, or quadprog stops.
        length = np.linalg.norm(A * unit, axis=1)
        U, s, Vt = np.linalg.svd(A * unit / length[:, None], full_matrices=False)
        rank = int((s > 1e-9 * s[0]).sum())
        g, equal = -rows.T @ values / size**2, (U[:, :rank].T @ (b / length)) / s[:rank]
        problem = qpsolvers.Problem(H, g, C * unit, d, Vt[:rank], equal)
        solution = qpsolvers.solve_problem(problem, solver="quadprog")
        if not solution.found:
            return Oracle(False, residuals, levels, last, np.nan, x, x, x)
        x = unit * solution.x
        if k < len(levels):
            residual = rows @ solution.x - values
            residuals.append(residual)
            met = np.linalg.norm(residual) < MET
            A, b = np.vstack([A, rows / unit]), np.concatenate([b, values if met else rows @ solution.x])
            if not met:
                pushed = solution.z > 1e-4 * solution.z.max()
                A, b = np.vstack([A, C[pushed]]), np.concatenate([b, C[pushed] @ x])
                C, d = C[~pushed], d[~pushed]
            d = np.maximum(d, C @ x) + SLACK
    E, e = last
    nv = plain.robot.n + 6
    objective = float(np.sum((E @ x - e) ** 2))
    return Oracle(True, residuals, levels, last, objective, x[:nv], plain.torque @ x + plain.h[6:], plain.G @ x[nv:])


def level_rows(robot: Robot, state: RobotState, reference: BodyReference) -> list[tuple[Array, Array]]:
    """Rows and values of every level over the generalised acceleration, the last level too."""
    plain = Plain(robot, state, reference)
    nv = robot.n + 6
    terms = Terms(robot)
    terms.update(state.q, state.v)
    if plain.held:  # the stay-tall term is a joint-space gradient
        J = plain.J[plain.held[0]]
        terms.T = -np.linalg.solve(J[:, :6], J[:, 6:])
    levels = []
    for tasks in Shape.of(state, reference).tasks(robot):
        rows, values = [np.zeros((0, nv))], [np.zeros(0)]
        for task in tasks:
            A, b = np.zeros((task.rows, nv)), np.zeros(task.rows)
            task.fill(terms, reference, A, b)
            rows.append(A)
            values.append(b)
        levels.append((np.vstack(rows), np.concatenate(values)))
    return levels


def solve(robot: Robot, state: RobotState, reference: BodyReference) -> tuple[Plain, Oracle]:
    """The plain problem of a reference and its optimum. Task rows come from the tasks, which are tested apart."""
    plain, n = Plain(robot, state, reference), robot.n
    *levels, (rows, values) = level_rows(robot, state, reference)
    if np.linalg.matrix_rank(rows) < n:
        rest = np.sqrt(REST) * np.hstack([np.zeros((n, 6)), np.eye(n)])
        rows, values = np.vstack([rows, rest]), np.concatenate([values, np.zeros(n)])
    E, e = plain.wrench_cost()
    wide = np.hstack([rows, np.zeros((len(rows), plain.size - n - 6))])
    return plain, lexicographic(plain, levels, (np.vstack([wide, E]), np.concatenate([values, -e])))
