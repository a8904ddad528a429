"""The next step of a walk, place and time adapted every tick against the measured DCM.

With the centre of pressure p during the rest T of the step, the DCM c ends at p + (c - p) exp(omega T); the foot lands
at u, and b = c(T) - u is what the next step starts with. Wanted are the nominal p, u, b and T of the gait; what the DCM
has gone astray is shared by the least weighted squares (Khadiv et al., T-RO 2020, with the centre of pressure as one
more unknown): for a given T each axis has a closed form, and T is searched along its own axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_balance.balance.gait import Step
from humanoid_balance.balance.reach import Reach
from humanoid_balance.geometry import Point

PRESSURE, PLACE, OFFSET = 0.03, 1.0, 20.0  # weights of what leaves its nominal value, squared metres
TIME = 0.15  # [m²/s²]
LOST = 1e3  # weight of an offset from which no sequence of steps comes back
PASSED = 0.6  # share of ``Reach.past`` from which on soles are no longer beside each other
HASTE = 0.002  # change of the landing time in a tick [s]


@dataclass(frozen=True, slots=True)
class Adapted:
    """A step as it will be made; coordinates of the stance foot, y toward the swinging leg's side."""

    time: float  # until the foot lands [s]
    place: Point
    pressure: Point
    offset: Point
    lost: float  # by how much the offset is beyond what steps can come back from [m]
    cost: float


@dataclass(frozen=True, slots=True)
class Viable:
    """DCM offsets, when the weight comes onto a foot, from which steps without end are possible [m].

    With the pressure at the edge r of the sole and the farthest step L in the shortest time T an offset b becomes
    b' = r + (b - r) exp(omega T) - L. Forward b' = b is the limit; sideways the legs take turns: b' of a step outward
    is the one that the next foot has to catch by crossing, or that the sole alone has to hold.
    """

    forward: float
    backward: float
    inward: float  # to the side of the foot that leaves next
    outward: float

    @staticmethod
    def of(reach: Reach, half_length: float, half_width: float, omega: float, transfer: float) -> Viable:
        e = math.exp(-omega * (reach.shortest + transfer))
        x, y, cross = half_length, half_width, max(-reach.across, 0.0)
        outward = (y + cross * e + (reach.far - y) * e * e) / (1 - e * e) if cross > 0 else y
        forward, backward = (x + far * e / (1 - e) for far in (reach.forward, reach.backward))
        return Viable(forward, backward, y + (reach.far + outward - y) * e, outward)


class Adapter:
    """Adapts steps of one robot. The sole is ``half_length`` by ``half_width`` without its margin [m]."""

    def __init__(self, reach: Reach, half_length: float, half_width: float, transfer: float) -> None:
        self.reach, self.half = reach, (half_length, half_width)
        self.transfer = transfer

    def adapt(
        self, dcm: Point, omega: float, foot: Point, nominal: Step, sign: float, times: list[float], usual: float,
        flight: float, speed: float = 0.0,
    ) -> Adapted:  # fmt: skip
        """The best of some landing ``times`` [s from now]. ``dcm`` and ``foot`` in coordinates of the stance foot.

        ``usual``: when the foot would land in the nominal gait [s]; ``flight``: how much faster than its reach
        says a foot may be; ``sign`` turns y to the side of the swinging leg.
        """
        (nx, ny), (bx, by) = nominal.place, nominal.offset
        ny, by = sign * ny, sign * by
        viable = Viable.of(self.reach, *self.half, omega, self.transfer)
        best: Adapted | None = None
        for time in times:
            grown = math.exp(omega * (time + self.transfer / 2))
            px, x = _shared(dcm[0], grown, nx, bx, self.half[0])
            py, y = _shared(dcm[1], grown, ny, by, self.half[1])
            x, y = self.reach.clip(x, y)
            y = self._clear(x, y, foot)
            x, y = self._flown(x, y, foot, flight * self.reach.flight(time) + speed * time)
            px, py = self._again(dcm[0], grown, px, x, bx, 0), self._again(dcm[1], grown, py, y, by, 1)
            ox, oy = px + (dcm[0] - px) * grown - x, py + (dcm[1] - py) * grown - y
            lost = max(0.0, ox - viable.forward, -viable.backward - ox) + max(
                0.0, oy - viable.outward, -viable.inward - oy
            )
            cost = (
                PRESSURE * (px * px + py * py) + PLACE * ((x - nx) ** 2 + (y - ny) ** 2)
                + OFFSET * ((ox - bx) ** 2 + (oy - by) ** 2) + TIME * (time - usual) ** 2 + LOST * lost * lost
            )  # fmt: skip
            if best is None or cost < best.cost:
                best = Adapted(time, (x, y), (px, py), (ox, oy), lost, cost)
        assert best is not None
        return best

    def _flown(self, x: float, y: float, foot: Point, flight: float) -> Point:
        """As far on the way to a place as the foot flies."""
        distance = self.reach.distance(x - foot[0], y - foot[1])
        if distance <= flight:
            return x, y
        share = flight / distance
        return foot[0] + (x - foot[0]) * share, foot[1] + (y - foot[1]) * share

    def _clear(self, x: float, y: float, foot: Point) -> float:
        """A foot that crosses goes around the other: on its line it keeps its distance until it has passed the sole."""
        near, passed = self.reach.near, PASSED * self.reach.past
        side = 1.0 if x > 0.0 else -1.0
        start, end = side * foot[0], side * x
        if y >= near or start >= passed or end <= passed:
            return y
        least = foot[1] + (near - foot[1]) * (end - start) / (passed - start)
        return max(y, min(near, least))

    def _again(self, dcm: float, grown: float, pressure: float, place: float, offset: float, axis: int) -> float:
        """The centre of pressure once the place is known: it makes up for what limits took from the foot."""
        a = grown - 1
        error = dcm * grown - place - offset
        p = error * a * OFFSET / (PRESSURE + a * a * OFFSET)
        half = self.half[axis]
        return max(-half, min(half, p))


def _shared(dcm: float, grown: float, place: float, offset: float, half: float) -> Point:
    """Centre of pressure and place along one axis: what is astray at landing, shared by the weights."""
    a = grown - 1
    error = dcm * grown - place - offset
    share = error / (a * a / PRESSURE + 1 / PLACE + 1 / OFFSET)
    p = max(-half, min(half, a * share / PRESSURE))
    return p, place + (error - a * p) * OFFSET / (PLACE + OFFSET)
