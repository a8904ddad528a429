"""What the text field of the sticks means."""

from __future__ import annotations

import pytest

from humanoid_balance.viewer.stick import parse


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("1 0 0", (1, 0, 0)), ("0.5, -0.25, 0", (0.5, -0.25, 0)), ("7 -9 0", (1, -1, 0)), ("nan 0 0", (0, 0, 0)),
     ("inf 0 0", (0, 0, 0)), ("1 0", (0, 0, 0)), ("", (0, 0, 0)), ("forward", (0, 0, 0))],
)  # fmt: skip
def test_three_numbers_or_standing_still(text: str, wanted: tuple[float, ...]) -> None:
    assert parse(text) == wanted
