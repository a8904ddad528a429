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
from humanoid_balance.balance.legs import Legs
from humanoid_balance.balance.reach import ASIDE, Reach
from humanoid_balance.geometry import Point
from humanoid_balance.types import GRAVITY

PRESSURE, PLACE, OFFSET = 0.03, 1.0, 20.0  # weights of what leaves its nominal value, squared metres
TIME = 0.15  # [m²/s²]
LOST = 1e3  # weight of an offset from which no sequence of steps comes back
STRETCHED = 200.0  # weight of a stride that a leg cannot make: one that stays drags its foot, one that lands hangs
SINKING = GRAVITY / 12  # how far a body comes down per time squared [m/s²]: let go with g / 3, braked as hard
RUSHED = 1.0  # price [m²] of a flight that takes more of what a foot can than the nominal one: it throws the trunk
CROSSING = 0.03  # price of crossing [m²]: worth it where the offset gets better by 4 cm, as the legs come back later
PASSED = 0.6  # share of ``Reach.past`` from which on soles are no longer beside each other
SURE = 0.95  # share of ``Reach.passing`` from which on a foot counts as past the other one
CLEAR = 0.8  # share of ``Reach.near`` from which on a foot beside the other does not touch it: soles and a bit
HASTE = 0.002  # change of the landing time in a tick [s]
LATER = 0.04, 0.08, 0.12  # a landing that would be bad may be put off by one of these [s] ...
DIRE = 0.3  # ... as which counts one that costs this much [m²] ...
FIXED = 0.02, 0.08  # ... but not in the last moment [s]; nor is it moved a little in the second of these
QUICK = 1.5  # a foot that hurries flies this much farther than ``Reach`` says, which is for one of a standing body
TRIES = 12  # step times of which the viable offsets are the best


@dataclass(frozen=True, slots=True)
class Adapted:
    """A step as it will be made; coordinates of the stance foot, y toward the swinging leg's side."""

    time: float  # until the foot lands [s]
    place: Point
    aim: Point  # where the foot is sent now: beside the place as long as it has to go around the other leg
    pressure: Point
    offset: Point
    lost: float  # by how much the offset is beyond what steps can come back from [m]
    cost: float
    crossing: int = 0  # the foot lands across, before (1) or behind (-1) the other one


@dataclass(frozen=True, slots=True)
class Pendulum:
    """The body as a step sees it, in coordinates of the stance foot, y toward the swinging leg's side."""

    omega: float
    com: Point
    dcm: Point
    height: float  # of the CoM above the ground [m]

    @property
    def velocity(self) -> Point:
        """Of the CoM [m/s]; that of the caught DCM, which counts the body's rotation."""
        (sx, sy), (cx, cy) = self.com, self.dcm
        return self.omega * (cx - sx), self.omega * (cy - sy)

    def com_after(self, time: float, pressure: Point) -> Point:
        """Where the CoM will be with the centre of pressure where it is given."""
        grown, shrunk = math.exp(self.omega * time), math.exp(-self.omega * time)
        (sx, sy), (cx, cy), (px, py) = self.com, self.dcm, pressure
        half = (grown - shrunk) / 2
        return px + (sx - px) * shrunk + (cx - px) * half, py + (sy - py) * shrunk + (cy - py) * half

    def flat(self, time: float, pressure: Point, legs: Legs) -> tuple[float, float]:
        """Between these y a sole that lands then is flat: the roll joint of an ankle has its ends [m]."""
        y = self.com_after(time, pressure)[1] + legs.hip[1]
        return y + legs.inside, y + legs.outside

    def strides(self, time: float, pressure: Point, place: Point, hip: Point) -> tuple[float, float]:
        """How far the hips will be from their ankles over the ground [m]: of the leg that stays, of the one that lands.

        ``hip`` as ``Legs.hip``.
        """
        x, y = self.com_after(time, pressure)
        return math.hypot(x + hip[0], y - hip[1]), math.hypot(x + hip[0] - place[0], y + hip[1] - place[1])


