"""Feedback error learning: the torque that keeps the trunk where it should be, learnt bin by bin over a step.

A gait repeats itself, so what the feedback had to correct in the last step it will have to correct in the next. Each
bin of the step remembers it (Yin's thesis, 7.6; Kawato's feedback error learning):

    v_ff <- v_ff + a v_fb          a = 0.1, once per visit of the bin, v_fb its mean there

and what is applied is always v_ff + v_fb. The feedback is left with what does not repeat itself: pushes and noise.
"""

from __future__ import annotations

from dataclasses import dataclass

WIDEST, NARROWEST = 0.1, 0.0005  # bins [s]
# A torque moves the trunk, and the feedback answers to its speed: at the frequencies of a landing a quarter of a period
# later. Learnt in its own bin it would be learnt there with the wrong sign; 8 ms are a quarter of 30 Hz.
LEAD = 0.008  # the feedback is credited to the bin so long before [s]
SLOWEST_STEP = 1.0  # what comes later than this in a step shares its last bin [s]


@dataclass(frozen=True)
class Learning:
    """``learning`` of a table."""

    bin: float  # width [s]
    rate: float = 0.1  # a; 0: what was learnt is applied, and nothing more is learnt
    most: float = 200.0  # of |v_ff| [N m]; Yin's 0.2 rad x 300 N m/rad cuts off what the landing needs, 150 N m
    torque: tuple[float, ...] = ()  # learnt so far, forward, bin by bin [N m]


class Learner:
    """What was learnt about the trunk of one gait; left and right steps are mirror images and share the bins."""

    def __init__(self, learning: Learning) -> None:
        self.width = learning.bin
        bins = max(round(SLOWEST_STEP / self.width), len(learning.torque))
        self.torque = [*learning.torque, *[0.0] * (bins - len(learning.torque))]
        self._bin, self._sum, self._count = 0, 0.0, 0
        self._age, self._step = 0.0, 0.0  # at the last tick, and at the end of the last step [s]

    def forward(self, age: float) -> float:
        """Torque on the trunk at ``age`` [s] of the step, leaning it forward [N m]."""
        return self.torque[self._at(age)]

    def see(self, age: float, feedback: float, learning: Learning) -> None:
        """What the feedback added at this tick [N m]."""
        if age < self._age:
            self._step = self._age
        self._age = age
        at = self._at(age - LEAD if age >= LEAD else max(self._step + age - LEAD, 0.0))
        if at != self._bin:
            self._learn(learning)
            self._bin = at
        self._sum += feedback
        self._count += 1

    def _learn(self, learning: Learning) -> None:
        if self._count and learning.rate > 0.0:
            learnt = self.torque[self._bin] + learning.rate * self._sum / self._count
            self.torque[self._bin] = min(max(learnt, -learning.most), learning.most)
        self._sum, self._count = 0.0, 0

    def _at(self, age: float) -> int:
        return min(int(age / self.width + 1e-6), len(self.torque) - 1)
