"""A robot's clip as a picture: bones of the robot in frames over the clip, seen from its side and from ahead."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pinocchio as pin

from humanoid_balance.motions.robot_clip import RobotClip
from humanoid_balance.robot.model import Robot
from humanoid_balance.types import Array

COLUMNS = 12  # frames shown
COLOURS = ("tab:blue", "tab:red", "0.3")  # left, right, middle


def save(clip: RobotClip, robot: Robot, file: Path) -> None:
    """Write a PNG: one row from the side, one from ahead; soles are drawn thick where they stand."""
    shown = np.linspace(0, clip.frames - 1, min(COLUMNS, clip.frames)).round().astype(int)
    figure, axes = plt.subplots(2, len(shown), figsize=(1.6 * len(shown), 4.6), sharey=True, squeeze=False)
    reach = 1.05 * robot.com_height
    for column, k in enumerate(shown):
        lines, soles = bones(robot, clip.q[k])
        x, y, _, _, _, z, w = clip.q[k, :7]
        heading = np.arctan2(2 * (w * z + clip.q[k, 3] * clip.q[k, 4]), 1 - 2 * (clip.q[k, 4] ** 2 + z**2))
        turn = np.array([[np.cos(heading), np.sin(heading)], [-np.sin(heading), np.cos(heading)]])
        for row, axis in enumerate((0, 1)):
            ax = axes[row, column]
            for points, colour in (*lines, *((s, COLOURS[side]) for side, s in enumerate(soles))):
                level = (points[:, :2] - (x, y)) @ turn.T
                ax.plot(level[:, axis], points[:, 2], color=colour, lw=1.6)
            for side, name in enumerate(("left_foot", "right_foot")):
                if name in clip.contacts and clip.contacts[name][k]:
                    level = (soles[side][:, :2] - (x, y)) @ turn.T
                    ax.plot(level[:, axis], soles[side][:, 2], color=COLOURS[side], lw=4)
            ax.axhline(0.0, color="0.7", lw=0.8, zorder=0)
            ax.set(
                xlim=(-reach, reach) if axis == 0 else (reach, -reach),
                ylim=(-0.1, 2.1 * robot.com_height),
                aspect="equal",
            )
            ax.set_xticks([])
        axes[0, column].set_title(f"{k / clip.rate:.2f} s", fontsize=8)
    axes[0, 0].set_ylabel("from its right [m]")
    axes[1, 0].set_ylabel("from behind [m]")
    figure.suptitle(f"{clip.name} on {clip.robot}", fontsize=10)
    figure.savefig(file, dpi=90, bbox_inches="tight")
    plt.close(figure)


def bones(robot: Robot, q: Array) -> tuple[list[tuple[Array, str]], list[Array]]:
    """Lines from joint to joint with their colours, and the closed outlines of the soles."""
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, q)
    pin.forwardKinematics(model, robot.data, robot.q_nominal)
    lines = []
    for k in range(2, model.njoints):
        aside = robot.data.oMi[k].translation[1]
        colour = COLOURS[2] if abs(aside) < 0.02 else COLOURS[0] if aside > 0 else COLOURS[1]
        ends = np.array([data.oMi[model.parents[k]].translation, data.oMi[k].translation])
        lines.append((ends, colour))
    soles = []
    for frame, corners in zip(robot.sole_frames, robot.soles, strict=True):
        place = data.oMf[frame]
        soles.append((np.vstack([corners, corners[:1]]) @ place.rotation.T) + place.translation)
    return lines, soles