@dataclass(frozen=True, slots=True)
class Flying:
    """The foot that swings or will, in coordinates of the stance foot."""

    at: Point
    velocity: Point  # zero before it leaves
    carried: float  # speed of the body, which carries it along [m/s]
    crossing: int = 0  # it is under way before (1) or behind (-1) the other foot; turned round, it got to neither side

    def stop(self, time: float) -> Point:
        """Where it would be after a time in which it is stopped evenly."""
        (x, y), (vx, vy) = self.at, self.velocity
        return x + vx * time / 2, y + vy * time / 2

    def flight(self, reach: Reach, time: float) -> float:
        """How far it gets from there [m]."""
        return QUICK * reach.flight(time) + self.carried * time

    def share(self, reach: Reach, place: Point, time: float) -> float:
        """Of what it can fly, that it needs to a place."""
        x, y = self.stop(time)
        return reach.distance(place[0] - x, place[1] - y) / self.flight(reach, time)


@dataclass(frozen=True, slots=True)
class Viable:
    """DCM offsets, when the weight comes onto a foot, from which steps without end are possible [m].

    With the pressure at the edge r of the sole an offset b becomes b' = r + (b - r) exp(omega T) - u(T) with a step
    u as far as a foot flies in the time T. Forward b' = b is the limit, of the best T; sideways the legs take turns:
    inward, to the side of the foot that leaves next, it may step wide; outward it has to be set down beside the other
    or cross, and the next one steps wide.
    """

    forward: float
    backward: float
    inward: float
    outward: float

    @staticmethod
    def of(reach: Reach, half_length: float, half_width: float, omega: float, transfer: float) -> Viable:
        x, y = half_length, half_width
        times = [reach.shortest + (reach.longest - reach.shortest) * k / (TRIES - 1) for k in range(TRIES)]
        kept = [(math.exp(-omega * (time + transfer)), QUICK * reach.flight(time)) for time in times]
        # A foot flies two steps' lengths; and the body, which is one step ahead of it in that time, carries it along.
        forward, backward = (
            x + max(min(far, flight) * e / (1 - e) for e, flight in kept) for far in (reach.forward, reach.backward)
        )
        wide = [(e, min(reach.far, ASIDE * flight - reach.near)) for e, flight in kept]
        # Set down beside the other at once, or farther across the longer it flies.
        across = [(e, max(-reach.near, min(-reach.across, ASIDE * flight - 2 * reach.near))) for e, flight in kept]
        inward = outward = y
        for _ in range(TRIES):
            inward = max(y + (u + outward - y) * e for e, u in wide)
            outward = max(y, *(y + (u + inward - y) * e for e, u in across))
        return Viable(forward, backward, inward, outward)


