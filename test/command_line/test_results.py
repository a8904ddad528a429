"""What commands print and write, as scripts meet it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line.calls import PUSH, SHORT, Call, start
from mcap.reader import make_reader

CONTRACT = {
    "robot", "mass", "fell", "steps", "modes", "impulse", "dv", "recovery_time", "com_error_final", "feet_slip_max",
    "zmp_margin_min", "torque_ratio_max", "torque_roughness", "push_link", "push_height", "estimation", "tick", "rtf",
}  # fmt: skip
ESTIMATION = {
    "com_rms", "com_velocity_rms", "orientation_rms_deg", "zmp_rms", "push_direction_error_deg", "push_impulse_ratio",
    "push_delay", "landing_delay_max", "lift_off_delay_max", "contact_chatter",
}  # fmt: skip
TICK = {"median_us", "p99_us", "max_us", "missed"}
BEYOND = {"torso_lean_max_deg", "pushes_reported", "p999_us", "refused"}  # told, but not promised


# ---- robots ----


def test_robots_lists_the_known_ones(call: Call) -> None:
    robots = call("robots", "--json").json["robots"]
    assert {"human", "talos", "g1"} <= {r["name"] for r in robots}
    for robot in robots:
        assert set(robot) == {"name", "joints", "mass", "com_height"}
        assert robot["joints"] >= 6 and robot["mass"] > 10.0 and 0.3 < robot["com_height"] < 1.5


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


def test_a_reader_that_goes_away_is_no_reason_to_complain() -> None:
    process = start("robots")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(60) == 141


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
    counts = {c.topic: summary.statistics.channel_message_counts.get(i, 0) for i, c in summary.channels.items()}
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


# ---- walk ----

WALK = {
    "robot", "mass", "fell", "time", "distance", "velocity", "velocity_error", "heading_error_deg", "steps",
    "step_time",
    "step_length", "slip_max", "cost_of_transport", "pushes", "steps_to_recover", "torque_ratio_max", "estimation",
    "torque_roughness", "modes", "tick", "rtf",
}  # fmt: skip


def test_walk_tells_what_the_contract_promises(call: Call, tmp_path: Path) -> None:
    script = tmp_path / "there.yaml"
    script.write_text("commands:\n  - {at: 0.3, velocity: [0.3, 0.0, 0.0]}\n  - {at: 1.5, velocity: [0, 0, 0]}\n")
    result = call("walk", "--robot", "g1", "--script", script, "--time", "2", "--push", "20:0.1:90:1", "--json").json
    assert set(result) - BEYOND == WALK
    assert set(result["estimation"]) == ESTIMATION | {"odometry_drift", "yaw_drift_deg"}
    assert len(result["velocity"]) == 3
    assert result["modes"][1][1] == "walking"
    (push,) = result["pushes"]
    assert set(push) == {"at", "phase", "direction", "impulse", "dv", "survived", "link", "height"}
    assert push["impulse"] == pytest.approx(2.0) and push["survived"]


def test_a_wrong_line_of_a_script_is_named(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "script.yaml"
    file.write_text("commands: [{at: 1, velocity: [0.1, 0.2]}]\n")
    done = call("walk", "--script", file)
    assert done.code == 2 and len(done.err.splitlines()) == 1
    assert str(file) in done.err and "[forward, left, turn]" in done.err
