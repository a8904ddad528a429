"""The embedded simulator."""

import sys

import mujoco

from humanoid_balance.plants.mujoco.plant import MujocoPlant, PlantOptions

__all__ = ["MujocoPlant", "PlantOptions"]


def _warn(text: str) -> None:
    print(f"MuJoCo: {text}", file=sys.stderr)


mujoco.set_mju_user_warning(_warn)  # otherwise MuJoCo writes MUJOCO_LOG.TXT into the user's folder
