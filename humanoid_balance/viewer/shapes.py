"""What is seen of a robot as triangles, link by link, light enough for a web page."""

from __future__ import annotations

from dataclasses import dataclass

import fast_simplification
import mujoco
import numpy as np
import trimesh
from numpy.typing import NDArray

from humanoid_balance.figures.playback import Puppet
from humanoid_balance.types import Array

FINEST = 1200  # triangles of one shape, about; CAD meshes have up to 20,000


@dataclass(frozen=True)
class Part:
    """Triangles of one colour, in the frame of their link."""

    vertices: Array  # (v, 3) [m]
    faces: NDArray[np.uint32]  # (f, 3)
    colour: tuple[int, int, int]  # red, green, blue 0..255


@dataclass(frozen=True)
class LinkShape:
    """A link of the simulated body and what is seen of it."""

    name: str
    body: int  # its number in MuJoCo's model
    parts: tuple[Part, ...]


def links(puppet: Puppet) -> list[LinkShape]:
    """Every link that is seen."""
    model = puppet.model
    found: dict[int, list[Part]] = {}
    for geom in puppet.shapes:
        found.setdefault(int(model.geom_bodyid[geom]), []).append(_part(model, geom))
    return [LinkShape(model.body(body).name, body, tuple(parts)) for body, parts in found.items()]


def _part(model: mujoco.MjModel, geom: int) -> Part:
    shape = _triangles(model, geom)
    place = np.zeros(9)
    mujoco.mju_quat2Mat(place, model.geom_quat[geom])
    vertices = np.asarray(shape.vertices) @ place.reshape(3, 3).T + model.geom_pos[geom]
    red, green, blue = (round(255 * float(c)) for c in model.geom_rgba[geom][:3])
    return Part(vertices, np.asarray(shape.faces, dtype=np.uint32), (red, green, blue))


def _triangles(model: mujoco.MjModel, geom: int) -> trimesh.Trimesh:
    """The surface of a shape in its own frame."""
    kinds, size = mujoco.mjtGeom, model.geom_size[geom]
    kind = model.geom_type[geom]
    if kind == kinds.mjGEOM_MESH:
        return _mesh(model, int(model.geom_dataid[geom]))
    if kind == kinds.mjGEOM_BOX:
        return trimesh.creation.box(2 * size)
    if kind == kinds.mjGEOM_CYLINDER:
        return trimesh.creation.cylinder(size[0], 2 * size[1], sections=24)
    if kind == kinds.mjGEOM_CAPSULE:
        capsule = trimesh.creation.capsule(2 * size[1], size[0], count=(16, 16))
        return capsule.apply_translation([0.0, 0.0, -capsule.bounds.mean(axis=0)[2]])
    ball = trimesh.creation.icosphere(subdivisions=2)
    return ball.apply_scale(size if kind == kinds.mjGEOM_ELLIPSOID else size[0])


def _mesh(model: mujoco.MjModel, mesh: int) -> trimesh.Trimesh:
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    start, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    shape = trimesh.Trimesh(model.mesh_vert[first : first + count], model.mesh_face[start : start + faces])
    if len(shape.faces) <= FINEST:
        return shape
    points, triangles = fast_simplification.simplify(
        np.asarray(shape.vertices, dtype=np.float32), np.asarray(shape.faces), target_count=FINEST
    )
    return trimesh.Trimesh(points, triangles)


@dataclass(frozen=True)
class InertiaBox:
    """A box of even density with the mass, the centre and the inertia of a link."""

    body: int
    size: tuple[float, float, float]  # [m]
    position: tuple[float, float, float]  # of its centre in the frame of the link [m]
    wxyz: tuple[float, float, float, float]


def inertia_boxes(model: mujoco.MjModel, bodies: list[int]) -> list[InertiaBox]:
    """Of a box, I_x = m (b² + c²) / 12 and so on; what is lighter than a gram is left out."""
    boxes = []
    for body in bodies:
        mass, moment = float(model.body_mass[body]), model.body_inertia[body]
        if mass < 1e-3:
            continue
        squares = 6.0 * (moment.sum() - 2.0 * moment) / mass
        a, b, c = np.sqrt(np.maximum(squares, 1e-6)).tolist()
        x, y, z = model.body_ipos[body].tolist()
        w, i, j, k = model.body_iquat[body].tolist()
        boxes.append(InertiaBox(body, (a, b, c), (x, y, z), (w, i, j, k)))
    return boxes
