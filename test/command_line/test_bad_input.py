"""Bad input: one clear line that names what is wrong, exit code 2."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from command_line.calls import Call, start


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
    "link that is not there": push_with(push_link="tail"),
    "height in words": push_with(push_height="shoulder"),
    "height below the ground": push_with(push_height=-0.1),
    "height above its head": push_with(push_height=2.4),
    "envelope of a link that is not there": ("envelope", "--push-link", "tail"),
    "walk with a place but no push": ("walk", "--velocity", "0.3", "--push-height", "1"),
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
    "run that ends before its push does": push_with(time=1.05),
    "plot that is a text": push_with(plot="push.docx"),
    "video that ffmpeg does not make": push_with(video="push.gif"),
    "report without its ending": push_with(report="report"),
    "log that is no bag": push_with(log="push.csv"),
    "plot where nothing can be written": push_with(plot="/proc/push.png"),
    "log where nothing can be written": push_with(log="/proc/push.mcap"),
    "plot below a file": push_with(plot=f"{__file__}/plot.png"),
    "plot that is a folder": push_with(plot=Path(__file__).parent),
    "log below a file": push_with(log=f"{__file__}/push.mcap"),
    "video that is a folder": push_with(video=Path(__file__).parent),
    "speed that is not a number": ("walk", "--velocity", "nan"),
    "push of a walk in words": ("walk", "--push", "hard"),
    "push of a walk before time": ("walk", "--push", "60:0.1:0:-1"),
    "phase beyond the step": ("walk", "--push", "60:0.1:0:2", "--push-phase", "1.5"),
    "walk that ends before its push does": ("walk", "--time", "1", "--push", "60:0.1:0:2"),
    "walk of a robot that cannot": ("walk", "--robot", "r2d", "--planar", "--velocity", "0.3"),
    "walk without a script": ("walk", "--script", "nowhere.yaml"),
    "walk with a script that is no YAML": ("walk", "--script", __file__),
    "script and a speed": ("walk", "--script", __file__, "--velocity", "1"),
    "missing footsteps": ("walk", "--footsteps", "nowhere.yaml"),
    "footsteps that are no YAML": ("walk", "--footsteps", __file__),
    "footsteps and a speed": ("walk", "--footsteps", __file__, "--velocity", "1"),
    "footsteps and a script": ("walk", "--footsteps", __file__, "--script", __file__),
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
    "walking envelope without a speed": ("envelope", "--walking"),
    "speed of an envelope that stands": ("envelope", "--velocity", "1"),
    "phases of an envelope that stands": ("envelope", "--phases", "4"),
    "no phase": ("envelope", "--walking", "--velocity", "1", "--phases", "0"),
    "too many phases": ("envelope", "--walking", "--velocity", "1", "--phases", "1000"),
    "envelope beyond the step": ("envelope", "--walking", "--velocity", "1", "--push-phase", "2"),
    "phases and a phase": ("envelope", "--walking", "--velocity", "1", "--phases", "4", "--push-phase", "0.5"),
    "envelope at no speed": ("envelope", "--walking", "--velocity", "nan"),
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
    "robot without an action": ("robot",),
    "new robot from nothing": ("robot", "new", "nowhere.urdf"),
    "new robot from what is no URDF": ("robot", "new", __file__, "--output", "/tmp/never_written.yaml"),
    "new robot into a file of another kind": ("robot", "new", "nowhere.urdf", "--output", "r.urdf"),
    "check of an unknown robot": ("robot", "check", "r2d2"),
    "namespace of two words": ("up", "--namespace", "bad name!"),
    "namespace that begins with a digit": ("stop", "--namespace", "lab/2nd"),
    "video of another kind": ("walk", "--velocity", "0.3", "--video", "x.gif"),
    "plot of another kind": ("gait", "walk", "--plot", "x.docx"),
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
        ("walk of a robot that cannot", ("r2d", "left leg", "3 independent directions", "6")),
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


def test_a_process_ends_with_2_and_one_line_too() -> None:
    process = start("push", "--force", "nan", "--duration", "0.1", "--direction", "0", "--json")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, len(err.splitlines())) == (2, "", 1)
