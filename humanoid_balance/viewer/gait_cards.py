"""A finite-state gait on the page: a card with sliders per state; what is changed acts at once and can be kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import viser
import yaml

from humanoid_balance.gaits import library
from humanoid_balance.gaits.table import GaitTable

# From, to, step; angles as far as legs go, feedback well beyond what stays on its feet, so that its limits are felt.
TIME, ANGLE = (0.05, 1.0, 0.01), (-2.0, 2.0, 0.02)
SLIDERS = {
    "time": TIME, "c_d": (-0.5, 2.0, 0.02), "c_v": (-0.3, 1.0, 0.02), "torso": (-0.8, 0.8, 0.02), "swing_hip": ANGLE,
    "swing_knee": ANGLE, "swing_ankle": ANGLE, "stance_knee": ANGLE, "stance_ankle": ANGLE,
}  # fmt: skip

Edits = dict[tuple[int, str], float]  # state, field -> value


def edited(table: GaitTable, edits: Edits) -> GaitTable:
    """The table with other numbers; what ends with the swinging foot goes on doing so."""
    states = list(table.states)
    for (index, key), value in edits.items():
        if index < len(states) and (key != "time" or states[index].time is not None):
            change: dict[str, Any] = {key: value}
            states[index] = replace(states[index], **change)
    return replace(table, states=tuple(states))


def text(table: GaitTable, edits: Edits) -> str:
    """The YAML of the edited gait: a file that ``humanoid-balance gait FILE`` takes."""
    data: dict[str, Any] = yaml.safe_load(table.file.read_text(encoding="utf-8"))
    for (index, key), value in edits.items():
        data["states"][index][key] = round(value, 4)
    head = f"# {table.name}, changed on the live page. Try it: humanoid-balance gait THIS_FILE\n"
    return head + yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=118)


class GaitCards:
    """``changed(gait, state, key, value)`` is called for each slider that the visitor moves."""

    def __init__(self, gui: viser.GuiApi, changed: Callable[[str, int, str, float], None]) -> None:
        self.gui, self._changed = gui, changed
        self.edits: dict[str, Edits] = {}
        self._cards: list[viser.GuiFolderHandle] = []
        self._hint = gui.add_markdown("Choose a *Gait* under *Drive*: its states appear here.")
        self._save = gui.add_button("Save as YAML", icon=viser.Icon.DOWNLOAD, visible=False)
        self._save.on_click(self._download)
        self._place = gui.add_folder("States", visible=False)
        self.gait = ""

    def show(self, gait: str) -> None:
        """The cards of a gait; none for an empty name."""
        for card in self._cards:
            card.remove()
        self._cards, self.gait = [], gait
        self._hint.visible, self._save.visible = not gait, bool(gait)
        self._place.visible = bool(gait)
        if not gait:
            return
        table = library.find(gait)
        now = edited(table, self.edits.get(gait, {}))
        with self._place:
            for index, state in enumerate(now.states):
                end = "until the swinging foot is down" if state.time is None else "by time"
                with self.gui.add_folder(f"{index + 1}: {end}") as card:
                    self._sliders(index, state)
                self._cards.append(card)

    def _sliders(self, index: int, state: Any) -> None:
        for key, (low, high, step) in SLIDERS.items():
            value = getattr(state, key)
            if value is None:
                continue
            low, high = min(low, value), max(high, value)
            slider = self.gui.add_slider(key.replace("_", " "), low, high, step, value)
            slider.on_update(lambda event, key=key, slider=slider: self._moved(event, index, key, slider))  # type: ignore[misc]

    def _moved(self, event: Any, index: int, key: str, slider: Any) -> None:
        if event.client is not None:
            self.edits.setdefault(self.gait, {})[index, key] = slider.value
            self._changed(self.gait, index, key, slider.value)

    def _download(self, event: Any) -> None:
        if event.client is not None and self.gait:
            words = text(library.find(self.gait), self.edits.get(self.gait, {}))
            event.client.send_file_download(f"my-{self.gait}.yaml", words.encode())
