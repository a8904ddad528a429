"""The 3-D scene of one robot: its body, the ground, and the marks of balance. Shows moments, one after the other."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np
import viser
from numpy.typing import NDArray

from humanoid_balance.figures import palette
from humanoid_balance.figures.playback import Puppet
from humanoid_balance.plants.world import World
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array
from humanoid_balance.viewer import shapes
from humanoid_balance.viewer.moment import Moment

ROOT = "/scene"
# Lines and arrows do not move with the ground: a slow browser draws their points later than it moves frames.
MARKS = "/marks"
LENGTH = 0.55  # of an arrow as strong as the weight, in CoM heights
EDGES = 10  # of a polygon on the ground; unused ones have no length
OPACITY = 0.55  # of a translucent body: the CoM is inside
LEASH = 0.15  # so far the CoM goes before the picture follows it [CoM heights]; swaying does not move the ground
ABOVE = 0.004  # marks lie above the ground, so that it does not hide them [m]
FOOTSTEP, INERTIA = palette.ORANGE, "#7b4fa3"


class Scene:
    """``show`` moves everything; only what changed goes over the wire.

    A robot that walks stays in the picture: not the camera moves, which the visitor turns at the same time, but the
    world below the robot. ``anchor`` is the point of the simulated world that is shown at the page's origin.
    """

    def __init__(self, server: viser.ViserServer, robot: Robot, world: World) -> None:
        self.scene, self.robot, self.size = server.scene, robot, robot.com_height
        self.puppet = Puppet(robot, world)
        self.slope = math.radians(world.slope)
        self.normal = np.array([-math.sin(self.slope), 0.0, math.cos(self.slope)])
        self.flat = (math.cos(self.slope / 2), 0.0, -math.sin(self.slope / 2), 0.0)
        self.root = self.scene.add_frame(ROOT, show_axes=False)
        self.marks = self.scene.add_frame(MARKS, show_axes=False)
        self.anchor, self.following = np.zeros(3), True
        self.show_forces, self.seen_through, self.show_boxes = True, False, False
        self.inertia: list[viser.BoxHandle] = []  # made when they are first wanted
        self._lights()
        self.links = shapes.links(self.puppet)
        self.parts: list[viser.MeshHandle] = []
        self._last: dict[int, tuple[float, ...]] = {}
        self._ground()
        self.bodies = {link.body: self._link(link) for link in self.links}
        self._marks()

    def close(self) -> None:
        self.root.remove()
        self.marks.remove()

    # ---- what is there ----

    def _lights(self) -> None:
        """Plain lamps: an environment map and shadows cost a page without a graphics card three of four pictures."""
        scene, s = self.scene, self.size
        scene.configure_environment_map(hdri=None)
        scene.configure_default_lights(enabled=False)
        scene.add_light_hemisphere(
            f"{ROOT}/sky", sky_color=(255, 255, 255), ground_color=(150, 150, 160), intensity=2.2
        )
        scene.add_light_directional(f"{ROOT}/sun", intensity=1.6, position=(2 * s, -4 * s, 5 * s))

    def _ground(self) -> None:
        self.grid = self.scene.add_grid(
            f"{ROOT}/ground", 12.0, 12.0, cell_size=0.25, section_size=1.0, cell_color=(214, 219, 225),
            section_color=(176, 184, 194), plane_color=(236, 239, 243), plane_opacity=1.0, shadow_opacity=0.25,
            wxyz=self.flat, fade_distance=14.0,
        )  # fmt: skip

    def _link(self, link: shapes.LinkShape) -> Any:
        """One frame a link, its parts below: a pose is sent once a link."""
        frame = self.scene.add_frame(f"{ROOT}/body/{link.body}", show_axes=False)
        self.parts += [
            self.scene.add_mesh_simple(
                f"{ROOT}/body/{link.body}/{number}", part.vertices, part.faces, color=part.colour
            )
            for number, part in enumerate(link.parts)
        ]
        return frame

    def _marks(self) -> None:
        s, scene = self.size, self.scene
        self.com = scene.add_icosphere(f"{ROOT}/com", 0.03 * s, _bytes(palette.COM), position=(0, 0, s))
        spots = (("below", palette.COM, 0.045), ("capture", palette.DCM, 0.037), ("zmp", palette.ZMP, 0.028))
        self.spots = {
            name: scene.add_cylinder(
                f"{ROOT}/{name}", radius * s, 0.004, _bytes(colour), wxyz=self.flat, cast_shadow=False
            )
            for name, colour, radius in spots
        }
        point = np.zeros((EDGES, 2, 3))
        self.support = scene.add_line_segments(f"{MARKS}/support", point, (60, 66, 74), thickness=0.008 * s)
        self.footstep = scene.add_line_segments(f"{MARKS}/footstep", point, _bytes(FOOTSTEP), thickness=0.014 * s)
        self.plumb = scene.add_line_segments(f"{MARKS}/plumb", point[:1], _bytes(palette.COM), thickness=0.004 * s)
        arrow: dict[str, Any] = {"shaft_radius": 0.012 * s, "head_radius": 0.03 * s, "head_length": 0.06 * s}
        self.forces = scene.add_arrows(f"{MARKS}/forces", point[:2], _bytes(palette.GROUND), **arrow)
        thick = {key: 1.7 * value for key, value in arrow.items()}
        self.push = scene.add_arrows(f"{MARKS}/push", point[:1], _bytes(palette.FORCE), **thick)
        self.label = scene.add_label(f"{ROOT}/mode", "", position=(0.0, 0.0, 2.0 * s), anchor="bottom-center")

    # ---- switches ----

    def look(self, follow: bool, translucent: bool, forces: bool, inertia: bool) -> None:
        """What the visitor wants to see; a body is seen through where something inside it is wanted."""
        self.following, self.show_forces = follow, forces
        if (translucent or inertia) != self.seen_through:
            self.seen_through = translucent or inertia
            for part in self.parts:
                part.opacity = OPACITY if self.seen_through else None
        if inertia != self.show_boxes:
            self.show_boxes = inertia
            self._show_inertia(inertia)

    def _show_inertia(self, on: bool) -> None:
        """Boxes of even density that turn as their links do, at the links' centres of mass."""
        if on and not self.inertia:
            self.inertia = [
                self.scene.add_box(
                    f"{ROOT}/body/{box.body}/inertia", _bytes(INERTIA), dimensions=box.size, opacity=0.8,
                    wxyz=box.wxyz, position=box.position, cast_shadow=False,
                )
                for box in shapes.inertia_boxes(self.puppet.model, list(self.bodies))
            ]  # fmt: skip
        for handle in self.inertia:
            handle.visible = on

    # ---- what moves ----

    def _follow(self, com: Array) -> None:
        """Keep the robot in the picture, and the ground below it."""
        away = com[:2] - self.anchor[:2]
        far = float(np.linalg.norm(away)) - LEASH * self.size
        if not self.following or far <= 0.0:
            return
        self.anchor = self.ground(self.anchor + np.append(away * far / np.linalg.norm(away), 0.0))
        self.root.position = -self.anchor
        below = self.ground(np.append(np.round(self.anchor[:2]), 0.0))  # whole metres: its lines stay where they are
        if tuple(below) != tuple(self.grid.position):
            self.grid.position = below

    def look_from(self, camera: Any) -> None:
        """Put a camera before the robot, a little to its right."""
        s = self.size
        camera.position, camera.look_at = (1.5 * s, -2.2 * s, 1.3 * s), (0.0, 0.0, 0.9 * s)

    def show(self, moment: Moment, clock: bool = False) -> None:
        """``clock``: the time beside the mode."""
        self._follow(moment.com)
        self._pose(moment.q)
        self._spot(moment)
        self._lines(moment)
        self._arrows(moment)
        words = moment.words + (f"  {moment.time:.2f} s" if clock else "")
        if self.label.text != words:
            self.label.text = words
        self.label.position = moment.com + np.array([0.0, 0.0, 1.02 * self.size])

    def _pose(self, q: Array) -> None:
        self.puppet.pose(q)
        data = self.puppet.data
        for body, frame in self.bodies.items():
            pose = tuple(np.round((*data.xpos[body], *data.xquat[body]), 4).tolist())
            if pose != self._last.get(body):
                self._last[body] = pose
                frame.position, frame.wxyz = pose[:3], pose[3:]

    def link_of(self, frame_name: str) -> str | None:
        """The link that a part of the body belongs to, by its name in the scene."""
        bodies = {f"{ROOT}/body/{link.body}": link.name for link in self.links}
        return next((name for path, name in bodies.items() if frame_name.startswith(f"{path}/")), None)

    def world(self, point: Array) -> Array:
        """The point of the simulated world at a point of the page."""
        return np.asarray(point + self.anchor)

    def local(self, link: str, point: Array) -> Array:
        """A point of the simulated world in the frame of a link as it is shown now."""
        body: Any = mujoco.mj_name2id(self.puppet.model, mujoco.mjtObj.mjOBJ_BODY, link)
        data = self.puppet.data
        return np.asarray(data.xmat[body].reshape(3, 3).T @ (point - data.xpos[body]))

    def ground(self, point: Array) -> Array:
        """The point of the ground below or above a point."""
        return np.array([point[0], point[1], math.tan(self.slope) * point[0]])

    def _spot(self, moment: Moment) -> None:
        self.com.position = moment.com
        points = {"below": moment.com, "capture": moment.capture, "zmp": moment.zmp}
        for level, (name, point) in enumerate(points.items(), start=1):
            there = bool(np.isfinite(point).all())
            if self.spots[name].visible != there:
                self.spots[name].visible = there
            if there:
                self.spots[name].position = self.ground(point) + level * ABOVE * self.normal

    def _lines(self, moment: Moment) -> None:
        lift = ABOVE * self.normal - self.anchor
        self.support.points = _closed(moment.support, lift)
        self.footstep.points = _closed(moment.footstep, lift)
        self.plumb.points = np.array([[moment.com, self.ground(moment.com)] - self.anchor], dtype=np.float32)

    def _arrows(self, moment: Moment) -> None:
        metre = LENGTH * self.size / self.robot.weight  # length of an arrow [m/N]
        start = np.where(np.isfinite(moment.pressure), moment.pressure - self.anchor, 0.0)
        real = np.isfinite(moment.pressure).all(axis=1, keepdims=True)
        self.forces.points = np.stack([start, start + np.where(real, metre * moment.force, 0.0)], 1).astype(np.float32)
        self.forces.visible = self.show_forces and bool(real.any())
        size = float(np.linalg.norm(moment.push))
        self.push.visible = size > 1e-6
        if size > 1e-6:
            along = moment.push / size
            at = moment.grip if np.isfinite(moment.grip).all() else moment.push_point - 0.12 * self.size * along
            at = at - self.anchor
            tail = at - (0.2 * self.size + metre * size) * along
            self.push.points = np.array([[tail, at]], dtype=np.float32)


def _bytes(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def _closed(corners: Array, lift: Array) -> NDArray[np.float32]:
    """Edges of a polygon as line segments (EDGES, 2, 3)."""
    edges = np.full((EDGES, 2, 3), -10.0, dtype=np.float32)  # below the ground, without length
    if len(corners):
        ring = (corners + lift)[:EDGES]
        edges[: len(ring)] = np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)
    return edges
