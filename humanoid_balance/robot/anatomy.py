"""Which part of an unknown body is what: legs, trunk, arms and head from the tree of its joints, by their places.

The URDF's zero posture is looked at: z up, the body upright. Names count nowhere but for the IMU, as every maker has
their own.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
import trimesh

from humanoid_balance.errors import InputError
from humanoid_balance.robot import meshes
from humanoid_balance.robot.repair import mesh_folder
from humanoid_balance.types import Array

MIRRORED = 0.03  # places left and right that differ by no more are mirror images [m]
ON_GROUND = 0.01  # a part this near to the lowest point of the foot belongs to the sole [m]
LIGHT = 0.003  # share of the body's mass below which what a joint moves means nothing to balance: fingers, eyes
BENDS = 0.5  # middle of a knee's range from which on it tells which way the knee bends [rad]
FOOT_LENGTH, ANKLE_HEIGHT = 0.29, 0.075  # over the leg's length; people have these (Drillis and Contini, 1966)
ALONG = 0.9  # cosine from which on an axis counts as parallel
ROOT = 1  # Pinocchio's number of the floating base


@dataclass(frozen=True)
class GuessedSole:
    """Where a foot touches the ground: a frame of the URDF and the sole's rectangle in it, turned forward [m]."""

    frame: str
    x: tuple[float, float]
    y: tuple[float, float]
    z: float
    seen: bool  # the rectangle comes from the foot's geometry


