"""Footholds of a walk as two theses choose them, to compare with: a rule for the place, no search, no time of its own.

Torres (MSc thesis, UBC 2012): d = v sqrt(h / g) ahead of the CoM, alpha V_d less for the speed that is wanted, in both
planes, with the offset of the hip; v is that with which the step begins. The speed is held by a force on the body
through the stance leg, F = K (V_d - V): on the ground a centre of pressure that much further behind. Kudoh (Tokyo
2004): the pendulum falls freely to theta_c and the foot lands at alpha_c = 1.4 theta_c, as people's did while walking.
Steps take their nominal time.
"""

from __future__ import annotations

import math

from humanoid_balance.balance import pendulum
from humanoid_balance.balance.footsteps import Adapted, Adapter, Flying, Pendulum
from humanoid_balance.balance.gait import Step
from humanoid_balance.geometry import Point

KUDOH_WALKING = 1.4  # alpha_c / theta_c of people who walk
TORRES_FORCE = 100.0 / 70.0  # K over the mass of his body [1/s]


class Rule(Adapter):
    """A place by formula, within what the legs reach; the centre of pressure is not used against pushes."""

    began: Point = (0.0, 0.0)  # velocity of the CoM with which the step began [m/s]

    def adapt(
        self, now: Pendulum, foot: Flying, nominal: Step, sign: float, times: list[float], usual: float
    ) -> Adapted:
        time, wanted = times[0], (nominal.place[0] / nominal.time, 0.0)
        if foot.velocity == (0.0, 0.0):  # it has not left yet
            self.began = now.velocity
        x, y = self._rule(now, (nominal.place[0], sign * nominal.place[1]), wanted)
        place, aim = self.reached(x, y, foot, time)
        px, py = self._pressure(now, wanted)
        grown = math.exp(now.omega * (time + self.transfer / 2))
        offset = px + (now.dcm[0] - px) * grown - place[0], py + (now.dcm[1] - py) * grown - place[1]
        return Adapted(time, place, aim, (px, py), offset, 0.0, 0.0)

    def _rule(self, now: Pendulum, usual: Point, wanted: Point) -> Point:
        """Where the foot should land; ``usual``: in the nominal gait, ``wanted``: velocity, along the stance foot."""
        raise NotImplementedError

    def _pressure(self, now: Pendulum, wanted: Point) -> Point:
        return 0.0, 0.0


class Torres(Rule):
    def _rule(self, now: Pendulum, usual: Point, wanted: Point) -> Point:
        vx, vy = self.began
        hip = usual[1] / 2  # feet under the hips stand half their distance beside the CoM
        dx, dy = (pendulum.torres_step(v, now.height, aim) for v, aim in zip((vx, vy), wanted, strict=True))
        return now.com[0] + dx, now.com[1] + dy + hip

    def _pressure(self, now: Pendulum, wanted: Point) -> Point:
        half = self.half[0]
        behind = TORRES_FORCE * (wanted[0] - now.velocity[0]) / now.omega**2
        return max(-half, min(half, -behind)), 0.0


class Kudoh(Rule):
    def _rule(self, now: Pendulum, usual: Point, wanted: Point) -> Point:
        x, y = (
            pendulum.kudoh_step(s, v, now.height, KUDOH_WALKING) for s, v in zip(now.com, now.velocity, strict=True)
        )
        return x, y


def adapter(policy: str) -> type[Adapter]:
    """How steps of a walk are placed; what a thesis has no walk for is left to the default."""
    return {"torres": Torres, "kudoh": Kudoh}.get(policy, Adapter)
