"""The files that a run can leave: figure, video, report and log. Shared by the commands that make a run."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from humanoid_balance.commands.common import writable
from humanoid_balance.recording.run import Run

ENDINGS = {"plot": (".png",), "video": (".mp4", ".webp"), "report": (".html",), "log": (".mcap",)}
HELP = {
    "plot": None,
    "video": "F.webp: a small animation",
    "report": "all of it in one page that needs no network",
    "log": "every tick as standard ROS 2 messages",
}


def add_outputs(parser: argparse.ArgumentParser) -> None:
    for name, endings in ENDINGS.items():
        parser.add_argument(f"--{name}", type=Path, metavar=f"F{endings[0]}", help=HELP[name])


def check_outputs(options: argparse.Namespace) -> None:
    """Before the run: what cannot be written is refused."""
    for name, endings in ENDINGS.items():
        path = getattr(options, name)
        if path is not None:
            writable(path, f"--{name}", endings)


def write_outputs(run: Run, options: argparse.Namespace, story: str) -> None:
    """All but the log, which is written while the run goes on. Each import takes a second that others need not wait."""
    if options.plot is not None:
        from humanoid_balance.figures import figure

        figure.save(run, options.plot)
    if options.video is not None:
        from humanoid_balance.figures import video

        trouble = video.save(run, options.video)
        if trouble:
            print(trouble, file=sys.stderr)
    if options.report is not None:
        from humanoid_balance.figures import report
        from humanoid_balance.viewer import recording

        command = shlex.join(["humanoid-balance", *options.arguments])
        report.save(run, recording.page(run), command, options.report, story)
