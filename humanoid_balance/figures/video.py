"""The run as a video: the true motion drawn by MuJoCo, with the force, and the points that decide about balance."""

from __future__ import annotations

import itertools
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from PIL import Image

from humanoid_balance.experiments import metrics
from humanoid_balance.figures import palette
from humanoid_balance.figures import playback as replay
from humanoid_balance.figures.overlay import Overlay
from humanoid_balance.figures.playback import Puppet
from humanoid_balance.geometry import convex_hull
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.run import Run
from humanoid_balance.types import Array

WIDTH, HEIGHT, RATE = 960, 540, 30  # [pixel], [1/s]
FINE_WIDTH, FINE_HEIGHT = 1440, 810  # drawn larger, then shrunk: without a graphics card faster than multisampling
BEFORE, AFTER = 0.5, 1.0  # shown before the first push and after the robot is quiet or down [s]
FADE = 0.2  # the arrow stays this long after the force [s]
AZIMUTH, ELEVATION, DISTANCE = 135.0, -12.0, 1.75  # camera: at best from the front right [deg], [deg], body heights
SLANT = 25.0  # how far the camera leaves the normal of the push's plane for that [deg]
HORIZON = 15.0  # behind the robot, a wall of sky [m]
LAMP = 30.0  # distance of the lamp: light like the sun's [m]
SKY = "#A9BED2"
SMOOTH = 0.5  # time constant with which the camera follows [s]

Progress = Callable[[float], None]


def save(run: Run, path: Path, progress: Progress | None = None) -> str | None:
    """Write an H.264 video, or a small animation if the name ends in ``.webp``.

    Where that is not possible, leave no file and say why in one line.
    """
    part = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        film = _Film(run)
        try:
            (_animate if path.suffix == ".webp" else _encode)(film.frames(progress), part)
        finally:
            film.camera.close()
        part.replace(path)
    except Exception as error:  # drivers and encoders fail in many ways, and the run itself is done
        why = " ".join(str(error).split()) or type(error).__name__
        return f"no video: {why[:200]}"
    finally:
        part.unlink(missing_ok=True)
    return None


def _encode(frames: Iterator[Array], path: Path) -> None:
    import imageio_ffmpeg

    writer = imageio_ffmpeg.write_frames(
        str(path), (WIDTH, HEIGHT), fps=RATE, codec="libx264", pix_fmt_out="yuv420p", quality=None, macro_block_size=2,
        output_params=["-crf", "20", "-movflags", "+faststart"], ffmpeg_log_level="error",
    )  # fmt: skip
    writer.send(None)
    try:
        for frame in frames:
            writer.send(frame)
    finally:
        writer.close()
    if not path.exists() or not path.stat().st_size:
        raise RuntimeError("ffmpeg wrote nothing")


