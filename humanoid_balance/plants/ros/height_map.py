"""A height map as a message and back: an organised sensor_msgs/PointCloud2, a point per cell.

Rows of the cloud go along x and its columns along y, both upward and equally far apart, as a grid map is sampled; z is
the height of the ground, not a number where it is not known.
"""

from __future__ import annotations

import numpy as np
from sensor_msgs.msg import PointCloud2, PointField

from humanoid_balance.types import Array, HeightMap

TOPIC, FRAME = "height_map", "odom"
AXES = ("x", "y", "z")
UNEVEN = 0.05  # share of a cell by which a point may be off the grid
MOST = 4_000_000  # points


def read(message: PointCloud2) -> HeightMap | str:
    """The map, or why it is none."""
    rows, columns, frame = message.height, message.width, message.header.frame_id
    if frame not in ("", FRAME):
        return f"{TOPIC}: frame '{frame}'; allowed: {FRAME}"
    if not (rows > 1 and columns > 1 and rows * columns <= MOST):
        return f"{TOPIC}: {rows} x {columns} points; allowed: an organised cloud, 2 x 2 to {MOST} points"
    fields = {field.name: field for field in message.fields}
    for name in AXES:
        if name not in fields or fields[name].datatype != PointField.FLOAT32:
            return f"{TOPIC}: no field '{name}' of FLOAT32; allowed: x, y and z"
    if len(message.data) < (rows - 1) * message.row_step + columns * message.point_step:
        return f"{TOPIC}: {len(message.data)} bytes are less than its points"
    x, y, z = (_column(message, fields[name].offset) for name in AXES)
    cell = float(x[1, 0] - x[0, 0])
    grid_x, grid_y = np.arange(rows) * cell + x[0, 0], np.arange(columns) * cell + y[0, 0]
    if not cell > 0.0 or max(np.abs(x - grid_x[:, None]).max(), np.abs(y - grid_y).max()) > UNEVEN * cell:
        return f"{TOPIC}: its points are no grid; allowed: rows along x, columns along y, cells square"
    return HeightMap((float(x[0, 0]), float(y[0, 0])), cell, z)


def _column(message: PointCloud2, offset: int) -> Array:
    """One number of all points (rows, columns)."""
    kind = np.dtype(">f4" if message.is_bigendian else "<f4")
    shape, steps = (message.height, message.width), (message.row_step, message.point_step)
    return np.ndarray(shape, kind, bytes(message.data), offset, steps).astype(float)


def write(heights: HeightMap) -> PointCloud2:
    """The message; without a stamp."""
    rows, columns = heights.heights.shape
    points = np.empty((rows, columns, 3), dtype="<f4")
    points[..., 0] = heights.origin[0] + heights.cell * np.arange(rows)[:, None]
    points[..., 1] = heights.origin[1] + heights.cell * np.arange(columns)
    points[..., 2] = heights.heights
    message = PointCloud2(height=rows, width=columns, point_step=12, row_step=12 * columns, data=points.tobytes())
    message.header.frame_id = FRAME
    message.fields = [
        PointField(name=name, offset=4 * k, datatype=PointField.FLOAT32, count=1) for k, name in enumerate(AXES)
    ]
    return message
