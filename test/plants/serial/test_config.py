"""The wiring file: what it may say, and how it complains."""

from __future__ import annotations

from pathlib import Path

import pytest

from humanoid_balance.errors import ConfigError
from humanoid_balance.plants.serial.config import BusConfig, load
from humanoid_balance.robot import registry

GOOD = """
robot: g1
period: 0.002
torque: 0.5
buses:
  - {port: /dev/ttyUSB0, baud: 2000000, half_duplex: true}
  - port: socket://10.0.0.2:4000
  - port: /dev/ttyUSB1
    kind: dynamixel
    servos:
      left_elbow_joint: {identifier: 7, torque_constant: 1.78, current_limit: 2.0}
calibration:
  left_knee_joint: {offset: 0.1, sign: -1, ratio: 1.5}
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "wiring.yaml"
    file.write_text(text)
    return file


def test_a_good_file_is_read(tmp_path: Path) -> None:
    config = load(write(tmp_path, GOOD))
    config.check_joints(registry.load("g1"))
    assert (config.robot, config.period, config.torque) == ("g1", 0.002, 0.5)
    assert config.buses[0] == BusConfig("/dev/ttyUSB0", baud=2_000_000, half_duplex=True)
    assert config.buses[2].servos["left_elbow_joint"].identifier == 7
    knee = config.calibration["left_knee_joint"]
    assert (knee.offset, knee.sign, knee.ratio) == (0.1, -1, 1.5)


@pytest.mark.parametrize(
    "old, new, key",
    [
        ("period: 0.002", "period: 2", "period"),
        ("torque: 0.5", "torque: 1.5", "torque"),
        ("sign: -1", "sign: 0", "sign"),
        ("ratio: 1.5", "ratio: 0", "ratio"),
        ("kind: dynamixel", "kind: canbus", "kind"),
        ("kind: dynamixel", "kind: board", "servos"),
        ("identifier: 7", "identifier: 300", "identifier"),
        ("current_limit: 2.0", "current_limit: 50", "current_limit"),
        ("port: /dev/ttyUSB1", "prot: /dev/ttyUSB1", "port"),
        ("baud: 2000000", "baud: fast", "baud"),
        ("robot: g1", "robots: g1", "robots"),
    ],
)
def test_what_is_wrong_is_named_with_file_key_value_and_what_is_allowed(
    tmp_path: Path, old: str, new: str, key: str
) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, GOOD.replace(old, new)))
    assert key in caught.value.key and "wiring.yaml" in str(caught.value) and "allowed" in str(caught.value)


def test_unknown_joints_are_named(tmp_path: Path) -> None:
    config = load(write(tmp_path, GOOD.replace("left_knee_joint", "left_knie")))
    with pytest.raises(ConfigError, match="left_knie"):
        config.check_joints(registry.load("g1"))


def test_the_example_in_the_documentation_is_a_good_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "hardware.md").read_text()
    example = page.split("```yaml\n")[1].split("```")[0]
    config = load(write(tmp_path, example))
    config.check_joints(registry.load(config.robot or "human"))
