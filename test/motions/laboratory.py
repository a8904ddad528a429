"""A gait laboratory for a simulated person: markers at 120 Hz with 1 mm of noise, two plates at 1 kHz with 2 N."""

from __future__ import annotations

from pathlib import Path

import ezc3d
import numpy as np
import pinocchio as pin

from humanoid_balance.motions.limbs_of_robot import RobotLimbs
from humanoid_balance.recording.run import Run
from humanoid_balance.robot.human import HEIGHT, LENGTH_FRACTION

RATE = 120.0
MARKER_NOISE, FORCE_NOISE = 1e-3, 2.0  # [m], [N]
HALF = 0.6  # of the side of a plate [m]


def markers(run: Run) -> tuple[list[str], np.ndarray]:
    """Labels and places (F, k, 3) of joint centres and ends of segments, which a laboratory finds from its markers."""
    robot, record = run.robot, run.record
    limbs = RobotLimbs(robot)
    data = robot.model.createData()
    frames = round(record["time"][-1] * RATE)
    rows = [round(k / RATE / run.dt) for k in range(frames)]
    joints = {
        f"{side}{label}": part[i]
        for label, part in (
            ("HIP", limbs.hips), ("KNE", limbs.knees), ("ANK", limbs.ankles), ("SHO", limbs.shoulders),
            ("ELB", limbs.elbows), ("WRI", limbs.wrists),
        )
        for i, side in enumerate("LR")
    }  # fmt: skip
    names = list(robot.model.names)
    joints |= {"WAIST": names.index("waist_yaw"), "NECK": names.index("neck_yaw")}
    ends = {"HEAD": ("neck_pitch", (0, 0, HEIGHT * LENGTH_FRACTION["head"]))}
    ends |= {f"{s}FIN": (f"{s.lower()}_wrist_pitch", (0, 0, -HEIGHT * LENGTH_FRACTION["hand"])) for s in "LR"}
    out = []
    for row in rows:
        pin.framesForwardKinematics(robot.model, data, record["true_q"][row])
        places = {label: data.oMi[joint].translation.copy() for label, joint in joints.items()}
        places |= {label: data.oMi[names.index(j)].act(np.array(place)) for label, (j, place) in ends.items()}
        for side, (frame, soles) in enumerate(zip(robot.sole_frames, robot.soles, strict=True)):
            sole = data.oMf[frame]
            places["LR"[side] + "HEE"] = sole.act(np.array([soles[:, 0].min(), 0, 0]))
            places["LR"[side] + "TOE"] = sole.act(np.array([soles[:, 0].max(), 0, 0]))
        out.append(list(places.values()))
    return list(places), np.array(out)


def write(run: Run, file: Path, seed: int = 0) -> None:
    """A C3D of a run: the left sole stands on the first plate, the right one on the second."""
    noise = np.random.default_rng(seed)
    labels, places = markers(run)
    places += MARKER_NOISE * noise.standard_normal(places.shape)
    c3d = ezc3d.c3d()
    point, analog, plate = (c3d["parameters"][key] for key in ("POINT", "ANALOG", "FORCE_PLATFORM"))
    point["UNITS"]["value"], point["RATE"]["value"], point["LABELS"]["value"] = ["mm"], [RATE], labels
    c3d["data"]["points"] = np.ones((4, len(labels), len(places)))
    c3d["data"]["points"][:3] = 1e3 * np.moveaxis(places, -1, 0).swapaxes(1, 2)
    per = 8  # samples of the plates per frame
    at = np.round(np.arange(per * len(places)) / (per * RATE) / run.dt).astype(int)
    force, moment = run.record["true_sole_force"][at], run.record["true_sole_moment"][at]
    force = force + FORCE_NOISE * noise.standard_normal(force.shape)
    centres = np.array([[0.0, HALF, 0.0], [0.0, -HALF, 0.0]])
    about = moment + np.cross(run.record["true_sole_position"][at] - centres, force)
    values = np.concatenate([np.concatenate([force[:, k], 1e3 * about[:, k]], axis=1) for k in range(2)], axis=1)
    analog["RATE"]["value"], analog["UNITS"]["value"] = [per * RATE], ["N"] * 3 + ["Nmm"] * 3 + ["N"] * 3 + ["Nmm"] * 3
    analog["LABELS"]["value"] = [f"{axis}{k}" for k in (1, 2) for axis in ("Fx", "Fy", "Fz", "Mx", "My", "Mz")]
    analog["SCALE"]["value"], analog["OFFSET"]["value"] = [1.0] * 12, [0] * 12
    c3d["data"]["analogs"] = values.T[None]
    corners = 1e3 * HALF * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    plate["USED"]["value"], plate["TYPE"]["value"], plate["ZERO"]["value"] = [2], [2, 2], [1, 0]
    plate["CORNERS"]["value"] = np.stack([(corners + 1e3 * c).T for c in centres], axis=-1)
    plate["ORIGIN"]["value"] = np.zeros((3, 2))
    plate["CHANNEL"]["value"] = np.arange(1, 13).reshape(2, 6).T
    c3d.write(str(file))
