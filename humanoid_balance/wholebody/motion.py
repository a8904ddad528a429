"""Joint accelerations: contacts and the upper levels as equalities, the last level as a distance.

The first contact that is held gives the base acceleration, T q_dd + t. The other held ones and the tasks of all levels
but the last are rows A q_dd = b + e with residuals e. With the last level's q_dd = q_dd* + N p and the factorisation
(A N)' = Q R,

    p = Q_1 R^-T (b - A q_dd* + e) + Q_2 z

e = 0, z = 0 is the closed-form hierarchy: every level met, the last one as near to its wish as that allows. Moves away
from it, by e and by z, are what inequalities may make necessary. In a soft stack all levels but the first give way
together: their e is one more part of the last level's move, with a price.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.linalg.lapack import dgeqrf, dorgqr, dormqr, dtrtrs

from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array, BodyReference
from humanoid_balance.wholebody.last_level import LastLevel
from humanoid_balance.wholebody.shape import Shape
from humanoid_balance.wholebody.tasks.task import Task
from humanoid_balance.wholebody.terms import Terms

RANK = 1e-4  # a row counts as dependent on those before it when less than this share of it is new
SOFT = 10.0  # a soft residual costs this squared, against moves of the last level [1]
WORK = 256  # workspace of LAPACK, enough for 256 rows or columns


IN_PLANE = [0, 2, 4]  # of the six directions of a sole, those that a planar body has: along x and z, and pitch


def _rows(robot: Robot, shape: Shape, contact: int) -> list[int]:
    """The directions in which a contact beside the first one has to be held."""
    return IN_PLANE if robot.planar and contact < 2 else list(range(shape.rows(contact)))


class Motion:
    """The equalities of one problem shape."""

    def __init__(self, robot: Robot, shape: Shape) -> None:
        self.robot = robot
        self.held = shape.pushing + shape.still
        self._rows = [_rows(robot, shape, contact) for contact in self.held[1:]]
        levels = shape.tasks(robot)
        self._upper: list[list[Task]] = levels[:-1]
        self.last = LastLevel(robot, levels[-1])
        self.hard = sum(len(rows) for rows in self._rows)  # rows that are no task: all held contacts but the first
        starts = np.cumsum([self.hard, *(sum(task.rows for task in level) for level in self._upper)]).tolist()
        strict = self._upper[:1] if shape.soft else self._upper
        self.every_row = [slice(a, b) for a, b in pairwise(starts[: len(strict) + 1])]
        self._soft = slice(starts[len(strict)], starts[-1])  # rows that give way together with the last level
        rows, n = starts[-1], robot.n
        self._J, self._b = np.zeros((rows, n + 6)), np.zeros(rows)
        self.asked = self._b  # of each row beyond what the last level does anyway, to compare residuals with
        self._A = np.zeros((rows, n))
        self._base, self._joints = self._J[:, :6], self._J[:, 6:]
        self._contacts, self._tasks = self._contact_rows(), self._task_rows()
        self.levels = self.every_row  # rows of each upper level, fewer where rows depend on each other
        self.unreachable = np.zeros(len(strict))  # largest residual of a level that no acceleration can remove

    def update(self, terms: Terms, reference: BodyReference) -> None:
        """Factorise the rows at the present state."""
        self._eliminate_base(terms)
        self.last.update(terms, reference)
        self._stack(terms, reference)
        b, A = self._b, self._A
        base, wanted = self._base, self.last.wanted
        np.dot(base, terms.T, out=A)
        A += self._joints
        b -= base.dot(terms.t)
        b -= A.dot(wanted)
        self._factorise(self.last.rows(A), b)

    def _eliminate_base(self, terms: Terms) -> None:
        """Base acceleration T q_dd + t from the first held contact, in flight from the base's own dynamics."""
        if self.held:
            sole = terms.contacts[self.held[0]]
            terms.X = terms.base_from(self.held[0])
            inverse = np.negative(terms.X)
            np.dot(inverse, sole.J[:, 6:], out=terms.T)
            terms.t = inverse.dot(sole.drift - sole.rest)
        else:
            inverse = np.negative(np.linalg.inv(terms.M[:6, :6]))
            np.dot(inverse, terms.M[:6, 6:], out=terms.T)
            terms.t = inverse.dot(terms.h[:6])

    def _stack(self, terms: Terms, reference: BodyReference) -> None:
        for index, rows, J, b in self._contacts:
            contact = terms.contacts[index]
            if len(rows) == len(contact.J):
                J[:] = contact.J
                np.subtract(contact.rest, contact.drift, out=b)
            else:
                J[:] = contact.J[rows]
                b[:] = (contact.rest - contact.drift)[rows]
        for task, J, b in self._tasks:
            task.fill(terms, reference, J, b)

    def _contact_rows(self) -> list[tuple[int, list[int], Array, Array]]:
        """Of each held contact but the first: its index, its directions, and where its rows are written."""
        found, first = [], 0
        for index, rows in zip(self.held[1:], self._rows, strict=True):
            here = slice(first, first + len(rows))
            found.append((index, rows, self._J[here], self._b[here]))
            first = here.stop
        return found

    def _task_rows(self) -> list[tuple[Task, Array, Array]]:
        """The tasks of all levels but the last, and where their rows are written."""
        found, first = [], self.hard
        for task in (task for level in self._upper for task in level):
            here = slice(first, first + task.rows)
            found.append((task, self._J[here], self._b[here]))
            first = here.stop
        return found

    def _factorise(self, A: Array, b: Array) -> None:
        m, n = A.shape
        self._s = self._soft.start
        if self.levels is not self.every_row:  # the last tick had dependent rows
            self.levels = self.every_row
            self.unreachable[:] = 0.0
        if m > n or not self._qr_of(A):
            A, b = self._independent(A, b)
            m = len(b)
            self._qr_of(A)
        self._m = m
        self._R = self._qr[:m]
        self._x = dtrtrs(self._R, b, trans=1)[0] if m else np.zeros(0)

    def _qr_of(self, A: Array) -> bool:
        """Factorise the rows; False if one of them is dependent."""
        if not len(A):
            self._qr, self._tau = np.zeros((self.robot.n, 0)), np.zeros(0)
            return True
        self._qr, self._tau, _, _ = dgeqrf(A.T, lwork=WORK)
        new = np.abs(self._qr.diagonal()).tolist()
        return min(new) >= RANK * max(new)

    def _independent(self, A: Array, b: Array) -> tuple[Array, Array]:
        """Replace the rows of each level by as many independent ones as the levels above leave, least squares.

        The slow way for singular postures, conflicting tasks and flight: a singular value decomposition a level.
        """
        n = A.shape[1]
        free, point = np.eye(n), np.zeros(n)  # what is still free, and what is settled
        scale = np.linalg.norm(A, axis=1).max()
        rows, values = [], []
        self.levels = []
        first = 0
        for k, part in enumerate([slice(0, self.hard), *self.every_row, self._soft]):
            missing = b[part] - A[part].dot(point)
            U, s, Vt = np.linalg.svd(A[part].dot(free))
            rank = int((s > RANK * scale).sum())
            rows.append(U[:, :rank].T.dot(A[part]))
            values.append(U[:, :rank].T.dot(b[part]))
            if k <= len(self.every_row):
                self._s = first + rank
            if 0 < k <= len(self.every_row):
                self.unreachable[k - 1] = np.abs(U[:, rank:].T.dot(missing)).max(initial=0.0)
                self.levels.append(slice(first, first + rank))
            point = point + free.dot(Vt[:rank].T.dot(U[:, :rank].T.dot(missing) / s[:rank]))
            free = free.dot(Vt[rank:].T)
            first += rank
        return np.vstack(rows), np.concatenate(values)

    # ---- points and moves ----

    def closed_form(self) -> Array:
        """Joint accelerations that meet all upper levels, nearest to what the last one wants (n,) [rad/s²]."""
        return self._turned(self._x, 0) + self.last.wanted

    def move(self, y: Array) -> Array:
        """Joint accelerations of a move that the strict levels do not feel (n,) [rad/s²]; y as in ``free_rows``."""
        m, s = self._m, self._s
        if s < m:
            top = np.zeros(m)
            top[s:] = y[: m - s] / SOFT
            y = np.concatenate([dtrtrs(self._R, top, trans=1)[0], y[m - s :]])
            return self._turned(y, 0)
        return self._turned(y, m)

    def free_rows(self, rows: Array) -> Array:
        """Rows over q_dd as rows over the soft residuals and z (n - s): ``free_moves`` backwards, for a few rows."""
        m, s = self._m, self._s
        rows = self.last.rows(rows)
        if m:
            turned = dormqr("L", "T", self._qr, self._tau, rows.T, WORK)[0]
            if s < m:
                soft = dtrtrs(self._R, turned[:m])[0][s:] / SOFT
                turned = np.concatenate([soft, turned[m:]])
                return turned.T
            rows = turned[m:].T
        return rows

    def _turned(self, part: Array, first: int) -> Array:
        """N Q p for a p that is zero but for ``part``, which begins at ``first``."""
        p = np.zeros((self.robot.n, 1), order="F")
        p[first : first + len(part), 0] = part
        if self._m:
            p = dormqr("L", "N", self._qr, self._tau, p, WORK, overwrite_c=1)[0]
        return self.last.back(p[:, 0])

    def free_moves(self) -> Array:
        """Columns of q_dd for the soft residuals and for z: moves that the strict levels do not feel (n, n - s)."""
        n, m = self.robot.n, self._m
        if len(self._tau):
            full = np.zeros((n, n), order="F")
            full[:, : len(self._tau)] = self._qr
            self._Q = dorgqr(full, self._tau, lwork=WORK, overwrite_a=1)[0]
        else:
            self._Q = np.eye(n)
        free = self._Q[:, m:]
        if self._s < m:
            free = np.concatenate([self._residuals(self._s, m) / SOFT, free], axis=1)
        return self.last.back(free)

    def residual_moves(self) -> Array:
        """Columns of q_dd for the residuals e of the strict levels (n, rows of all of them)."""
        return self.last.back(self._residuals(self.levels[0].start, self._s))

    def _residuals(self, first: int, end: int) -> Array:
        """Columns of p for residuals of the rows from ``first`` to ``end``."""
        m = self._m
        unit = np.zeros((m, end - first), order="F")
        unit[range(first, end), range(end - first)] = 1.0
        return self._Q[:, :m].dot(dtrtrs(self._R, unit, trans=1, overwrite_b=1)[0])