class Adapter:
    """Adapts steps of one robot. The sole is ``half_length`` by ``half_width`` without its margin [m]."""

    def __init__(self, reach: Reach, half_length: float, half_width: float, transfer: float, legs: Legs, omega: float):
        self.reach, self.half = reach, (half_length, half_width)
        self.transfer, self.legs = transfer, legs
        self.viable = Viable.of(reach, half_length, half_width, omega, transfer)

    def adapt(
        self, now: Pendulum, foot: Flying, nominal: Step, sign: float, times: list[float], usual: float
    ) -> Adapted:
        """The best of some landing ``times`` [s from now].

        ``usual``: when the foot would land in the nominal gait [s]; ``sign`` turns y to the side of the swinging leg.
        """
        dcm, omega = now.dcm, now.omega
        (nx, ny), (bx, by) = nominal.place, nominal.offset
        ny, by = sign * ny, sign * by
        viable, near = self.viable, self.reach.near
        easy = foot.share(self.reach, (nx, ny), max(usual, self.reach.shortest / 2))
        best: Adapted | None = None

        def weigh(time: float, crossing: int, place: Point, first: Point, grown: float) -> None:
            nonlocal best
            x, y = place
            px = self._again(dcm[0], grown, first[0], x, bx, 0)
            py = self._again(dcm[1], grown, first[1], y, by, 1)
            ox, oy = px + (dcm[0] - px) * grown - x, py + (dcm[1] - py) * grown - y
            lost = max(0.0, ox - viable.forward, -viable.backward - ox) + max(
                0.0, oy - viable.outward, -viable.inward - oy
            )
            stretched = self._stretched(now, time, (px, py), place)
            cost = (
                PRESSURE * (px * px + py * py) + PLACE * ((x - nx) ** 2 + (y - ny) ** 2)
                + OFFSET * ((ox - bx) ** 2 + (oy - by) ** 2) + TIME * (time - usual) ** 2 + LOST * lost * lost
                + STRETCHED * stretched * stretched + (CROSSING if crossing else 0.0)
                + RUSHED * max(0.0, foot.share(self.reach, place, time) - easy) ** 2
            )  # fmt: skip
            if best is None or cost < best.cost:
                best = Adapted(time, (x, y), self._aim(x, y, foot), (px, py), (ox, oy), lost, cost, crossing)

        for time in times:
            grown = math.exp(omega * (time + self.transfer / 2))
            first_x, wanted_x = _shared(dcm[0], grown, nx, bx, self.half[0])
            first_y, wanted_y = _shared(dcm[1], grown, ny, by, self.half[1])
            first = first_x, first_y
            flat = now.flat(time, first, self.legs)
            for crossing in (0, 1, -1) if wanted_y < near and self.reach.across < near else (0,):
                if crossing and crossing == -foot.crossing:
                    continue
                place = self._place(wanted_x, wanted_y, foot, time, crossing, flat)
                if place is not None:
                    weigh(time, crossing, place, first, grown)
        if best is None:  # nowhere in time: the foot takes longer, and stays clear of the other one
            place = self._clear(*self._own(wanted_x, wanted_y, foot, time, flat))
            weigh(time, 0, place, first, grown)
        assert best is not None
        return best

    def reached(self, x: float, y: float, foot: Flying, time: float) -> tuple[Point, Point]:
        """The nearest place on the leg's own side that the foot reaches in a time, and where it is sent now."""
        place = self._clear(*self._own(x, y, foot, time, (-math.inf, math.inf)))
        return place, self._aim(*place, foot)

    def _stretched(self, now: Pendulum, time: float, pressure: Point, place: Point) -> float:
        """By how much both legs are too short at the landing [m]."""
        farthest = self.legs.farthest(now.height - SINKING * time * time)
        rear, front = now.strides(time, pressure, place, self.legs.hip)
        return max(0.0, rear - farthest) + max(0.0, front - farthest)

    def _place(self, x: float, y: float, foot: Flying, time: float, crossing: int, flat: Point) -> Point | None:
        """The nearest place that the foot reaches in a time; ``crossing`` before (1) or behind (-1) the other one.

        ``flat``: between these y the sole lands flat [m]. None: it would land on the other foot.
        """
        reach = self.reach
        if not crossing:
            place = self._own(x, y, foot, time, flat)
            if foot.crossing and place[1] < CLEAR * reach.near:
                return None  # it is across already, or gets there: turned round, it lands in the way of the other leg
            return place if self._is_clear(*place) else None
        y = max(y, reach.across, min(flat[0], reach.near))
        x = crossing * max(crossing * x, reach.passing(y))
        if not -reach.backward <= x <= reach.forward:
            return None
        ahead, start = crossing * (x - foot.at[0]), crossing * foot.at[0]
        passed = PASSED * reach.past
        if start < passed:  # it goes forward first, then aside
            left = time * (1.0 - (passed - start) / ahead)
            y = max(y, reach.near - ASIDE * foot.flight(reach, left))
            if y > reach.near:
                return None
        x, y = self._flown(x, y, foot, time)
        if crossing * x >= reach.passing(y) - 1e-9:
            return x, y
        # A foot that is already on its way there goes on, however late it will be.
        return (crossing * reach.passing(y), y) if crossing == foot.crossing else None

    def _own(self, x: float, y: float, foot: Flying, time: float, flat: Point) -> Point:
        """The nearest place on the leg's own side, as far as the foot gets."""
        x, y = self.reach.beside(x, max(flat[0], min(flat[1], y)))
        return self._flown(self._uncrossed(x, y, foot, time), y, foot, time)

    def _is_clear(self, x: float, y: float) -> bool:
        """A foot does not land on the other one there."""
        return y >= CLEAR * self.reach.near or abs(x) >= SURE * self.reach.passing(y)

    def _clear(self, x: float, y: float) -> Point:
        """The nearest such place."""
        if self._is_clear(x, y):
            return x, y
        reach, passing = self.reach, self.reach.passing(y)
        places = [
            (x, reach.near),
            *((end, y) for end in (passing, -passing) if -reach.backward <= end <= reach.forward),
        ]
        return min(places, key=lambda place: reach.distance(place[0] - x, place[1] - y))

    def _crossed(self, x: float, foot: Flying) -> float:
        """Where a foot has to go around the other leg to get to its own side: 1 before it, -1 behind it, 0 nowhere."""
        (fx, fy), passed = foot.at, PASSED * self.reach.past
        side = 1.0 if fx > 0.0 else -1.0
        return side if fy < CLEAR * self.reach.near and side * fx > passed > side * x else 0.0

    def _uncrossed(self, x: float, y: float, foot: Flying, time: float) -> float:
        """How far a foot that was left crossed gets along the stance foot: it goes to its own side first."""
        side, fy = self._crossed(x, foot), foot.at[1]
        if not side:
            return x
        left = time * (1.0 - (CLEAR * self.reach.near - fy) / (y - fy))
        return side * max(side * x, PASSED * self.reach.past - foot.flight(self.reach, left))

    def _flown(self, x: float, y: float, foot: Flying, time: float) -> Point:
        """As far on the way to a place as the foot flies."""
        fx, fy = foot.stop(time)
        flight, distance = foot.flight(self.reach, time), self.reach.distance(x - fx, y - fy)
        if distance <= flight:
            return x, y
        share = flight / distance
        return fx + (x - fx) * share, fy + (y - fy) * share

    def _aim(self, x: float, y: float, foot: Flying) -> Point:
        """Toward the place on a line that does not lead through the other leg.

        Soles have passed each other at ``passed``; up to there a foot keeps as far aside as legs need. One that was
        left crossed goes to its own side first.
        """
        near, passed, (fx, fy) = self.reach.near, PASSED * self.reach.past, foot.at
        if y < near:
            side = 1.0 if x > 0.0 else -1.0
            start, end = side * fx, side * x
            if start >= passed or end <= passed:
                return x, y
            least = fy + (near - fy) * (end - start) / (passed - start)
            return x, max(y, min(near, least))
        side = self._crossed(x, foot)
        if side:
            most = side * fx + (passed - side * fx) * (y - fy) / (CLEAR * near - fy)
            return side * max(side * x, min(passed, most)), y
        return x, y

    def _again(self, dcm: float, grown: float, pressure: float, place: float, offset: float, axis: int) -> float:
        """The centre of pressure once the place is known: it makes up for what limits took from the foot."""
        a = grown - 1
        error = dcm * grown - place - offset
        p = error * a * OFFSET / (PRESSURE + a * a * OFFSET)
        half = self.half[axis]
        return max(-half, min(half, p))


def landings(since: float, left: float, shortest: float, longest: float) -> tuple[list[float], list[float]]:
    """Times that a foot in the air may still take [s]: close to that ``left``, and later ones if all of those are bad.

    A push late in the swing leaves no time for a step aside. One that takes 0.1 s more goes far enough, but the landing
    times close by do not show it: they are as bad as the planned one.
    """
    close, later = [max(left, 0.005)], list[float]()
    if left > FIXED[1]:
        close += [left + change for change in (-HASTE, HASTE) if shortest < since + left + change < longest]
    if left > FIXED[0]:
        later += [left + change for change in LATER if since + left + change < longest]
    return close, later


def _shared(dcm: float, grown: float, place: float, offset: float, half: float) -> Point:
    """Centre of pressure and place along one axis: what is astray at landing, shared by the weights."""
    a = grown - 1
    error = dcm * grown - place - offset
    share = error / (a * a / PRESSURE + 1 / PLACE + 1 / OFFSET)
    p = max(-half, min(half, a * share / PRESSURE))
    return p, place + (error - a * p) * OFFSET / (PLACE + OFFSET)
