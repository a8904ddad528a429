"""The envelope as a polar plot, seen from above with the toes up; the ceilings of an inverted pendulum beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from humanoid_balance.experiments import envelope
from humanoid_balance.experiments.palette import BLACK, BLUE, GROUND, ORANGE
from humanoid_balance.experiments.push import PushSettings

SIZE, DPI = (8.0, 8.5), 100  # [inch], [pixel/inch]
FINE = 5.0  # the ceilings are drawn this finely [deg]
NAMES = {0: "pushed forward", 90: "left", 180: "backward", 270: "right"}


def save(result: dict[str, Any], world: PushSettings, path: Path) -> None:
    """Draw the result of ``envelope.explore`` into a PNG."""
    draw(result, world).savefig(path, format="png")


def draw(result: dict[str, Any], world: PushSettings) -> Figure:
    """The figure of an envelope."""
    figure = Figure(SIZE, DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.add_subplot(projection="polar")
    axes.set_theta_zero_location("N")
    _ceilings(axes, world, result["strategy"] != "in-place")
    _survived(axes, result)
    axes.set_thetagrids(range(0, 360, 45), [NAMES.get(a, f"{a}°") for a in range(0, 360, 45)])
    axes.set_rlim(0.0)
    axes.set_rlabel_position(22.5)
    axes.grid(color="#DDDDDD")
    delay = f", reaction delay {world.delay:g} s" if world.delay else ""
    figure.suptitle(
        f"{result['robot']}, {result['mass']:.1f} kg, {result['strategy']}: largest push survived\n"
        f"pushes of {result['duration']:g} s{delay}; radius: Δv [m/s], beside the points: impulse [N s]"
    )
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def _ceilings(axes: Any, world: PushSettings, step: bool) -> None:
    ceilings = envelope.Ceilings(envelope.body(world), world)
    angles = np.arange(0.0, 360.0 + FINE / 2, FINE)
    dv = np.array([ceilings.at(a) for a in angles])
    axes.plot(np.radians(angles), dv[:, 0], color=GROUND, linestyle="--", label="pendulum, no step")
    if step:
        axes.plot(np.radians(angles), dv[:, 1], color=ORANGE, linestyle="--", label="pendulum, one step")


def _survived(axes: Any, result: dict[str, Any]) -> None:
    rows = result["directions"]
    angles, dv = np.radians([row["direction"] for row in rows]), np.array([row["dv"] for row in rows])
    axes.plot(np.append(angles, angles[0]), np.append(dv, dv[0]), color=BLUE, marker="o", label="survived")
    axes.fill(angles, dv, color=BLUE, alpha=0.12, linewidth=0)
    for angle, radius, row in zip(angles, dv, rows, strict=True):
        steps = f"\n{row['steps']} steps" if row["steps"] > 1 else "\n1 step" if row["steps"] else ""
        axes.annotate(
            f"{row['impulse']:.0f}{steps}", (angle, radius), (6, 6), textcoords="offset points", color=BLACK, fontsize=9
        )
