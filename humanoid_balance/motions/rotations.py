"""Rotations in stacks: matrices (..., 3, 3), rotation vectors (..., 3) [rad]. No loop over frames."""

from __future__ import annotations

import numpy as np

from humanoid_balance.types import Array

SMALL = 1e-9  # angle below which the axis does not matter [rad]


def about(axis: int, angle: Array) -> Array:
    """Rotations about a coordinate axis, 0 to 2, by the angles (...) [rad]."""
    out = np.zeros((*angle.shape, 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out[..., axis, axis] = 1.0
    out[..., i, i] = out[..., j, j] = np.cos(angle)
    out[..., j, i] = sine = np.sin(angle)
    out[..., i, j] = -sine
    return out


def euler(axes: tuple[int, ...], angles: Array) -> Array:
    """Turned about the axes one after the other, each in the frame that the ones before it made; angles (..., k)."""
    if not axes:
        return np.broadcast_to(np.eye(3), (*angles.shape[:-1], 3, 3)).copy()
    if len(axes) == 3 and len(set(axes)) == 3:
        return _three(axes, angles)
    out = about(axes[0], angles[..., 0])
    for k, axis in enumerate(axes[1:], start=1):
        out = out @ about(axis, angles[..., k])
    return out


def _three(axes: tuple[int, ...], angles: Array) -> Array:
    """The product of three rotations about different axes, written out: half the time of two stacks of products."""
    i, j, k = axes
    sign = 1.0 if (j - i) % 3 == 1 else -1.0  # of the permutation
    c1, c2, c3 = np.moveaxis(np.cos(angles), -1, 0)
    s1, s2, s3 = np.moveaxis(sign * np.sin(angles), -1, 0)
    out = np.empty((*angles.shape[:-1], 3, 3))
    out[..., i, i], out[..., i, j], out[..., i, k] = c2 * c3, -c2 * s3, s2
    s1s2, c1s2 = s1 * s2, c1 * s2
    out[..., j, i], out[..., j, j], out[..., j, k] = s1s2 * c3 + c1 * s3, c1 * c3 - s1s2 * s3, -s1 * c2
    out[..., k, i], out[..., k, j], out[..., k, k] = s1 * s3 - c1s2 * c3, c1s2 * s3 + s1 * c3, c1 * c2
    return out


def exp(vector: Array) -> Array:
    """Matrices of rotation vectors (Rodrigues)."""
    angle = np.linalg.norm(vector, axis=-1)
    x, y, z = np.moveaxis(vector / np.maximum(angle, SMALL)[..., None], -1, 0)
    zero = np.zeros_like(x)
    k = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*angle.shape, 3, 3)
    turn = angle[..., None, None]
    return np.asarray(np.eye(3) + np.sin(turn) * k + (1.0 - np.cos(turn)) * (k @ k))


def log(matrix: Array) -> Array:
    """Rotation vectors of matrices, the short way round; the axis of a half turn may point either way."""
    w, xyz = quaternion(matrix)
    length = np.linalg.norm(xyz, axis=-1)
    angle = 2.0 * np.arctan2(length, w)
    return np.asarray(xyz * np.where(length > SMALL, angle / np.maximum(length, SMALL), 2.0)[..., None])


def quaternion(matrix: Array) -> tuple[Array, Array]:
    """Real part, not negative, and imaginary part; the largest of the four parts is found first, which is stable."""
    m = matrix
    trace = np.trace(m, axis1=-2, axis2=-1)
    diagonal = np.diagonal(m, axis1=-2, axis2=-1)
    square = np.concatenate([trace[..., None], 2.0 * diagonal - trace[..., None]], axis=-1) + 1.0  # 4 w², 4 x², …
    a, b, c = (m[..., 2, 1], m[..., 1, 2]), (m[..., 0, 2], m[..., 2, 0]), (m[..., 1, 0], m[..., 0, 1])
    rows = [
        [square[..., 0], a[0] - a[1], b[0] - b[1], c[0] - c[1]],
        [a[0] - a[1], square[..., 1], c[0] + c[1], b[0] + b[1]],
        [b[0] - b[1], c[0] + c[1], square[..., 2], a[0] + a[1]],
        [c[0] - c[1], b[0] + b[1], a[0] + a[1], square[..., 3]],
    ]
    products = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)  # 4 p p'
    best = np.argmax(square, axis=-1)[..., None, None]
    q = np.take_along_axis(products, best, axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    q = np.where(q[..., :1] < 0.0, -q, q)
    return q[..., 0], q[..., 1:]


def mean(matrices: Array) -> Array:
    """The rotation nearest to all of a stack (k, 3, 3), by the chordal distance."""
    u, _, v = np.linalg.svd(matrices.sum(axis=0))
    return np.asarray(u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v)


def resampled(matrices: Array, at: Array) -> Array:
    """Between the frames of a stack (k, ..., 3, 3), at places that need not be whole (m,)."""
    low = np.clip(np.floor(at).astype(int), 0, len(matrices) - 1)
    high = np.minimum(low + 1, len(matrices) - 1)
    share = (at - low).reshape(-1, *(1,) * (matrices.ndim - 2))
    first = matrices[low]
    if not share.any():
        return np.asarray(first)
    return np.asarray(first @ exp(share * log(np.swapaxes(first, -1, -2) @ matrices[high])))
