"""Colours of figures and videos, after Okabe and Ito: colour-blind readers tell them apart, and so does grey print."""

from __future__ import annotations

BLACK, BLUE, SKY, GREEN = "#000000", "#0072B2", "#56B4E9", "#009E73"
ORANGE, RED, PURPLE, YELLOW = "#E69F00", "#D55E00", "#CC79A7", "#F0E442"

COM, ZMP, DCM, FORCE, GROUND = BLUE, RED, GREEN, PURPLE, "#888888"
MODES = (SKY, ORANGE, GREEN, PURPLE, YELLOW, RED, BLUE, BLACK)


def rgb(colour: str) -> tuple[float, float, float]:
    """Red, green and blue, 0 to 1."""
    red, green, blue = bytes.fromhex(colour[1:])
    return red / 255, green / 255, blue / 255


def tint(colour: str, share: float = 0.45) -> tuple[float, float, float]:
    """The colour mixed with white; ``share`` is how much of it stays."""
    red, green, blue = (1.0 - share * (1.0 - part) for part in rgb(colour))
    return red, green, blue


def of_modes(modes: list[str]) -> dict[str, str]:
    """A colour for each mode, in order of appearance."""
    return {mode: MODES[i % len(MODES)] for i, mode in enumerate(modes)}
