"""What RViz shows of the balance: CoM, ZMP, DCM, support polygon, the push and where the foot will land."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Point
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_balance.loop import Tick
from humanoid_balance.nodes.state_topics import WORLD
from humanoid_balance.plants.ros.stamps import to_time
from humanoid_balance.types import Array, BodyReference

Colour = tuple[float, float, float, float]

METRES_PER_NEWTON = 0.002
COM: Colour = (0.90, 0.55, 0.10, 1.0)
ZMP: Colour = (0.10, 0.45, 0.80, 1.0)
DCM: Colour = (0.10, 0.65, 0.35, 1.0)
SUPPORT: Colour = (0.35, 0.35, 0.35, 1.0)
PUSHED: Colour = (0.85, 0.10, 0.15, 1.0)
FOOT: Colour = (0.55, 0.30, 0.75, 0.6)


def markers(tick: Tick) -> MarkerArray:
    """All markers of a moment; one that has nothing to show is deleted."""
    state, ground = tick.state, tick.state.ground_height
    push = state.push.force if state.push.active else np.zeros(3)
    feet = tick.reference.feet if isinstance(tick.reference, BodyReference) else (None, None)
    loop = [*state.support, state.support[0]] if len(state.support) else []
    made = [
        _ball("com", state.com, 0.06, COM),
        _ball("zmp", state.zmp, 0.04, ZMP),
        _ball("dcm", np.array([*state.dcm[:2], ground]), 0.04, DCM),
        _line("support", [np.array([x, y, ground]) for x, y in loop], SUPPORT),
        _arrow("push", state.com - METRES_PER_NEWTON * push, state.com, PUSHED),
        *(
            _ball(f"{side}_foot", np.full(3, np.nan) if foot is None else foot.position, 0.05, FOOT)
            for side, foot in zip(("left", "right"), feet, strict=True)
        ),
    ]
    stamp = to_time(state.stamp)
    for marker in made:
        marker.header.stamp, marker.header.frame_id = stamp, WORLD
    return MarkerArray(markers=made)


def _marker(name: str, kind: int, colour: Colour, shown: bool) -> Marker:
    marker = Marker(ns=name, type=kind, action=Marker.ADD if shown else Marker.DELETE)
    marker.pose.orientation.w = 1.0
    marker.color.r, marker.color.g, marker.color.b, marker.color.a = colour
    return marker


def _ball(name: str, at: Array, size: float, colour: Colour) -> Marker:
    marker = _marker(name, Marker.SPHERE, colour, bool(np.isfinite(at).all()))
    marker.scale.x = marker.scale.y = marker.scale.z = size
    if marker.action == Marker.ADD:
        marker.pose.position = _point(at)
    return marker


def _line(name: str, points: list[Array], colour: Colour) -> Marker:
    marker = _marker(name, Marker.LINE_STRIP, colour, len(points) > 1)
    marker.scale.x = 0.008
    marker.points = [_point(p) for p in points]
    return marker


def _arrow(name: str, tail: Array, tip: Array, colour: Colour) -> Marker:
    marker = _marker(name, Marker.ARROW, colour, bool(np.linalg.norm(tip - tail) > 1e-3))
    marker.scale.x, marker.scale.y = 0.02, 0.05  # shaft and head
    marker.points = [_point(tail), _point(tip)]
    return marker


def _point(at: Array) -> Point:
    x, y, z = at.tolist()
    return Point(x=x, y=y, z=z)
