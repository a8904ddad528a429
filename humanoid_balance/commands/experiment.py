"""Make every run of a plan (YAML): pushes x robots x strategies x seeds."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from humanoid_balance.commands.common import Bar, count, print_json, writable
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import plan, sweep
from humanoid_balance.experiments.journal import Journal

JOURNAL = "runs.jsonl"


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", type=Path, metavar="FILE.yaml", help="the plan")
    add("--output", type=Path, metavar="FOLDER", help="default: the plan's name without its ending")
    add("--workers", type=count, default=os.cpu_count() or 1, metavar="N", help="processes; default: one a core")
    add("--cluster", metavar="tcp://HOST:PORT", help="scheduler of a Dask cluster that does the runs instead")
    add("--json", action="store_true", help="one JSON object on stdout, nothing else")


def run(options: argparse.Namespace) -> None:
    runs = plan.load(options.file)
    folder = options.file.with_suffix("") if options.output is None else options.output
    if folder == options.file or folder.is_file():
        raise InputError(f"--output {folder}: is a file; allowed: a folder")
    writable(folder / JOURNAL, "--output")
    with Journal(folder / JOURNAL) as journal, Bar(f"experiment {options.file.stem}") as bar:
        sweep.complete(runs, journal, options.workers, options.cluster, bar)
        from humanoid_balance.figures import summary  # matplotlib takes a second to load

        table = summary.rows(runs, journal.done)
        summary.save(table, folder, shlex.join(["humanoid-balance", *options.arguments]))
    outcomes = [row["outcome"] for row in table]
    told = {name: outcomes.count(name) for name in summary.COLOURS}
    if options.json:
        print_json({"runs": len(table), **told, "folder": str(folder)})
    else:
        print(f"{len(table)} runs: " + ", ".join(f"{n} {name}" for name, n in told.items() if n))
        print("\n".join(f"{folder / name}" for name in summary.FILES))
