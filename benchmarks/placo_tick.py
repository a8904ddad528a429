"""Time one tick of PlaCo's DynamicsSolver on the benchmark scene; runs in PlaCo's own venv. Prints one JSON line.

PlaCo has no angular momentum task: CoM, torso and posture only. A tick is update_kinematics, solve, and reading torques
and accelerations.
"""

import argparse
import json
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import placo


def without_geometry(urdf):
    root = ElementTree.parse(urdf).getroot()
    for link in root.iter("link"):
        for tag in ("visual", "collision"):
            for element in link.findall(tag):
                link.remove(element)
    return ElementTree.tostring(root, encoding="unicode")


def build(scene):
    folder = str(Path(scene["urdf"]).parent)
    robot = placo.RobotWrapper(folder, placo.Flags.ignore_collisions, without_geometry(scene["urdf"]))
    for name, angle in scene["joints"].items():
        robot.set_joint(name, angle)
        robot.set_torque_limit(name, scene["torque"][name])
        robot.set_velocity_limit(name, scene["velocity"][name])
    robot.update_kinematics()
    pose = robot.get_T_world_frame(scene["soles"][0])
    pose[2, 3] = 0.0
    robot.set_T_world_frame(scene["soles"][0], pose)
    robot.update_kinematics()
    solver = placo.DynamicsSolver(robot)
    solver.dt = scene["dt"]
    for frame, corners in zip(scene["soles"], scene["corners"], strict=True):
        task = solver.add_frame_task(frame, robot.get_T_world_frame(frame))
        task.configure(frame, "hard", 1.0, 1.0)
        contact = solver.add_planar_contact(task)
        size = np.ptp(np.array(corners), axis=0)
        contact.mu, contact.length, contact.width = scene["friction"], size[0], size[1]
        contact.unilateral = True
        contact.weight_forces = contact.weight_moments = 1e-5
    com = solver.add_com_task(robot.com_world())
    com.configure("com", "soft", 1.0)
    torso = solver.add_orientation_task(scene["torso"], robot.get_T_world_frame(scene["torso"])[:3, :3])
    torso.configure("torso", "soft", 1e-1)
    posture = solver.add_joints_task()
    posture.set_joints(scene["joints"])
    posture.configure("posture", "soft", 1e-3)
    for task, key in ((com, "com"), (torso, "torso"), (posture, "posture")):
        task.kp, task.kd = scene["gains"][key]
    solver.enable_torque_limits(True)
    solver.enable_velocity_limits(True)
    return robot, solver, com


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scene", type=Path)
    parser.add_argument("--ticks", type=int, default=2000)
    parser.add_argument("--warmup", type=int, default=200)
    args = parser.parse_args()
    scene = json.loads(args.scene.read_text())
    robot, solver, com = build(scene)
    start_com = robot.com_world().copy()
    times = []
    for i in range(args.warmup + args.ticks):
        t = i * scene["dt"]
        sway = scene["sway"] * np.sin(2 * np.pi * scene["frequency"] * t)
        com.target_world = start_com + np.array([0.0, sway, 0.0])
        start = time.perf_counter_ns()
        robot.update_kinematics()
        result = solver.solve(False)
        torque, a = result.tau, result.qdd
        elapsed = time.perf_counter_ns() - start
        if not result.success or not np.isfinite(torque).all():
            if len(times) < args.ticks / 2:
                raise RuntimeError(f"tick {i}: not solved")
            break  # "ticks" tells how far it came
        if i >= args.warmup:
            times.append(elapsed)
        robot.state.qdd = a
        robot.integrate(scene["dt"])
    us = np.array(times) / 1e3
    print(json.dumps({
        "name": "placo", "robot": scene["robot"], "median_us": round(float(np.median(us)), 1),
        "p99_us": round(float(np.percentile(us, 99)), 1), "max_us": round(float(us.max()), 1), "ticks": len(us),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
