"""Gains of the balance laws as sliders: what they do stands in docs/tuning.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import viser

from humanoid_balance.robot.config import Gains

# Name, from, to, what it is. Within these a standing robot stays on its feet; beyond them the laws lose their meaning:
# a flywheel gain of 1 or less never brings the DCM back.
RANGES = (
    ("dcm", 0.5, 4.0, "centre of pressure per DCM error"),
    ("flywheel", 1.05, 4.0, "spin per metre that the caught DCM is outside the feet"),
    ("spin", 2.0, 15.0, "how fast the spin follows, in omega"),
    ("upright", 0.3, 4.0, "how fast a turned body comes upright again, in omega"),
    ("height", 1.0, 8.0, "CoM height, in omega"),
    ("height_damping", 0.3, 2.0, "damping ratio of the CoM height"),
)


class GainSliders:
    """``changed(name, value)`` is called for each gain that the visitor moves."""

    def __init__(self, gui: viser.GuiApi, own: Gains, changed: Callable[[str, float], None]) -> None:
        self.own, self._changed = own, changed
        self.sliders = {
            name: gui.add_slider(name.replace("_", " "), low, high, 0.05, self._own(name), hint=hint)
            for name, low, high, hint in RANGES
        }
        for name, slider in self.sliders.items():
            slider.on_update(lambda event, name=name: self._moved(event, name))  # type: ignore[misc]
        gui.add_button("The robot's own").on_click(lambda _: self.reset(self.own))

    def _own(self, name: str) -> float:
        low, high = next((low, high) for known, low, high, _ in RANGES if known == name)
        return max(low, min(high, float(getattr(self.own, name))))

    def _moved(self, event: Any, name: str) -> None:
        if event.client is not None:
            self._changed(name, self.sliders[name].value)

    def reset(self, own: Gains) -> None:
        """Back to a robot's own gains."""
        self.own = own
        for name, slider in self.sliders.items():
            value = self._own(name)
            if slider.value != value:
                slider.value = value  # type: ignore[misc]
                self._changed(name, float(getattr(own, name)))
