"""A simulated person in a laboratory: what markers and plates tell is what was."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from humanoid_balance import cli
from humanoid_balance.errors import InputError
from humanoid_balance.experiments import metrics
from humanoid_balance.experiments.simulation import simulate
from humanoid_balance.motions import c3d
from humanoid_balance.motions.measure import MeasuredPerson, marker_set, measure
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.recording.run import Run
from humanoid_balance.robot import registry
from humanoid_balance.stack import RunSettings

laboratory = pytest.importorskip("motions.laboratory", reason="ezc3d is not installed", exc_type=ImportError)

MARKERS = registry.config_folder() / "motions" / "markers.yaml"
FORCE, LASTS, BEGIN = 260.0, 0.1, 1.2  # [N, s, s]


@pytest.fixture(scope="module")
def run() -> Run:
    settings = RunSettings(robot="human:ranges=kudoh", policy="kudoh", strategy="in-place")
    return simulate(settings, [PushProfile(FORCE, LASTS, 0.0, BEGIN)], 2.6)


@pytest.fixture(scope="module")
def file(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("laboratory") / "pushed.c3d"
    laboratory.write(run, out)
    return out


@pytest.fixture(scope="module")
def person(file: Path) -> MeasuredPerson:
    return measure(c3d.load(file), marker_set(MARKERS))


def test_com_and_zmp_are_where_they_were(run: Run, person: MeasuredPerson) -> None:
    rows = np.round(person.time / run.dt).astype(int)
    assert np.linalg.norm(person.com - run.record["true_com"][rows], axis=1).max() < 0.005
    off = person.zmp - metrics.true_zmp(run.record)[rows, :2]
    assert np.sqrt(np.mean(off**2)) < 0.005
    assert person.mass == pytest.approx(run.robot.mass, rel=0.01)


def test_the_push_is_found_with_its_impulse(person: MeasuredPerson) -> None:
    (push,) = person.pushes
    assert push["at"] == pytest.approx(BEGIN, abs=0.03)
    assert push["impulse"] == pytest.approx([FORCE * LASTS, 0.0], abs=0.05 * FORCE * LASTS)


def test_k_cm_is_what_the_body_did(run: Run, person: MeasuredPerson) -> None:
    """From the simulator's own forces and CoM, from the end of the push to the turning point."""
    time, com = run.record["time"], run.record["true_com"][:, 0] - run.record["true_com"][500, 0]
    rows = np.flatnonzero(time > BEGIN + LASTS + 0.02)
    rows = rows[: int(np.argmax(com[rows])) + 1]
    acceleration = run.record["true_sole_force"].sum(axis=1)[rows, 0] / run.robot.mass
    true = float(com[rows] @ acceleration / (com[rows] @ com[rows]))
    assert person.pushes[0]["k_cm"] == pytest.approx(true, rel=0.05)


def test_measuring_tells_its_figures(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "series.csv"
    assert cli.main(["motion", "measure", str(file), "--json", "-o", str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["mass"] == pytest.approx(71.0, rel=0.01) and len(told["pushes"]) == 1
    assert len(out.read_text().splitlines()) == told["frames"] + 1


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3])
def test_a_damaged_file_is_refused_in_one_line(share: float, file: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.c3d"
    cut.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    with pytest.raises(InputError, match="cut") as error:
        measure(c3d.load(cut), marker_set(MARKERS))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("segments:\n  all: {from: [NOSE], to: [HEAD], mass: 1.0}\n", "no marker 'NOSE'"),
        ("segments:\n  all: {from: [NECK], to: [HEAD], mass: 0.5}\n", "sum to 0.5"),
    ],
)
def test_a_marker_set_that_does_not_fit_is_refused(text: str, told: str, file: Path, tmp_path: Path) -> None:
    markers = tmp_path / "markers.yaml"
    markers.write_text(text)
    with pytest.raises(InputError, match=told):
        measure(c3d.load(file), marker_set(markers))


@pytest.mark.slow
def test_damaged_headers_are_read_or_refused_in_one_line(file: Path, tmp_path: Path) -> None:
    """Some of these crash the library that reads them."""
    whole, refused, segments = file.read_bytes(), 0, marker_set(MARKERS)
    for seed in range(20):
        noise = np.random.default_rng(seed)
        data = bytearray(whole)
        for place in noise.integers(2, 512 * 12, size=noise.integers(1, 20)):
            data[place] = noise.integers(0, 256)
        damaged = tmp_path / "damaged.c3d"
        damaged.write_bytes(data)
        try:
            measure(c3d.load(damaged), segments)
        except InputError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 2
