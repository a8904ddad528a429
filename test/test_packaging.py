"""The package as others meet it: its metadata, and what pip and colcon install."""

import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from catkin_pkg.package import Package, parse_package

import humanoid_balance

ROOT = Path(__file__).resolve().parents[1]

# PyPI name -> rosdep key, where they differ by more than "python3-"; None where rosdep has no key.
ROSDEP_KEYS = {
    "cma": None,
    "daqp": None,
    "distributed": None,
    "dynamixel-sdk": "dynamixel_sdk",
    "example-robot-data": None,
    "ezc3d": None,
    "fast-simplification": None,
    "imageio-ffmpeg": None,
    "mcap": None,
    "mujoco": "python3-mujoco-pip",
    "pillow": "python3-pil",
    "pin": "pinocchio",
    "proxsuite": "proxsuite",
    "pycollada": None,
    "pyserial": "python3-serial",
    "pyyaml": "python3-yaml",
    "qpsolvers": "python3-qpsolvers-pip",
    "quadprog": "quadprog-pip",
    "ros-jazzy-rmw-fastrtps-cpp": None,  # comes with any ROS installation
    "rosbags": None,
    "ruff": "python3-ruff-pip",
    "selenium": None,
    "trimesh": None,
    "viser": None,
    "zstandard": None,
}

PRINT_LOCATION = "import humanoid_balance; print(humanoid_balance.__file__)"


def run(*command: str | Path, cwd: Path) -> str:
    """Standard output of a command, which must succeed."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{command} gave {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def files_below(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def check_share(prefix: Path) -> None:
    """`prefix` has all that ROS tools and the robot registry look for below share/."""
    share = prefix / "share" / "humanoid_balance"
    assert (prefix / "share/ament_index/resource_index/packages/humanoid_balance").is_file()
    assert (share / "package.xml").read_bytes() == (ROOT / "package.xml").read_bytes()
    assert files_below(share / "config") == files_below(ROOT / "config")
    assert files_below(share / "launch") == files_below(ROOT / "launch")


def requirement_names(metadata: str, extra: str | None) -> Iterator[str]:
    """PyPI names that the metadata of a wheel requires, for one extra or for none."""
    for name, rest in re.findall(r"^Requires-Dist: ([\w-]+)(.*)$", metadata, re.MULTILINE):
        found = re.search(r"extra == ['\"](\w+)['\"]", rest)
        if (found.group(1) if found else None) == extra:
            yield name.lower()


def rosdep_key(name: str) -> str | None:
    if name in ROSDEP_KEYS:
        return ROSDEP_KEYS[name]
    if name.startswith("ros-jazzy-"):
        return name.removeprefix("ros-jazzy-").replace("-", "_")
    return f"python3-{name}"


@pytest.fixture(scope="module")
def manifest() -> Package:
    return parse_package(str(ROOT / "package.xml"))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources alone, so that building leaves nothing behind in the repository."""
    copy = tmp_path_factory.mktemp("workspace") / "src" / "humanoid_balance"
    generated = shutil.ignore_patterns(".*", "build", "install", "log", "dist", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=generated)
    return copy


@pytest.fixture(scope="module")
def pip_prefix(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the package installed by pip; dependencies come from the environment of the test."""
    folder = tmp_path_factory.mktemp("pip")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder, source, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    prefix = folder / "venv"
    venv.create(prefix, symlinks=True)
    python = prefix / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, cwd=folder)
    site_packages = Path(sysconfig.get_path("purelib", vars={"base": str(prefix)}))
    (site_packages / "dependencies.pth").write_text("\n".join(filter(None, sys.path)))  # searched last
    return prefix


@pytest.fixture(scope="module")
def wheel_metadata(pip_prefix: Path) -> str:
    (metadata,) = pip_prefix.glob("lib/*/site-packages/humanoid_balance-*.dist-info/METADATA")
    return metadata.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def colcon_prefix(source: Path) -> Path:
    workspace = source.parents[1]
    colcon = Path(sys.executable).with_name("colcon")
    run(colcon, "--log-base", "log", "build", "--executor", "sequential", cwd=workspace)
    return workspace / "install" / "humanoid_balance"


def test_manifest_is_valid(manifest: Package) -> None:
    manifest.validate()
    assert manifest.package_format == 3
    assert manifest.get_build_type() == "ament_python"
    assert [str(licence) for licence in manifest.licenses] == ["Apache-2.0"]


def test_version_is_the_same_everywhere(manifest: Package, wheel_metadata: str) -> None:
    assert f"\nVersion: {manifest.version}\n" in wheel_metadata
    assert manifest.version == humanoid_balance.__version__
    assert f"\n## [{manifest.version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("extra", [None, "ros", "test"])
def test_every_requirement_is_in_the_manifest(manifest: Package, wheel_metadata: str, extra: str | None) -> None:
    keys = {key for key in map(rosdep_key, requirement_names(wheel_metadata, extra)) if key is not None}
    declared = manifest.test_depends if extra == "test" else manifest.exec_depends
    assert keys
    assert keys <= {dependency.name for dependency in declared}


def test_pip_installs_shared_files(pip_prefix: Path) -> None:
    check_share(pip_prefix)


def test_command_installed_by_pip_lists_robots(pip_prefix: Path, tmp_path: Path) -> None:
    where = run(pip_prefix / "bin" / "python", "-c", PRINT_LOCATION, cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(pip_prefix)
    assert "talos" in run(pip_prefix / "bin" / "humanoid-balance", "robots", cwd=tmp_path)


def test_colcon_installs_shared_files(colcon_prefix: Path) -> None:
    check_share(colcon_prefix)


def test_command_installed_by_colcon_lists_robots(colcon_prefix: Path, tmp_path: Path) -> None:
    setup = colcon_prefix.parent / "setup.bash"

    def run_after_setup(*command: str | Path) -> str:
        return run("bash", "-c", '. "$0" && exec "$@"', setup, *command, cwd=tmp_path)

    where = run_after_setup(sys.executable, "-c", PRINT_LOCATION)
    assert Path(where.strip()).is_relative_to(colcon_prefix)
    assert str(colcon_prefix) in run_after_setup("printenv", "AMENT_PREFIX_PATH").strip().split(":")
    assert "talos" in run_after_setup(colcon_prefix / "lib" / "humanoid_balance" / "humanoid-balance", "robots")


def test_push_launch_file_declares_its_arguments() -> None:
    pytest.importorskip("launch_ros", reason="launch comes with a ROS installation only")
    from launch.launch_description_sources import get_launch_description_from_python_launch_file

    description = get_launch_description_from_python_launch_file(str(ROOT / "launch" / "push.launch.py"))
    names = {argument.name for argument in description.get_launch_arguments()}
    assert names == {"robot", "force", "duration", "direction"}
