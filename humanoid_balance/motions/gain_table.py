"""Gains of the balance feedback by gait: the table of the specification (A4) as ``config/motions/feedback.yaml``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from humanoid_balance.motions.feedback import FeedbackGains
from humanoid_balance.robot.registry import config_folder
from humanoid_balance.yaml_file import Reader, read

COLUMNS = ("c1 sag", "c1 cor", "c2 sag (+)", "c2 sag (-)", "c2 cor", "c3 sag", "c3 cor")
CONSTANT = ("c0", "c4", "c5", "c6")
HIGHEST = 10.0  # gains beyond mean radians per centimetre


class GainTable:
    """``rows`` by gait, ``clips`` says which clip is which gait."""

    def __init__(self, file: Path) -> None:
        reader = read(file)
        constant = reader.section("constant")
        same = {key: constant.number(key, low=0.0, high=HIGHEST) for key in CONSTANT}
        constant.done(", ".join(CONSTANT))
        rows = reader.section("rows")
        self.rows = {str(name): self._row(rows, str(name), value, same) for name, value in rows.data.items()}
        clips = reader.section("clips", {})
        self.clips = {str(clip): self._known(clips, str(clip), gait) for clip, gait in clips.data.items()}
        self.other = self._known(reader, "other", reader.text("other"))
        reader.done("constant, rows, clips, other")

    @staticmethod
    def _row(reader: Reader, name: str, value: object, same: dict[str, float]) -> FeedbackGains:
        if not isinstance(value, list) or len(value) != len(COLUMNS):
            raise reader.bad(name, value, f"{len(COLUMNS)} numbers: {', '.join(COLUMNS)}")
        c = [reader.check_number(name, number, 0.0, HIGHEST) for number in value]
        return FeedbackGains((c[0], c[1]), (c[2], c[4]), c[3], (c[5], c[6]), **same)

    def _known(self, reader: Reader, key: str, gait: object) -> str:
        if not isinstance(gait, str) or gait not in self.rows:
            raise reader.bad(key, gait, f"one of the rows: {', '.join(self.rows)}")
        return gait

    def of(self, clip: str) -> FeedbackGains:
        """The row of a clip, by its name."""
        return self.rows[self.clips.get(clip, self.other)]


@cache
def table() -> GainTable:
    """The package's own."""
    return GainTable(config_folder() / "motions" / "feedback.yaml")