def _animate(frames: Iterator[Array], path: Path) -> None:
    """Half the size and half the pictures: small enough for a README."""
    size = WIDTH // 2, HEIGHT // 2
    shown = [Image.fromarray(f).resize(size, Image.Resampling.LANCZOS) for f in itertools.islice(frames, 0, None, 2)]
    shown[0].save(path, save_all=True, append_images=shown[1:], duration=2000 // RATE, loop=0, quality=45, method=5)


def _gl_context() -> Any:
    """An offscreen OpenGL context: what MUJOCO_GL names, else EGL, which needs no display, else MuJoCo's choice."""
    if sys.platform.startswith("linux") and not os.environ.get("MUJOCO_GL"):
        try:
            from mujoco.egl import GLContext

            return GLContext(FINE_WIDTH, FINE_HEIGHT)
        except Exception:  # no EGL here; a display may do
            pass
    return mujoco.GLContext(FINE_WIDTH, FINE_HEIGHT)


class _Camera:
    """MuJoCo's renderer with things added to the scene by hand."""

    def __init__(self, model: mujoco.MjModel, azimuth: float, distance: float) -> None:
        self.model = model
        model.vis.global_.offwidth, model.vis.global_.offheight = FINE_WIDTH, FINE_HEIGHT
        model.vis.quality.offsamples = 0
        model.vis.map.shadowscale = 0.15  # share of the lamp's cone that casts sharp shadows: the robot's surroundings
        model.mat_reflectance[:], model.mat_specular[:] = 0.0, 0.0
        model.light_diffuse[:], model.light_cutoff[:], model.light_exponent[:] = 0.55, 45.0, 0.0
        lamp = model.vis.headlight
        lamp.ambient[:], lamp.diffuse[:], lamp.specular[:] = 0.35, 0.35, 0.1
        try:
            with warnings.catch_warnings(action="ignore"):  # of GLFW, on its way to the error that is told below
                self.gl = _gl_context()
            self.gl.make_current()
            self.context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        except Exception as error:
            raise RuntimeError(f"OpenGL does not work here ({error}); MUJOCO_GL=egl or osmesa may help") from None
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self.context)
        self.scene = mujoco.MjvScene(model, maxgeom=model.ngeom + 100)
        self.option, self.view = mujoco.MjvOption(), mujoco.MjvCamera()
        self.option.geomgroup[:] = 0
        self.option.geomgroup[replay.VISUAL] = 1
        self.view.azimuth, self.view.elevation, self.view.distance = azimuth, ELEVATION, distance
        self.pixels = np.zeros((FINE_HEIGHT, FINE_WIDTH, 3), dtype=np.uint8)

    def look(self, data: mujoco.MjData, at: Array) -> None:
        """Begin a picture."""
        self.view.lookat[:] = at
        data.light_xpos[:] = at - LAMP * data.light_xdir
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self.model, data, self.option, None, self.view, everything, self.scene)
        turn = pin.rpy.rpyToMatrix(0.0, 0.0, math.radians(self.view.azimuth))
        wall = self.add(mujoco.mjtGeom.mjGEOM_BOX, np.array([0.01, 60.0, 60.0]), at + HORIZON * turn[:, 0], turn, SKY)
        wall.emission = 0.2

    def add(self, kind: int, size: Array, place: Array, turn: Array, colour: str, alpha: float = 1.0) -> Any:
        geom = self.scene.geoms[self.scene.ngeom]
        rgba = np.array([*palette.rgb(colour), alpha], dtype=np.float32)
        mujoco.mjv_initGeom(geom, kind, size, place, turn.ravel(), rgba)
        geom.category = mujoco.mjtCatBit.mjCAT_DECOR
        self.scene.ngeom += 1
        return geom

    def line(self, kind: int, width: float, start: Array, end: Array, colour: str, alpha: float = 1.0) -> None:
        geom = self.add(kind, np.zeros(3), np.zeros(3), np.eye(3), colour, alpha)
        mujoco.mjv_connector(geom, kind, width, start, end)

    def shot(self) -> Image.Image:
        rect = mujoco.MjrRect(0, 0, FINE_WIDTH, FINE_HEIGHT)
        self.gl.make_current()
        mujoco.mjr_render(rect, self.scene, self.context)
        mujoco.mjr_readPixels(self.pixels, None, rect, self.context)
        picture = Image.fromarray(np.flipud(self.pixels))
        return picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)

    def close(self) -> None:
        self.gl.make_current()
        self.context.free()
        self.gl.free()