class Anatomy:
    """The parts of a body; joints by Pinocchio's numbers, left before right."""

    def __init__(self, path: Path, urdf: str) -> None:
        self.path, self._root = path, ET.fromstring(urdf)
        try:
            self.model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
        except Exception as error:
            raise InputError(f"{path}: not a URDF ({' '.join(str(error).split())})") from None
        self.data = self.model.createData()
        self.q = pin.neutral(self.model)
        pin.framesForwardKinematics(self.model, self.data, self.q)
        pin.computeSubtreeMasses(self.model, self.data)
        self.mass = float(self.data.mass[0])
        if self.mass <= 0.0:
            raise InputError(f"{path}: its links have no mass; allowed: a URDF with inertias")
        self.children: dict[int, list[int]] = {k: [] for k in range(self.model.njoints)}
        for k in range(ROOT + 1, self.model.njoints):
            self.children[self.model.parents[k]].append(k)
        self.light = [k for k in range(ROOT + 1, self.model.njoints) if self.data.mass[k] < LIGHT * self.mass]
        self.feet = self._feet()
        self.legs = tuple(self.chain(foot) for foot in self.feet)
        self.soles = tuple(self._sole(foot) for foot in self.feet)
        self.backwards = self._backwards()
        if self.backwards:  # the root looks the other way, so left and right change places
            self.feet, self.legs, self.soles = self.feet[::-1], self.legs[::-1], self.soles[::-1]
        self._set_upper_body()

    # ---- the tree ----

    def place(self, joint: int) -> Array:
        return np.asarray(self.data.oMi[joint].translation)

    def name(self, joint: int) -> str:
        return str(self.model.names[joint])

    def chain(self, joint: int) -> list[int]:
        """The joint and those above it, from the root on, which is left out."""
        return [k for k in self.model.supports[joint] if k > ROOT]

    def link(self, joint: int) -> str:
        """The link that a joint moves."""
        names = [f.name for f in self.model.frames if f.type == pin.FrameType.BODY and f.parentJoint == joint]
        return str(names[0])

    def axis(self, joint: int) -> Array:
        """Of rotation, in the zero posture; zero for a joint that does not turn about one axis."""
        model = self.model.joints[joint]
        if model.nv != 1:
            return np.zeros(3)
        jacobian = pin.computeJointJacobian(self.model, self.model.createData(), self.q, joint)
        return np.asarray(self.data.oMi[joint].rotation @ jacobian[3:, model.idx_v])

    def _leaves(self) -> list[int]:
        """The last joint of each limb, fingers and the like cut off."""
        stays = [k for k in range(ROOT + 1, self.model.njoints) if k not in self.light]
        return [k for k in stays if not any(child in stays for child in self.children[k])]

    # ---- feet ----

    def _feet(self) -> tuple[int, int]:
        """The two lowest ends of limbs that are mirror images; a toe's joint belongs to the foot above it."""
        lowest = {k: self._lowest(k) for k in self._leaves()}
        for first in sorted(lowest, key=lambda k: lowest[k]):
            mirrored = self.place(first) * (1, -1, 1)
            for second in lowest:
                if second != first and np.abs(self.place(second) - mirrored).max() < MIRRORED:
                    left, right = sorted((first, second), key=lambda k: -self.place(k)[1])
                    return self._without_toe(left), self._without_toe(right)
        raise InputError(f"{self.path}: no two feet found: no two lowest limbs are mirror images in the zero posture")

    def _without_toe(self, foot: int) -> int:
        above = int(self.model.parents[foot])
        if above > ROOT and self._lowest(above) - self._lowest(foot) < ON_GROUND and self.points(above).size:
            self.light.append(foot)
            return above
        return foot

    def _lowest(self, joint: int) -> float:
        points = self.points(joint)
        return float(points[:, 2].min()) if points.size else float(self.place(joint)[2])

    def points(self, joint: int) -> Array:
        """Corners of all that moves rigidly with a joint, in the zero posture (k, 3) [m]; collision before visual."""
        for kind in ("collision", "visual"):
            found = [
                self.data.oMf[self.model.getFrameId(frame.name)].act(corner)
                for frame in self.model.frames
                if frame.type == pin.FrameType.BODY and frame.parentJoint == joint
                for part in self._root.iterfind(f"./link[@name='{frame.name}']/{kind}")
                for corner in self._corners(part)
            ]
            if found:
                return np.array(found)
        return np.zeros((0, 3))

    def _corners(self, part: ET.Element) -> Array:
        """Of one geometry, in the link's frame; of a mesh its convex hull's."""
        geometry, origin = part.find("geometry"), part.find("origin")
        solid = None if geometry is None else next(iter(geometry), None)
        mesh = None if solid is None else self._solid(solid)
        if mesh is None:
            return np.zeros((0, 3))
        place = pin.SE3.Identity()
        if origin is not None:
            xyz, rpy = ([float(t) for t in origin.get(key, "0 0 0").split()] for key in ("xyz", "rpy"))
            place = pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array(xyz))
        return np.asarray(mesh @ place.rotation.T + place.translation)

    def _solid(self, solid: ET.Element) -> Array | None:
        if solid.tag == "box":
            size = [float(t) for t in solid.attrib["size"].split()]
            return np.asarray(trimesh.creation.box(size).vertices)
        if solid.tag == "sphere":
            return np.asarray(trimesh.creation.icosphere(radius=float(solid.attrib["radius"])).vertices)
        if solid.tag == "cylinder":
            radius, length = float(solid.attrib["radius"]), float(solid.attrib["length"])
            return np.asarray(trimesh.creation.cylinder(radius, length).vertices)
        file = meshes.find(solid.get("filename", ""), self.path.parent, mesh_folder(self._root))
        file = None if file is None else meshes.readable(file.resolve())
        if file is None:
            return None
        mesh = trimesh.load(file, force="mesh")
        if not isinstance(mesh, trimesh.Trimesh):
            return None
        scale = [float(s) for s in solid.get("scale", "1 1 1").split()]
        return np.asarray(mesh.convex_hull.vertices * scale)

    def _sole(self, foot: int) -> GuessedSole:
        """A frame of the foot whose z points up, best also its x along the root's; the rectangle of what is lowest."""
        frames = [f for f in self.model.frames if f.type == pin.FrameType.BODY and f.parentJoint == foot]
        places = {f.name: self.data.oMf[self.model.getFrameId(f.name)] for f in frames}
        upright = {name: place for name, place in places.items() if place.rotation[2, 2] > ALONG}
        straight = [name for name, place in upright.items() if abs(place.rotation[0, 0]) > ALONG]
        if not straight:
            wanted = "a link welded to the foot, x to the toes and z up"
            raise InputError(f"{self.path}: link '{self.link(foot)}' needs a sole frame; allowed: {wanted}")
        name = min(straight, key=lambda n: places[n].translation[2])
        place, points = places[name], self.points(foot)
        if not points.size:
            leg = float(self.place(ROOT)[2] - place.translation[2])
            length = FOOT_LENGTH * leg
            heel, toes, aside = -0.3 * length, 0.7 * length, 0.2 * length
            return GuessedSole(name, (heel, toes), (-aside, aside), -ANKLE_HEIGHT * leg, False)
        low = points[:, 2].min()
        sole = np.array([place.actInv(p) for p in points[points[:, 2] < low + ON_GROUND]])
        (x0, y0, _), (x1, y1, _) = sole.min(axis=0), sole.max(axis=0)
        return GuessedSole(name, (x0, x1), (y0, y1), float(low - place.translation[2]), True)

    def lateral(self, joints: list[int]) -> list[int]:
        """Those that turn about the lateral axis: of a leg hip, knee and ankle."""
        return [k for k in joints if abs(self.axis(k)[1]) > ALONG]

    def _backwards(self) -> bool:
        """The body looks along the root's -x: its knees bend the other way, or its toes are there."""
        middle = 0.0
        for leg in self.legs:
            for knee in self.lateral(leg)[-2:-1]:
                k = self.model.joints[knee].idx_q
                bounds = np.clip((self.model.lowerPositionLimit[k], self.model.upperPositionLimit[k]), -np.pi, np.pi)
                middle += float(bounds.sum() * np.sign(self.axis(knee)[1])) / 2
        if abs(middle) > BENDS:
            return middle < 0.0
        reach = 0.0
        for foot in self.feet:
            points = self.points(foot)
            if points.size:
                ahead = points[:, 0] - self.place(foot)[0]
                reach += float(ahead.max() + ahead.min())
        return reach < -ON_GROUND

    # ---- the rest ----

    def _set_upper_body(self) -> None:
        """The trunk ends where the arms and the head begin: the last joint that all of them hang from."""
        legs = {k for leg in self.legs for k in leg}
        ends = [k for k in self._leaves() if k not in legs and not legs & set(self.chain(k)[-1:])]
        ends = [k for k in ends if k not in self.feet]
        chains = [[k for k in self.chain(end) if k not in legs] for end in ends]
        shared = set(chains[0]).intersection(*chains[1:]) if len(chains) > 1 else set()
        self.spine = sorted(shared)
        self.torso = self.spine[-1] if self.spine else ROOT
        limbs = [[k for k in chain if k not in shared] for chain in chains]
        self.head = sorted({k for limb in limbs if self._central(limb) for k in limb})
        sides = [limb for limb in limbs if limb and not self._central(limb)]
        sign = -1.0 if self.backwards else 1.0
        self.arms = tuple(
            max((limb for limb in sides if side * sign * self.place(limb[-1])[1] > 0), key=len, default=[])
            for side in (1, -1)
        )

    def _central(self, limb: list[int]) -> bool:
        return bool(limb) and abs(float(self.place(limb[-1])[1])) < MIRRORED
