"""A run as one HTML file that needs nothing else: figure, 3-D replay, tables, how to make it again."""

from __future__ import annotations

import base64
import html
import platform
from collections.abc import Iterable
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from humanoid_balance import __version__
from humanoid_balance.figures import figure
from humanoid_balance.recording.run import Run

LIBRARIES = ("numpy", "scipy", "mujoco", "pin", "proxsuite", "viser", "matplotlib")
UNITS = {
    "mass": "kg", "impulse": "N s", "dv": "m/s", "recovery_time": "s", "com_error_final": "m", "feet_slip_max": "m",
    "zmp_margin_min": "m", "torso_lean_max_deg": "°", "com_rms": "m", "com_velocity_rms": "m/s",
    "orientation_rms_deg": "°", "zmp_rms": "m", "push_direction_error_deg": "°", "median_us": "µs", "p99_us": "µs",
    "p999_us": "µs", "max_us": "µs", "force": "N", "duration": "s", "direction": "°", "start": "s", "frequency": "Hz",
    "time": "s", "delay": "s", "slope": "°", "payload": "kg", "sensor_latency": "s", "actuator_latency": "s",
}  # fmt: skip
BLOCKS = {"tick": "Control tick"}  # headings of parts of the result that their key does not name well
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2733; max-width: 1180px; margin: 24px auto; padding: 0 16px }
h1 { font-size: 22px } h2 { font-size: 17px; margin-top: 28px } img { max-width: 100%; border: 1px solid #dde2e8 }
iframe { width: 100%; height: 620px; border: 1px solid #dde2e8 } .columns { display: flex; flex-wrap: wrap; gap: 28px }
table { border-collapse: collapse; font-size: 14px } td, th { padding: 2px 12px 2px 0; text-align: left;
border-bottom: 1px solid #e8ecf0; vertical-align: top } th { font-weight: 600 } td.number { font-variant-numeric:
tabular-nums } code { background: #f1f4f7; padding: 6px 10px; border-radius: 5px; display: block; overflow-x: auto;
white-space: pre } .note { color: #5b6875; font-size: 13px }
"""


def save(run: Run, scene: str, command: str, path: Path, story: str = "") -> None:
    """Write the report of a run; ``scene`` is the page of its 3-D replay, ``command`` makes it again."""
    path.write_text(_page(run, scene, command, story), encoding="utf-8")


def document(title: str, body: str) -> str:
    """A web page that asks nobody for anything."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<link rel="icon" href="data:,"><style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n'
    )


def picture(png: bytes, words: str) -> str:
    """An image inside the page."""
    return f'<img alt="{html.escape(words)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table; numbers are shown to four digits."""
    columns = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>\n" for row in rows)
    return f"<table><tr>{columns}</tr>\n{lines}</table>"


def _cell(value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or isinstance(value, bool):
        shown = {None: "–", True: "yes", False: "no"}[value]
    else:
        shown = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"<td{' class=number' if number else ''}>{html.escape(shown)}</td>"


def versions() -> list[tuple[str, str]]:
    """What made a result."""
    found = [(name, metadata.version(name)) for name in LIBRARIES]
    return [("humanoid_balance", __version__), ("Python", platform.python_version()), *found]


def _page(run: Run, scene: str, command: str, story: str) -> str:
    result = run.result
    nested = {key: value for key, value in result.items() if isinstance(value, dict)}
    sections = [
        f"<h1>{html.escape(run.title)}</h1>",
        "".join(f"<div>{html.escape(line)}</div>" for line in story.splitlines()),
        picture(figure.png(run), "the body at eight moments, and the curves that explain them"),
        "<h2>Replay</h2>",
        f'<iframe title="3-D replay" srcdoc="{html.escape(scene, quote=True)}"></iframe>',
        '<p class="note">True motion. Drag to look around, scroll to zoom, play and move the slider at the bottom. '
        "Blue: the point below the CoM; red: ZMP; green: capture point; grey arrows: forces of the ground; "
        "magenta: the push; the frame on the ground: support polygon.</p>",
        '<div class="columns">',
        _block("Result", _flat(result)),
        *(_block(BLOCKS.get(key, key.replace("_", " ").capitalize()), _flat(values)) for key, values in nested.items()),
        *(_block("Push", _flat(asdict(push))) for push in run.pushes),
        _block("Parameters", _flat(asdict(run.settings))),
        f"<div><h2>Modes</h2>{table(['from [s]', 'mode'], run.record.mode_changes)}</div>",
        f"<div><h2>Made with</h2>{table(['', 'version'], versions())}</div>",
        "</div>",
        f"<h2>Make it again</h2><code>{html.escape(command)}</code>",
    ]
    return document(run.title, "\n".join(sections))


def _flat(values: dict[str, Any]) -> list[tuple[str, Any, str]]:
    """Name, value and unit; what is a table itself has its own."""
    plain = {key: value for key, value in values.items() if not isinstance(value, dict | list)}
    return [(key.replace("_", " "), value, UNITS.get(key, "")) for key, value in plain.items()]


def _block(title: str, rows: list[tuple[str, Any, str]]) -> str:
    return f"<div><h2>{title}</h2>{table(['', 'value', ''], rows)}</div>"
