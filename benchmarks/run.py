"""Our whole-body tick beside TSID's and PlaCo's: same robot, tasks, limits and scene, one core, one run.

    python benchmarks/run.py [--robots talos human] [--rounds 5] [--json]

The peers live in venvs of their own under build/bench, made when missing. The controllers take turns for some rounds,
so that a busy machine slows all of them alike; the table has the median over rounds, the ratio is ours to the peer's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import scene  # noqa: E402
from humanoid_balance.robot import registry  # noqa: E402

PEERS = {
    # TSID's newest wheel is linked against these versions of its libraries.
    "tsid": ["tsid==1.7.1", "pin==3.4.0", "cmeel-urdfdom==4.0.1", "cmeel-tinyxml2==10.0.0"],
    "placo": ["placo==0.10.2"],
}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}


def interpreter(peer: str, folder: Path) -> Path:
    """Python of the peer's venv, which is made and filled when it is missing."""
    home = folder / f"venv-{peer}"
    python, done = home / "bin" / "python", home / ".installed"
    if not done.exists():
        print(f"making {home} ...", file=sys.stderr)
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS[peer]], check=True, stdout=sys.stderr)
        done.touch()
    return python


def tick_times(command: list[str]) -> dict[str, float] | None:
    """Run one timing process; None when it failed."""
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ | ONE_THREAD, cwd=ROOT)
    if run.returncode:
        print(f"{' '.join(command)}: {run.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return dict(json.loads(run.stdout.splitlines()[-1]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", default=["talos", "human"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ticks", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    folder = ROOT / "build" / "bench"
    rows = []
    for name in args.robots:
        file = str(scene.write(registry.load(name), folder))
        ticks = ["--ticks", str(args.ticks)]
        commands = {"ours": [sys.executable, "-m", "benchmarks.ours", "--robot", name, *ticks]}
        for peer in PEERS:
            script = str(Path(__file__).with_name(f"{peer}_tick.py"))
            commands[peer] = [str(interpreter(peer, folder)), script, file, *ticks]
        results: dict[str, list[dict[str, float]]] = {key: [] for key in commands}
        for _ in range(args.rounds):
            for key, command in commands.items():
                times = tick_times(command)
                if times is not None:
                    results[key].append(times)
        middle = {k: {f: median(r[f] for r in v) for f in ("median_us", "p99_us")} for k, v in results.items() if v}
        for key, values in middle.items():
            ratio = middle["ours"]["median_us"] / values["median_us"]
            rows.append({"robot": name, "controller": key, **values, "ours_to_this": round(ratio, 2)})
    if args.json:
        print(json.dumps(rows))
    else:
        print("| robot | controller | median [us] | p99 [us] | ours / this |\n|---|---|---|---|---|")
        for row in rows:
            print("| {robot} | {controller} | {median_us:.0f} | {p99_us:.0f} | {ours_to_this:.2f} |".format(**row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
