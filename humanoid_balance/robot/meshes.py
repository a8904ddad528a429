"""Meshes in a form that MuJoCo reads: ASCII STL and Collada become binary STL, kept in the user's cache."""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from functools import cache
from pathlib import Path

import trimesh

READABLE = (".stl", ".obj", ".msh")  # by MuJoCo; an ASCII STL is not
CONVERTIBLE = (".stl", ".dae")  # by trimesh, into a binary STL
HEADER, FACE = 84, 50  # bytes of a binary STL before its triangles, and per triangle
LARGEST = 200_000  # triangles that MuJoCo takes


def folder() -> Path:
    """Where converted meshes are kept; in the temporary folder if the user's cache cannot be written."""
    chosen = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "humanoid_balance" / "meshes"
    try:
        chosen.mkdir(parents=True, exist_ok=True)
    except OSError:
        chosen = Path(tempfile.gettempdir()) / f"humanoid_balance_meshes_{os.getuid()}"
        chosen.mkdir(exist_ok=True)
    return chosen if os.access(chosen, os.W_OK) else Path(tempfile.mkdtemp(prefix="humanoid_balance_meshes_"))


@cache
def readable(file: Path) -> Path | None:
    """The file itself if MuJoCo reads it, a converted copy otherwise; None if it cannot be converted."""
    suffix = file.suffix.lower()
    if suffix in READABLE and (suffix != ".stl" or is_binary_stl(file)):
        return file
    if suffix not in CONVERTIBLE:
        return None
    try:
        mesh = trimesh.load(file, force="mesh")
    except Exception:  # trimesh and its Collada reader raise whatever they like
        return None
    if not isinstance(mesh, trimesh.Trimesh) or not len(mesh.faces):
        return None
    if suffix == ".dae" and b"<up_axis>Y_UP" in file.read_bytes():  # a URDF's z is up
        mesh.apply_transform(trimesh.transformations.rotation_matrix(math.pi / 2, [1, 0, 0]))
    return keep(mesh)


def keep(mesh: trimesh.Trimesh) -> Path:
    """Write a mesh as a binary STL named after its content, so that it is written once."""
    if len(mesh.faces) > LARGEST:
        mesh = mesh.simplify_quadric_decimation(face_count=LARGEST)
    data = mesh.export(file_type="stl")
    assert isinstance(data, bytes)
    path = folder() / f"{hashlib.sha256(data).hexdigest()[:24]}.stl"
    if not path.is_file() or path.stat().st_size != len(data):
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
            part.write(data)
        Path(part.name).replace(path)  # other processes see the whole file or none
    return path


def is_binary_stl(file: Path) -> bool:
    """By its length, since an ASCII header may stand on a binary file."""
    with file.open("rb") as stream:
        header = stream.read(HEADER)
    return (
        file.stat().st_size >= HEADER
        and file.stat().st_size >= HEADER + FACE * int.from_bytes(header[80:84], "little") > HEADER
    )


def find(address: str, here: Path, by_name: str) -> Path | None:
    """A mesh by ``package://package/path``, looked for beside every folder above ``here``, or relative to it.

    Last comes the folder ``by_name``, where MuJoCo looks for the file's name alone.
    """
    _, package, inside = address.rpartition("package://")
    if package:
        for folder in (here, *here.parents):
            for candidate in (folder / inside, folder.parent / inside):
                if candidate.is_file():
                    return candidate
    elif (here / inside).is_file():
        return here / inside
    alone = here / by_name / Path(inside).name
    return alone if alone.is_file() else None
