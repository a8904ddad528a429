"""The command line as scripts meet it: what is printed where, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcap.reader import make_reader

from humanoid_balance import cli

PUSH = ("push", "--force", "60", "--duration", "0.1", "--direction", "0")
SHORT = (*PUSH, "--at", "0.5", "--time", "1.5")

CONTRACT = {
    "robot", "mass", "fell", "steps", "modes", "impulse", "dv", "recovery_time", "com_error_final", "feet_slip_max",
    "zmp_margin_min", "torque_ratio_max", "estimation", "tick", "rtf",
}  # fmt: skip
ESTIMATION = {
    "com_rms", "com_velocity_rms", "orientation_rms_deg", "zmp_rms", "push_direction_error_deg", "push_impulse_ratio",
    "push_delay", "landing_delay_max", "lift_off_delay_max", "contact_chatter",
}  # fmt: skip
TICK = {"median_us", "p99_us", "max_us", "missed"}
BEYOND = {"torso_lean_max_deg", "pushes_reported", "p999_us"}  # told, but not promised


class Ended:
    """What a command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        assert self.code == 0, self.err
        assert self.out.endswith("\n") and self.out.count("\n") == 1
        return json.loads(self.out)


Call = Callable[..., Ended]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """A function: arguments -> exit code and output."""

    def run(*arguments: object) -> Ended:
        try:
            code: Any = cli.main([str(a) for a in arguments])
        except SystemExit as end:
            code = end.code
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run


