"""What an experiment found: a table as CSV and JSON, pictures, and one HTML page."""

from __future__ import annotations

import csv
import html
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from humanoid_balance.experiments.plan import PlannedRun
from humanoid_balance.figures import palette, report

FILES = ("results.csv", "results.json", "outcome.png", "recovery.png", "summary.html")
FIGURES = (
    "impulse", "dv", "fell", "steps", "recovery_time", "com_error_final", "feet_slip_max", "zmp_margin_min",
    "torque_ratio_max", "torso_lean_max_deg",
)  # fmt: skip
GIVEN = ("robot", "strategy", "seed", "force", "duration", "direction", "profile")
SHOWN = ("robot", "strategy", "seed", "force", "duration", "direction", "dv", "outcome", "steps", "recovery_time",
         "torque_ratio_max", "modes")  # fmt: skip
COLOURS = {"recovered": palette.GREEN, "moving": palette.SKY, "fell": palette.RED, "error": palette.BLACK}

Row = dict[str, Any]


def rows(runs: list[PlannedRun], done: dict[str, dict[str, Any]]) -> list[Row]:
    """One row a run, in the order of the plan."""
    return [_row(run, done[run.key]) for run in runs if run.key in done]


def _row(run: PlannedRun, result: dict[str, Any]) -> Row:
    given = {**asdict(run.settings), **asdict(run.push)}
    row = {key: given[key] for key in GIVEN} | {"outcome": outcome(result)}
    row |= {key: result.get(key) for key in FIGURES}
    row |= {f"estimation_{key}": value for key, value in result.get("estimation", {}).items()}
    row["modes"] = " > ".join(f"{name} {time:g}" for time, name in result.get("modes", [])) or result.get("error")
    return row


def outcome(result: dict[str, Any]) -> str:
    """recovered, moving (on its feet, not at rest yet), fell or error."""
    if "error" in result:
        return "error"
    if result["fell"]:
        return "fell"
    return "moving" if result["recovery_time"] is None else "recovered"


def save(table: list[Row], folder: Path, command: str) -> None:
    """Write all files; each is replaced as a whole."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in table for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    pictures = {"outcome.png": _png(draw_outcomes(table)), "recovery.png": _png(draw_recovery(table))}
    _replace(folder / "results.csv", text.getvalue().encode())
    _replace(folder / "results.json", (json.dumps({"runs": table}, indent=1) + "\n").encode())
    for name, png in pictures.items():
        _replace(folder / name, png)
    _replace(folder / "summary.html", _page(table, folder.name, pictures, command).encode())


def _replace(file: Path, data: bytes) -> None:
    part = file.with_name(f".{file.name}.part")
    part.write_bytes(data)
    part.replace(file)


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _page(table: list[Row], title: str, pictures: dict[str, bytes], command: str) -> str:
    total = {name: sum(row["outcome"] == name for row in table) for name in COLOURS}
    told = ", ".join(f"{count} {name}" for name, count in total.items() if count)
    body = [
        f"<h1>{html.escape(title)}</h1><div>{len(table)} runs: {told}</div>",
        *(report.picture(png, name) for name, png in pictures.items()),
        "<h2>Runs</h2>",
        report.table([name.replace("_", " ") for name in SHOWN], [[row[n] for n in SHOWN] for row in table]),
        f"<h2>Made with</h2>{report.table(['', 'version'], report.versions())}",
        f"<h2>Make it again</h2><code>{html.escape(command)}</code>",
    ]
    return report.document(title, "\n".join(body))


# ---- pictures ----


def _push_name(row: Row) -> str:
    return f"{row['direction']:g}°, {row['dv'] or 0:.2f} m/s in {row['duration']:g} s"


def draw_outcomes(table: list[Row]) -> Figure:
    """Pushes down, robots and strategies across: a bar a cell, its colours the shares of the outcomes."""
    lines = list(dict.fromkeys(_push_name(row) for row in table))
    columns = list(dict.fromkeys((row["robot"], row["strategy"]) for row in table))
    figure, axes = _sheet(2.4 + 1.7 * len(columns), 1.5 + 0.42 * len(lines))
    for y, line in enumerate(lines):
        for x, column in enumerate(columns):
            cell = [r for r in table if _push_name(r) == line and (r["robot"], r["strategy"]) == column]
            left = x - 0.44
            for name, colour in COLOURS.items():
                count = sum(row["outcome"] == name for row in cell)
                if count:
                    width = 0.88 * count / len(cell)
                    axes.barh(y, width, 0.8, left, color=palette.tint(colour, 0.55), linewidth=0)
                    axes.text(left + width / 2, y, str(count), ha="center", va="center", fontsize=9)
                    left += width
    axes.set_yticks(range(len(lines)), lines)
    axes.set_xticks(range(len(columns)), [f"{robot}\n{strategy}" for robot, strategy in columns])
    axes.xaxis.tick_top()
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    handles = [axes.barh(0, 0, color=palette.tint(c, 0.55), label=name) for name, c in COLOURS.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    return figure


def draw_recovery(table: list[Row]) -> Figure:
    """How long it took against how hard the push was."""
    figure, axes = _sheet(8.0, 4.2)
    columns = list(dict.fromkeys((row["robot"], row["strategy"]) for row in table))
    top = max((row["recovery_time"] or 0.0 for row in table), default=0.0) or 1.0
    span = max((row["dv"] or 0.0 for row in table), default=0.0) or 1.0
    for number, (column, colour) in enumerate(zip(columns, palette.MODES * len(columns), strict=False)):
        mine = [row for row in table if (row["robot"], row["strategy"]) == column and row["outcome"] != "error"]
        beside = 0.008 * span * (number - (len(columns) - 1) / 2)  # so that equal ones do not hide each other
        for kept, marker in ((True, "o"), (False, "x")):
            some = [row for row in mine if (row["outcome"] == "recovered") is kept]
            place = [(row["dv"] + beside, row["recovery_time"] if kept else -0.1 * top) for row in some]
            axes.scatter(*np.array(place).reshape(-1, 2).T, color=colour, marker=marker, s=28,
                         label=", ".join(column) if kept else None)  # fmt: skip
    axes.axhline(-0.05 * top, color=palette.GROUND, linewidth=0.8)
    axes.text(0.01, -0.1 * top, "fell or not at rest", transform=axes.get_yaxis_transform(), va="center")
    axes.set_xlim(0.0, 1.08 * span)
    axes.set_ylim(-0.15 * top, 1.08 * top)
    axes.set_xlabel("Δv of the push [m/s]")
    axes.set_ylabel("recovered after [s]")
    axes.grid(color="#DDDDDD")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def _sheet(width: float, height: float) -> tuple[Figure, Any]:
    figure = Figure((width, height), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()
