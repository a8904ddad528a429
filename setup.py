"""Build of the ROS 2 package, by colcon and by plain pip alike."""

from pathlib import Path

from setuptools import find_packages, setup

NAME = "humanoid_balance"
NODES = (
    "balance_controller", "balance_stack", "hardware", "push_teleop", "recorder", "simulator", "state_estimator",
)  # fmt: skip


def shared_files(*folders: str) -> list[tuple[str, list[str]]]:
    """Files of `folders`, to be installed under share/humanoid_balance with their subfolders kept."""
    files = [path for folder in folders for path in sorted(Path(folder).rglob("*")) if path.is_file()]
    return [(f"share/{NAME}/{path.parent.as_posix()}", [path.as_posix()]) for path in files if path.suffix != ".pyc"]


setup(
    name=NAME,
    version="0.1.0",
    description="Balance for torque-controlled humanoids: estimate, decide, control, and stay on your feet",
    long_description=Path("README.md").read_text(encoding="utf-8") if Path("README.md").exists() else "",
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    maintainer="humanoid_balance maintainers",
    maintainer_email="maintainers@example.org",
    packages=find_packages(include=[f"{NAME}*"]),
    package_data={NAME: ["viewer/*.js"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        *shared_files("config", "gazebo", "launch"),
    ],
    zip_safe=False,
    python_requires=">=3.11",
    install_requires=[
        "daqp>=0.10,<0.11",
        "example-robot-data>=4.3,<7",
        "fast-simplification>=0.2,<0.3",
        "imageio>=2.38,<3",
        "imageio-ffmpeg>=0.7,<0.8",
        "matplotlib>=3.11,<4",
        "mcap>=1.6,<2",
        "mujoco>=3.3,<5",
        "numpy>=2.1,<3",
        "pillow>=12,<14",
        "pin>=3.4,<5",
        "proxsuite>=0.7.2,<0.9",
        "pycollada>=0.9,<0.10",
        "pyserial>=3.5,<4",
        "pyyaml>=6,<7",
        "scipy>=1.17,<2",
        "trimesh>=5.2,<6",
        "viser>=1.1,<1.2",
        "zstandard>=0.25,<1",
    ],
    extras_require={
        # rclpy and messages for a machine without a ROS installation.
        "ros": [
            "ros-jazzy-diagnostic-msgs==5.3.*",
            "ros-jazzy-geometry-msgs==5.3.*",
            "ros-jazzy-lifecycle-msgs==2.0.*",
            "ros-jazzy-nav-msgs==5.3.*",
            "ros-jazzy-rclpy==7.1.*",
            "ros-jazzy-rmw-fastrtps-cpp==8.4.*",
            "ros-jazzy-rosgraph-msgs==2.0.*",
            "ros-jazzy-sensor-msgs==5.3.*",
            "ros-jazzy-std-msgs==5.3.*",
            "ros-jazzy-std-srvs==5.3.*",
            "ros-jazzy-trajectory-msgs==5.3.*",
            "ros-jazzy-visualization-msgs==5.3.*",
        ],
        # experiments on a cluster
        "dask": ["distributed>=2026.8"],
        # motion measure
        "c3d": ["ezc3d>=1.5,<2"],
        # skill optimise
        "optimise": ["cma>=4.4,<5"],
        "test": [
            "cma>=4.4,<5",
            "colcon-common-extensions>=0.3,<0.4",
            "distributed>=2026.8",
            "dynamixel-sdk>=4.1,<5",
            "ezc3d>=1.5,<2",
            "hypothesis>=6.170,<7",
            "mypy>=2.4,<3",
            "pytest>=9,<10",
            "pytest-xdist>=3.8,<4",
            "qpsolvers>=4.13,<5",
            "quadprog>=0.1.14,<0.2",
            "rosbags>=0.11,<0.12",
            "ruff>=0.17,<0.18",
            "selenium>=4.51,<5",
            "setuptools>=70.1,<80",  # colcon installs through setup.py, which newer ones no longer allow
            "types-PyYAML>=6,<7",
        ],
    },
    entry_points={
        "console_scripts": [
            "humanoid-balance = humanoid_balance.cli:main",
            *(f"{node} = {NAME}.nodes.executables:{node}" for node in NODES),
        ]
    },
)