def start(*arguments: object) -> subprocess.Popen[str]:
    """The command in a process group of its own, as a terminal starts it."""
    command = [sys.executable, "-m", "humanoid_balance.cli", *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command,
        stdout=pipe,
        stderr=pipe,
        text=True,
        start_new_session=True,
        # A test run in the background ignores the interrupt; the process under test must not inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


# ---- robots ----


def test_robots_lists_the_known_ones(call: Call) -> None:
    robots = call("robots", "--json").json["robots"]
    assert {"human", "talos", "g1"} <= {r["name"] for r in robots}
    for robot in robots:
        assert set(robot) == {"name", "joints", "mass", "com_height"}
        assert robot["joints"] > 10 and robot["mass"] > 10.0 and 0.3 < robot["com_height"] < 1.5


def test_robots_without_json_is_a_table(call: Call) -> None:
    done = call("robots")
    assert done.code == 0
    assert any(line.split()[:2] == ["human", "34"] for line in done.out.splitlines())


# ---- push ----


def test_push_tells_what_the_contract_promises_and_nothing_unknown(call: Call) -> None:
    result = call(*SHORT, "--json").json
    assert set(result) - BEYOND == CONTRACT
    assert set(result["estimation"]) == ESTIMATION
    assert set(result["tick"]) - BEYOND == TICK
    assert result["robot"] == "human" and result["mass"] == pytest.approx(71.0)
    assert result["impulse"] == pytest.approx(6.0) and result["dv"] == pytest.approx(6.0 / 71.0)
    assert result["fell"] is False and isinstance(result["steps"], int)
    assert all(isinstance(t, float) and isinstance(name, str) for t, name in result["modes"])


def test_json_is_all_that_a_process_writes_to_stdout() -> None:
    process = start(*SHORT, "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert set(json.loads(out)) >= CONTRACT and out.count("\n") == 1


def test_a_run_is_the_same_for_a_seed_and_another_for_another(call: Call) -> None:
    def run(seed: int) -> dict[str, Any]:
        result: dict[str, Any] = call(*SHORT, "--seed", seed, "--json").json
        return {key: value for key, value in result.items() if key not in ("tick", "rtf")}

    assert run(3) == run(3)
    assert run(3) != run(4)


def test_push_without_json_is_a_short_story(call: Call) -> None:
    done = call(*SHORT)
    assert done.code == 0
    assert len(done.out.splitlines()) == 3 and done.out.startswith("human: ")


def test_log_of_a_push_is_a_readable_mcap_with_every_tick(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "made" / "push.mcap"
    assert call(*PUSH, "--at", "0.1", "--time", "0.4", "--log", file).code == 0
    with file.open("rb") as stream:
        summary = make_reader(stream).get_summary()
    assert summary is not None and summary.statistics is not None
    counts = {c.topic: summary.statistics.channel_message_counts[i] for i, c in summary.channels.items()}
    assert counts["/joint_states"] == 400


def test_a_log_does_not_change_the_run(call: Call, tmp_path: Path) -> None:
    def run(*more: object) -> Any:
        result = call(*PUSH, "--at", "0.1", "--time", "0.4", "--json", *more).json
        return {key: value for key, value in result.items() if key not in ("tick", "rtf")}

    assert run() == run("--log", tmp_path / "push.mcap")


def test_plot_of_a_push_is_a_png(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "push.png"
    assert call(*PUSH, "--at", "0.1", "--time", "0.4", "--plot", file).code == 0
    assert file.read_bytes().startswith(b"\x89PNG")


# ---- bench ----


def test_bench_times_every_stage(call: Call) -> None:
    result = call("bench", "--time", "1", "--json").json
    assert set(result) == {"robot", "nv", "stages", "tick"}
    assert result["nv"] == 40
    assert set(result["stages"]) == {"plant", "estimation", "balance", "wholebody", "safety"}
    assert all(set(row) == {"median_us", "p99_us"} for row in result["stages"].values())
    assert set(result["tick"]) == {"median_us", "p99_us", "p999_us", "max_us"}


# ---- bad input ----


def push_with(**changes: object) -> tuple[object, ...]:
    options = {"force": 60, "duration": 0.1, "direction": 0} | changes
    return ("push", *(part for key, value in options.items() for part in (f"--{key.replace('_', '-')}", value)))


BAD = {
    "no command": (),
    "unknown command": ("fly",),
    "no force": ("push", "--duration", "0.1", "--direction", "0"),
    "negative duration": push_with(duration=-0.1),
    "force that is not a number": push_with(force="nan"),
    "infinite force": push_with(force="inf"),
    "force in words": push_with(force="strong"),
    "direction that is not a number": push_with(direction="nan"),
    "negative start": push_with(at=-1),
    "negative time": push_with(time=-3),
    "no time": push_with(time=0),
    "unknown robot": push_with(robot="r2d2"),
    "unknown robot option": push_with(robot="human:wings=2"),
    "robot option without number": push_with(robot="human:mass=heavy"),
    "robot too heavy": push_with(robot="human:mass=1e9"),
    "empty robot": push_with(robot=""),
    "missing YAML": push_with(robot="nowhere/robot.yaml"),
    "plant robot with other joints": push_with(plant_robot="g1"),
    "unknown plant": push_with(plant="moon"),
    "unknown strategy": push_with(strategy="fly"),
    "unknown policy": push_with(policy="hope"),
    "unknown profile": push_with(profile="square"),
    "sine without frequency": push_with(profile="sine", frequency=0),
    "slope too steep": push_with(slope=60),
    "slope that is not a number": push_with(slope="nan"),
    "no friction": push_with(friction=0),
    "negative payload": push_with(payload=-1),
    "delay too long": push_with(delay=60),
    "latency too long": push_with(sensor_latency=3),
    "negative seed": push_with(seed=-1),
    "seed that is no whole number": push_with(seed=1.5),
    "plot below a file": push_with(plot=f"{__file__}/plot.png"),
    "plot that is a folder": push_with(plot=Path(__file__).parent),
    "log below a file": push_with(log=f"{__file__}/push.mcap"),
    "video that is a folder": push_with(video=Path(__file__).parent),
    "bench of an unknown robot": ("bench", "--robot", "r2d2"),
    "bench of negative time": ("bench", "--time", "-1"),
    "no direction": ("envelope", "--directions", "0"),
    "half a direction": ("envelope", "--directions", "2.5"),
    "too many directions": ("envelope", "--directions", "100000"),
    "push without duration": ("envelope", "--duration", "0"),
    "negative resolution": ("envelope", "--resolution", "-1"),
    "no resolution": ("envelope", "--resolution", "0"),
    "no worker": ("envelope", "--workers", "0"),
    "envelope of an unknown robot": ("envelope", "--robot", "r2d2"),
    "envelope of a body with other joints": ("envelope", "--plant-robot", "talos"),
    "envelope with a bad slope": ("envelope", "--slope", "60"),
    "report below a file": push_with(report=f"{__file__}/push.html"),
    "live with an unknown robot": ("live", "--no-browser", "--port", "0", "--robot", "r2d2"),
    "live at no address": ("live", "--no-browser", "--host", "moon"),
    "live at an address of somebody else": ("live", "--no-browser", "--host", "192.0.2.1"),
    "live at no port": ("live", "--no-browser", "--port", "70000"),
    "experiment without a plan": ("experiment", "nowhere.yaml"),
    "plan that is no YAML": ("experiment", __file__),
    "comparison of one": ("compare", __file__),
    "comparison with nothing": ("compare", "nowhere.json", "nowhere.json"),
    "comparison of what is no JSON": ("compare", __file__, __file__),
    "envelope plot below a file": ("envelope", "--plot", f"{__file__}/plot.png"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_clear_line(call: Call, case: str) -> None:
    done = call(*BAD[case])
    assert done.code == 2
    assert done.out == ""
    complaint = [line for line in done.err.splitlines() if not line.startswith("warning: ")]
    assert len(complaint) == 1, done.err
    assert complaint[0].startswith("humanoid-balance")
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("negative duration", ("--duration", "-0.1")),
        ("force that is not a number", ("--force", "nan")),
        ("unknown robot", ("r2d2", "human", "talos", "g1")),
        ("missing YAML", ("nowhere/robot.yaml", "no such file")),
        ("slope too steep", ("slope", "60", "-45", "45")),
        ("unknown strategy", ("--strategy", "fly", "in-place")),
        ("plot below a file", ("--plot", "plot.png")),
        ("no resolution", ("resolution", "0")),
    ],
)
def test_the_line_names_what_is_wrong_and_what_is_allowed(call: Call, case: str, told: tuple[str, ...]) -> None:
    line = call(*BAD[case]).err
    assert all(part in line for part in told), line


def test_a_wrong_entry_of_a_yaml_is_named(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text("urdf: generate:human\ntorso: 7\n")
    done = call(*push_with(robot=file))
    assert done.code == 2 and len(done.err.splitlines()) == 1
    assert str(file) in done.err and "'feet' missing" in done.err


def test_an_address_beyond_this_machine_is_warned_about(call: Call) -> None:
    """The address itself cannot be had, so that no server is started."""
    done = call("live", "--no-browser", "--host", "192.0.2.1")
    assert done.err.startswith("warning: --host 192.0.2.1") and "no password" in done.err


def test_a_port_in_use_is_told(call: Call) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = call("live", "--no-browser", "--port", port)
    assert done.code == 2 and str(port) in done.err and "Address already in use" in done.err


def test_an_unknown_key_of_a_plan_is_named(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text("pushes: [{force: 60, duration: 0.1}]\nwind: 3\n")
    done = call("experiment", file)
    assert done.code == 2 and len(done.err.splitlines()) == 1
    assert "'wind' is 3" in done.err and str(file) in done.err


def test_a_broken_journal_ends_an_experiment_before_it_begins(call: Call, tmp_path: Path) -> None:
    file, journal = tmp_path / "plan.yaml", tmp_path / "plan" / "runs.jsonl"
    file.write_text("pushes: [{force: 60, duration: 0.1}]\n")
    journal.parent.mkdir()
    journal.write_text("rubbish\n")
    done = call("experiment", file)
    assert done.code == 2 and "line 1" in done.err and str(journal) in done.err


# ---- compare ----


def write(file: Path, result: object) -> Path:
    file.write_text(json.dumps(result))
    return file


def envelope_of(impulse: float, strategy: str = "auto", robot: str = "human") -> dict[str, Any]:
    rows = [{"direction": d, "impulse": impulse, "dv": impulse / 71.0, "steps": 0} for d in (0.0, 120.0, 240.0)]
    return {"robot": robot, "mass": 71.0, "strategy": strategy, "duration": 0.1, "directions": rows}


def test_compare_tells_how_envelopes_differ_and_draws_them(call: Call, tmp_path: Path) -> None:
    a = write(tmp_path / "a.json", envelope_of(40.0, "in-place"))
    b = write(tmp_path / "b.json", envelope_of(50.0, "auto"))
    plot = tmp_path / "both.png"
    done = call("compare", a, b, "--plot", plot)
    assert done.code == 0 and "+25.0 %" in done.out and "differs" in done.out
    assert plot.read_bytes().startswith(b"\x89PNG")
    rows = call("compare", a, b, "--json").json["rows"]
    assert ["0° impulse [N s]", 40.0, 50.0] in rows


def test_compare_does_not_mix_kinds_or_take_half_a_result(call: Call, tmp_path: Path) -> None:
    a = write(tmp_path / "a.json", envelope_of(40.0))
    runs = write(tmp_path / "b.json", {"runs": []})
    half = write(tmp_path / "c.json", {"directions": [{"dv": 1}]})
    strange = write(tmp_path / "d.json", [1, 2])
    for files in ((a, runs), (a, half), (a, strange), (runs, runs, "--plot", tmp_path / "x.png")):
        done = call("compare", *files)
        assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1), done.err


def test_compare_of_pushes_shows_every_figure(call: Call, tmp_path: Path) -> None:
    files = []
    for force in (40, 80):
        result = call(
            "push", "--force", force, "--duration", 0.1, "--direction", 0, "--at", 0.1, "--time", 0.4, "--json"
        )
        files.append(write(tmp_path / f"{force}.json", result.json))
    done = call("compare", *files)
    assert "impulse" in done.out and "+100.0 %" in done.out and "estimation.com_rms" in done.out


def test_a_process_ends_with_2_and_one_line_too() -> None:
    process = start("push", "--force", "nan", "--duration", "0.1", "--direction", "0", "--json")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, len(err.splitlines())) == (2, "", 1)


# ---- envelope ----


@pytest.mark.slow
def test_envelope_tells_what_the_contract_promises(call: Call, tmp_path: Path) -> None:
    plot = tmp_path / "envelope.png"
    coarse = ("--directions", 2, "--resolution", 80, "--strategy", "in-place", "--workers", 2)
    result = call("envelope", *coarse, "--plot", plot, "--json").json
    assert set(result) == {"robot", "mass", "strategy", "duration", "directions"}
    assert (result["robot"], result["strategy"], result["duration"]) == ("human", "in-place", 0.1)
    assert [row["direction"] for row in result["directions"]] == [0.0, 180.0]
    for row in result["directions"]:
        assert set(row) == {"direction", "impulse", "dv", "steps"} and row["steps"] == 0
        assert row["dv"] == pytest.approx(row["impulse"] / result["mass"])
    assert plot.read_bytes().startswith(b"\x89PNG")


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def wait_until(true: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return true()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")
@pytest.mark.parametrize("after", [0.0, 3.0], ids=["starting", "working"])
def test_interrupted_envelope_ends_with_130_and_leaves_no_worker(after: float) -> None:
    """The terminal sends the interrupt to the whole group."""
    process = start("envelope", "--workers", 2, "--json")
    assert wait_until(lambda: len(children(process.pid)) >= 3, 60)  # two workers and Python's resource tracker
    time.sleep(after)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err and "interrupted" in err.splitlines()[-1]
    assert wait_until(lambda: not group_lives(process.pid), 5)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")
def test_killed_envelope_takes_its_workers_along() -> None:
    process = start("envelope", "--workers", 2)
    assert wait_until(lambda: len(children(process.pid)) >= 3, 60)
    process.kill()
    process.wait()
    assert wait_until(lambda: not group_lives(process.pid), 20)
    process.communicate()
