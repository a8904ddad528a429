"""A bag of many topics counts what was lost, goes on in the next file, and is looked at before it is replayed."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from mcap.reader import make_reader

from humanoid_balance.errors import InputError
from humanoid_balance.recording.bag import Bag
from humanoid_balance.recording.bag_reading import BagFacts

PERIOD = 2_000_000  # [ns]


def sample(k: int, size: int = 200) -> bytes:
    """The head of a CDR message with stamp k times the period, and something that cannot be compressed much."""
    seconds, rest = divmod(k * PERIOD, 10**9)
    return b"\0\1\0\0" + struct.pack("<iI", seconds, rest) + bytes((k * j * j) % 251 for j in range(size))


def record(path: Path, numbers: list[int], numbered: bool = True, limit: int = 0, keep: int = 0) -> Bag:
    """Joint samples with these numbers arrived, and a mode before them."""
    bag = Bag(path, {"robot": "human", "namespace": "lab"}, limit, keep)
    joints = bag.stream("/lab/joint_states", "sensor_msgs/JointState", "# joints", latched=False, counted=True)
    mode = bag.stream("/lab/balance/mode", "std_msgs/String", "string data", latched=True, counted=True)
    mode(b"stable", 1, 3 if numbered else None)
    for arrived, number in enumerate(numbers, 2):
        joints(sample(number), arrived, number if numbered else None)
        if arrived % 100 == 0:
            bag.flush()
    bag.close()
    return bag


def about(path: Path) -> dict[str, str]:
    with path.open("rb") as stream:
        (metadata,) = make_reader(stream).iter_metadata()
    return dict(metadata.metadata)


def test_a_complete_bag_says_that_nothing_was_lost(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    record(path, list(range(1, 501)))
    assert about(path)["lost"] == "0" and about(path)["robot"] == "human"
    facts = BagFacts([path], None)
    assert facts.prefix == "/lab/" and facts.robot == "human" and facts.rate == 500.0
    assert facts.gaps(1 / facts.rate).missing == 0


def test_lost_messages_are_counted_and_stand_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    numbers = [k for k in range(6, 500) if k % 10 and not 100 <= k < 120]
    bag = record(path, numbers)
    lost = 494 - len(numbers)
    assert bag.lost == {"/lab/joint_states": lost}
    told = about(path)
    assert told["lost /lab/joint_states"] == told["lost"] == str(lost)
    assert told["before /lab/joint_states"] == "5"
    gaps = BagFacts([path], None).gaps(0.002)
    assert gaps.missing == lost and gaps.before == 5
    assert gaps.longest == pytest.approx(22 * 0.002) and gaps.at == pytest.approx(0.198)  # 99 to 121


def test_a_publisher_that_starts_anew_has_lost_nothing(tmp_path: Path) -> None:
    assert record(tmp_path / "run.mcap", [1, 2, 3, 1, 2]).lost == {}


def test_half_of_the_frames_lost_do_not_halve_the_rate(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    record(path, list(range(1, 1000, 2)))
    assert BagFacts([path], None).rate == 500.0


def test_a_bag_without_numbers_is_judged_by_its_stamps(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    record(path, [k for k in range(1, 500) if k not in (50, 51, 300)], numbered=False)
    facts = BagFacts([path], None)
    assert facts.rate == 500.0 and facts.gaps(0.002).missing == 3


def test_full_files_are_followed_by_the_next_and_the_oldest_go(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    bag = record(path, list(range(1, 2001)), limit=20_000)
    names = [file.name for file in bag.files]
    assert len(names) > 3 and names[:2] == ["run.mcap", "run_2.mcap"]
    numbers, modes = [], []
    for file in bag.files:
        with file.open("rb") as stream:
            found = [(c.topic, m) for _, c, m in make_reader(stream).iter_messages()]
        numbers += [m.sequence for topic, m in found if topic == "/lab/joint_states"]
        modes.append(next(m.data for topic, m in found if topic == "/lab/balance/mode"))
    assert numbers == list(range(1, 2001))  # together they are the recording
    assert set(modes) == {b"stable"}  # and each knows the mode
    assert BagFacts(bag.files, "lab").gaps(0.002).missing == 0

    few = record(tmp_path / "few.mcap", list(range(1, 2001)), limit=20_000, keep=2)
    assert sorted(tmp_path.glob("few*.mcap")) == sorted(few.files) and len(few.files) == 2


def test_a_wrong_namespace_is_named_with_the_right_one(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    record(path, [1, 2, 3])
    with pytest.raises(InputError, match=r"--namespace 'left'.*/left/joint_states; allowed: 'lab'"):
        BagFacts([path], "left")
