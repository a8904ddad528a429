"""Joint accelerations: contacts and the upper levels as equalities, the last level as a distance.

The first sole that is held gives the base acceleration, T q_dd + t. The other held sole and the tasks of all levels but
the last are rows A q_dd = b + e with residuals e. With the last level's q_dd = q_dd* + N p and the factorisation
(A N)' = Q R,

    p = Q_1 R^-T (b - A q_dd* + e) + Q_2 z

e = 0, z = 0 is the closed-form hierarchy: every level met, the last one as near to its wish as that allows. Moves away
from it, by e and by z, are what inequalities may make necessary.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgeqrf, dorgqr, dormqr, dtrtrs

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, Reference
from humanoid_balance.wholebody.last_level import LastLevel
from humanoid_balance.wholebody.shape import Shape
from humanoid_balance.wholebody.tasks.task import Task
from humanoid_balance.wholebody.terms import Terms

CONTACT_DAMPING = 20.0  # of the measured velocity of a sole that should be still [1/s]; Baumgarte
RANK = 1e-4  # a row counts as dependent on those before it when less than this share of it is new
WORK = 64  # LAPACK's block size times columns is the workspace it likes


class Motion:
    """The equalities of one problem shape."""

    def __init__(self, robot: Robot, shape: Shape) -> None:
        self.robot = robot
        self.held = shape.pushing + shape.still
        levels = shape.tasks(robot)
        self._upper: list[list[Task]] = levels[:-1]
        self.last = LastLevel(robot, levels[-1])
        self.hard = 6 * max(0, len(self.held) - 1)  # rows that are no task: the second held sole
        starts = np.cumsum([self.hard, *(sum(task.rows for task in level) for level in self._upper)])
        self._slices = [slice(int(a), int(b)) for a, b in zip(starts, starts[1:], strict=False)]
        rows, n = int(starts[-1]), robot.n
        self._J, self._b = np.zeros((rows, n + 6)), np.zeros(rows)
        self._A = np.zeros((rows, n))
        self._x = np.zeros((n, 1), order="F")
        self.qdd = np.zeros(n)  # closed-form hierarchy [rad/s²]
        self.levels: list[slice] = []  # rows of each upper level
        self.asked = np.zeros(rows)  # size of what each row asks for
        self.unreachable = np.zeros(len(self._upper))  # largest residual of a level that no acceleration can remove

    def update(self, terms: Terms, reference: Reference) -> None:
        """The closed-form hierarchy at the present state."""
        self._eliminate_base(terms)
        self.last.update(terms, reference)
        self._stack(terms, reference)
        self.levels = self._slices
        J, b, A = self._J, self._b, self._A
        if not len(b):
            self.qdd = self.last.wanted
            return
        np.matmul(J[:, :6], terms.T, out=A)
        A += J[:, 6:]
        b -= J[:, :6].dot(terms.t)
        self.asked = np.abs(b)
        b -= A.dot(self.last.wanted)
        if self.last.N is not None:
            A = A.dot(self.last.N)
        self.unreachable[:] = 0.0
        self._factorise(A, b)

    def _eliminate_base(self, terms: Terms) -> None:
        """Base acceleration T q_dd + t from the first held sole, in flight from the base's own dynamics."""
        if self.held:
            sole = terms.soles[self.held[0]]
            inverse = terms.base_from_sole(self.held[0])
            np.matmul(-inverse, sole.J[:, 6:], out=terms.T)
            np.matmul(inverse, sole.velocity * -CONTACT_DAMPING - sole.drift, out=terms.t)
        else:
            inverse = np.linalg.inv(terms.M[:6, :6])
            np.matmul(-inverse, terms.M[:6, 6:], out=terms.T)
            np.matmul(-inverse, terms.h[:6], out=terms.t)

    def _stack(self, terms: Terms, reference: Reference) -> None:
        J, b = self._J, self._b
        first = self.hard
        if first:
            sole = terms.soles[self.held[1]]
            J[:first] = sole.J
            np.multiply(sole.velocity, -CONTACT_DAMPING, out=b[:first])
            b[:first] -= sole.drift
        for level in self._upper:
            for task in level:
                end = first + task.rows
                task.fill(terms, reference, J[first:end], b[first:end])
                first = end

    def _factorise(self, A: Array, b: Array) -> None:
        m, n = A.shape
        if m <= n:
            qr, tau, _, _ = dgeqrf(A.T, lwork=WORK * m)
            new = np.abs(qr.diagonal())
        if m > n or new.min() < RANK * new.max():
            A, b = self._independent(A, b)
            m = len(b)
            qr, tau, _, _ = dgeqrf(A.T, lwork=WORK * max(m, 1))
        self._qr, self._tau = qr, tau
        self._R = qr[:m]
        x = self._x
        x[m:] = 0.0
        x[:m, 0] = dtrtrs(self._R, b, trans=1)[0]
        p = dormqr("L", "N", qr, tau, x, WORK)[0][:, 0]
        self.qdd = self.last.wanted + (p if self.last.N is None else self.last.N.dot(p))

    def _independent(self, A: Array, b: Array) -> tuple[Array, Array]:
        """Replace the rows of each level by as many independent ones as the levels above leave, least squares.

        The slow way for singular postures, conflicting tasks and flight: a singular value decomposition a level.
        """
        m, n = A.shape
        basis, point = np.eye(n), np.zeros(n)  # what is still free, and what is settled
        scale = np.linalg.norm(A, axis=1).max()
        rows, values = [], []
        self.levels = []
        first = 0
        for k, part in enumerate([slice(0, self.hard), *self._slices]):
            free = A[part].dot(basis)
            missing = b[part] - A[part].dot(point)
            U, s, Vt = np.linalg.svd(free, full_matrices=True) if free.size else (np.eye(len(free)), np.zeros(0), None)
            rank = int((s > RANK * scale).sum())
            rows.append(U[:, :rank].T.dot(A[part]))
            values.append(U[:, :rank].T.dot(b[part]))
            if k:
                left = U[:, rank:].T.dot(missing)
                self.unreachable[k - 1] = np.abs(left).max() if left.size else 0.0
                self.levels.append(slice(first, first + rank))
            if Vt is not None and rank:
                point = point + basis.dot(Vt[:rank].T.dot(U[:, :rank].T.dot(missing) / s[:rank]))
                basis = basis.dot(Vt[rank:].T)
            first += rank
        return np.ascontiguousarray(np.vstack(rows)), np.concatenate(values)

    # ---- moves away from the closed form ----

    def free_moves(self) -> Array:
        """Columns of q_dd for z: moves that all upper levels do not feel (n, n - m)."""
        n, m = self.robot.n, self._R.shape[1] if len(self._b) else 0
        if not m:
            return np.eye(n) if self.last.N is None else self.last.N
        full = np.zeros((n, n), order="F")
        full[:, :m] = self._qr
        self._Q = dorgqr(full, self._tau, lwork=WORK * n, overwrite_a=1)[0]
        free = self._Q[:, m:]
        return free if self.last.N is None else self.last.N.dot(free)

    def residual_moves(self) -> Array:
        """Columns of q_dd for the residuals e of the upper levels (n, rows of all upper levels)."""
        m = self._R.shape[1]
        hard = self.levels[0].start if self.levels else m
        unit = np.zeros((m, m - hard), order="F")
        unit[range(hard, m), range(m - hard)] = 1.0
        moves = self._Q[:, :m].dot(dtrtrs(self._R, unit, trans=1, overwrite_b=1)[0])
        return moves if self.last.N is None else self.last.N.dot(moves)