class _Film:
    def __init__(self, run: Run) -> None:
        self.record = run.record
        self.time = run.record["time"]
        self.puppet = Puppet.of(run)
        self.height = 1.75 * self.record.robot.com_height  # about a body's height [m]
        self.camera = _Camera(self.puppet.model, _azimuth(run.main_push), DISTANCE * self.height)
        self.capture, self.zmp = replay.capture_point(run), metrics.true_zmp(run.record)
        self.corners, self.standing = replay.sole_corners(run), metrics.loaded(run.record).astype(bool)
        self.turn = self.puppet.ground()
        self.strength = np.linalg.norm(self.record["true_push"], axis=1)
        first = max(float(self.time[0]), min((p.start for p in run.pushes), default=0.0) - BEFORE)
        last = min(float(self.time[-1]), replay.settled(run)) + AFTER
        self.rows = np.clip(np.searchsorted(self.time, np.arange(first, last, 1 / RATE)), 0, len(self.time) - 1)
        self.overlay = Overlay(run)

    def frames(self, progress: Progress | None) -> Iterator[Array]:
        focus = _smooth(self.record["true_com"][self.rows], 1 / RATE)
        for number, k in enumerate(self.rows):
            self.puppet.pose(self.record["true_q"][k])
            at = np.array([*focus[number, :2], focus[number, 2] - 0.06 * self.height])
            self.camera.look(self.puppet.data, at)
            self._ground_marks(k)
            self._arrow(k)
            yield self.overlay.draw(self.camera.shot(), k, focus[number])
            if progress is not None:
                progress((number + 1) / len(self.rows))

    def _ground_marks(self, k: int) -> None:
        """Support polygon, ZMP, capture point and the CoM's projection, flat on the ground."""
        normal, slope = self.turn[:, 2], self.puppet.slope
        if self.standing[k].any():
            corners = self.corners[k][self.standing[k]].reshape(-1, 3)
            hull = np.array(convex_hull([(x, y) for x, y, _ in corners.tolist()]))
            hull = np.column_stack([hull, slope * hull[:, 0]]) + 0.003 * normal
            for start, end in zip(hull, np.roll(hull, -1, axis=0), strict=True):
                capsule = mujoco.mjtGeom.mjGEOM_CAPSULE
                self.camera.line(capsule, 0.0025 * self.height, start, end, "#444444")
        spots = ((self.record["true_com"], palette.COM, 0.026), (self.capture, palette.DCM, 0.021),
                 (self.zmp, palette.ZMP, 0.016))  # fmt: skip
        for level, (points, colour, radius) in enumerate(spots, start=1):
            x, y = points[k, :2]
            if np.isfinite([x, y]).all():
                size = np.array([radius * self.height, 0.002, 0.0])
                place = np.array([x, y, slope * x]) + 0.003 * level * normal
                self.camera.add(mujoco.mjtGeom.mjGEOM_CYLINDER, size, place, self.turn, colour)

    def _arrow(self, k: int) -> None:
        """The force while it acts, and its fading memory."""
        recent = np.flatnonzero(self.strength[: k + 1] > 1e-6)
        if not recent.size or self.time[k] - self.time[recent[-1]] > FADE:
            return
        last = recent[-1]
        alpha = 1.0 - (self.time[k] - self.time[last]) / FADE
        along = self.record["true_push"][last] / self.strength.max()
        com = self.record["true_com"]
        place = com[k] + self.record["true_push_point"][last] - com[last]
        tip = place - 0.10 * self.height * along / np.linalg.norm(along)
        arrow = mujoco.mjtGeom.mjGEOM_ARROW
        self.camera.line(arrow, 0.022 * self.height, tip - 0.40 * self.height * along, tip, palette.FORCE, alpha)


def _azimuth(push: PushProfile | None) -> float:
    """Look nearly across the push, from the side that is closer to the robot's front right [deg]."""
    direction = 0.0 if push is None else push.direction
    off = min((_wrapped(direction + side - AZIMUTH) for side in (90.0, -90.0)), key=abs)
    return AZIMUTH + math.copysign(max(abs(off) - SLANT, 0.0), off)


def _wrapped(angle: float) -> float:
    return (angle + 180.0) % 360.0 - 180.0


def _smooth(path: Array, dt: float) -> Array:
    """A low pass forward and backward, so that the camera neither jerks nor lags."""
    keep = np.exp(-dt / SMOOTH)
    out = path.copy()
    for order in (range(1, len(out)), range(len(out) - 2, -1, -1)):
        for i in order:
            before = i - 1 if order.step > 0 else i + 1
            out[i] += keep * (out[before] - out[i])
    return out
