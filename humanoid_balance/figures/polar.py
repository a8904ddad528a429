"""The envelope as a polar plot, seen from above with the toes up; the ceilings of an inverted pendulum beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from humanoid_balance.experiments import envelope
from humanoid_balance.figures.palette import BLACK, BLUE, GREEN, GROUND, ORANGE, PURPLE, RED
from humanoid_balance.stack import RunSettings

SIZE, DPI = (8.0, 8.5), 100  # [inch], [pixel/inch]
FINE = 5.0  # the ceilings are drawn this finely [deg]
NAMES = {0: "pushed forward", 90: "left", 180: "backward", 270: "right"}


def save(result: dict[str, Any], world: RunSettings, path: Path) -> None:
    """Draw the result of ``envelope.explore`` into a PNG."""
    draw(result, world).savefig(path, format="png")


def draw(result: dict[str, Any], world: RunSettings) -> Figure:
    """The figure of an envelope."""
    figure = _sheet(*SIZE)
    axes = _compass(figure, 1, 1)
    _ceilings(axes, world, result["strategy"] != "in-place")
    if "velocity" in result:
        _of_a_walk(axes, result)
    else:
        _survived(axes, result, "survived", BLUE)
    delay = f", reaction delay {world.delay:g} s" if world.delay else ""
    how = f"walking at {result['velocity']:g} m/s" if "velocity" in result else result["strategy"]
    points = "each point is a phase of the step" if "velocity" in result else "beside the points: impulse [N s]"
    where = f" on {result['push_link']}, {result['push_height']:.2f} m high" if "push_link" in result else ""
    figure.suptitle(
        f"{result['robot']}, {result['mass']:.1f} kg, {how}: largest push survived\n"
        f"pushes of {result['duration']:g} s{where}{delay}; radius: Δv [m/s], {points}"
    )
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def save_side_by_side(results: list[dict[str, Any]], names: list[str], path: Path) -> None:
    """Draw several envelopes into a PNG: one plot a robot, one curve a result."""
    draw_side_by_side(results, names).savefig(path, format="png")


def draw_side_by_side(results: list[dict[str, Any]], names: list[str]) -> Figure:
    robots = list(dict.fromkeys(result["robot"] for result in results))
    figure = Figure((6.4 * len(robots), 8.6), DPI)
    FigureCanvasAgg(figure)
    figure.subplots_adjust(left=0.06, right=0.94, top=0.84, bottom=0.2, wspace=0.3)
    for place, robot in enumerate(robots, start=1):
        axes = _compass(figure, len(robots), place)
        mine = [(result, name) for result, name in zip(results, names, strict=True) if result["robot"] == robot]
        _ceilings(axes, RunSettings(robot=robot), any(result["strategy"] != "in-place" for result, _ in mine))
        for (result, name), colour in zip(mine, (BLUE, RED, GREEN, PURPLE, BLACK) * len(mine), strict=False):
            high = f", {result['push_height']:.2f} m high" if "push_height" in result else ""
            label = f"{name}: {result['strategy']}, pushes of {result['duration']:g} s{high}"
            _survived(axes, result, label, colour)
        axes.set_title(f"{robot}, {mine[0][0]['mass']:.1f} kg", pad=24)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.07), frameon=False)
    figure.suptitle("largest push survived; radius: Δv [m/s],\nbeside the points: impulse [N s]")
    return figure


def _sheet(width: float, height: float) -> Figure:
    figure = Figure((width, height), DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _compass(figure: Figure, plots: int, place: int) -> Any:
    """Polar axes seen from above, the toes up."""
    axes: Any = figure.add_subplot(1, plots, place, projection="polar")
    axes.set_theta_zero_location("N")
    axes.set_thetagrids(range(0, 360, 45), [NAMES.get(a, f"{a}°") for a in range(0, 360, 45)])
    axes.set_rlabel_position(22.5)
    axes.grid(color="#DDDDDD")
    return axes


def _ceilings(axes: Any, world: RunSettings, step: bool) -> None:
    ceilings = envelope.Ceilings(envelope.body(world), world)
    angles = np.arange(0.0, 360.0 + FINE / 2, FINE)
    dv = np.array([ceilings.at(a) for a in angles])
    axes.plot(np.radians(angles), dv[:, 0], color=GROUND, linestyle="--", label="pendulum, no step")
    if step:
        axes.plot(np.radians(angles), dv[:, 1], color=ORANGE, linestyle="--", label="pendulum, one step")


def _survived(axes: Any, result: dict[str, Any], label: str, colour: str) -> None:
    rows = result["directions"]
    angles, dv = np.radians([row["direction"] for row in rows]), np.array([row["dv"] for row in rows])
    axes.plot(np.append(angles, angles[0]), np.append(dv, dv[0]), color=colour, marker="o", label=label)
    axes.fill(angles, dv, color=colour, alpha=0.12, linewidth=0)
    for angle, radius, row in zip(angles, dv, rows, strict=True):
        steps = f"\n{row['steps']} steps" if row["steps"] > 1 else "\n1 step" if row["steps"] else ""
        axes.annotate(
            f"{row['impulse']:.0f}{steps}", (angle, radius), (6, 6), textcoords="offset points", color=BLACK, fontsize=9
        )
    axes.set_rlim(0.0, max(axes.get_rmax(), 1.12 * dv.max(initial=0.0)))


def _of_a_walk(axes: Any, result: dict[str, Any]) -> None:
    """The weakest phase of each direction, the median, and every phase as a point."""
    rows = result["directions"]
    angles = np.radians([row["direction"] for row in rows])
    for key, label, colour in (("dv_min", "weakest phase", BLUE), ("dv_median", "median of the phases", GREEN)):
        dv = np.array([row[key] for row in rows])
        axes.plot(np.append(angles, angles[0]), np.append(dv, dv[0]), color=colour, marker="o", label=label)
    each = np.array([row["phases"] for row in rows])
    axes.scatter(np.repeat(angles, each.shape[1]), each.ravel(), s=9, color=BLACK, alpha=0.5, zorder=3)
    axes.set_rlim(0.0, max(axes.get_rmax(), 1.12 * each.max(initial=0.0)))
