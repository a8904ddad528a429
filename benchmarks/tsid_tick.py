"""Time one tick of TSID (eiquadprog-fast) on the benchmark scene; runs in TSID's own venv. Prints one JSON line.

A tick is computeProblemData, solve, and reading torques and accelerations.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pinocchio as pin
import tsid.tsid_pywrap as tsid


def build(scene):
    robot = tsid.RobotWrapper(scene["urdf"], [], pin.JointModelFreeFlyer(), False)
    model, na = robot.model(), robot.na
    names = list(model.names)[2:]
    q = np.array(scene["base"] + [scene["joints"][name] for name in names])
    problem = tsid.InverseDynamicsFormulationAccForce("tsid", robot, False)
    problem.computeProblemData(0.0, q, np.zeros(model.nv))
    gains, keep = scene["gains"], []

    for frame, corners in zip(scene["soles"], scene["corners"], strict=True):
        contact = tsid.Contact6d(
            "contact_" + frame, robot, frame, np.array(corners).T, np.array([0.0, 0.0, 1.0]), scene["friction"],
            0.01 * scene["weight"], 1.5 * scene["weight"],
        )  # fmt: skip
        contact.setKp(np.zeros(6))
        contact.setKd(20.0 * np.ones(6))
        contact.setReference(robot.framePosition(problem.data(), model.getFrameId(frame)))
        problem.addRigidContact(contact, 1e-5, 1.0, 0)
        keep.append(contact)

    com = tsid.TaskComEquality("com", robot)
    com.setKp(gains["com"][0] * np.ones(3))
    com.setKd(gains["com"][1] * np.ones(3))
    problem.addMotionTask(com, 1.0, 1, 0.0)

    momentum = tsid.TaskAMEquality("momentum", robot)
    momentum.setKp(gains["momentum"] * np.ones(3))
    momentum.setKd(np.zeros(3))
    problem.addMotionTask(momentum, 2e-2, 1, 0.0)
    zero = tsid.TrajectorySample(3, 3)
    zero.value(np.zeros(3))
    zero.derivative(np.zeros(3))
    momentum.setReference(zero)

    torso = tsid.TaskSE3Equality("torso", robot, scene["torso"])
    torso.setKp(gains["torso"][0] * np.ones(6))
    torso.setKd(gains["torso"][1] * np.ones(6))
    torso.setMask(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]))
    pose = robot.framePosition(problem.data(), model.getFrameId(scene["torso"]))
    torso.setReference(tsid.TrajectorySE3Constant("torso", pose).computeNext())
    problem.addMotionTask(torso, 1e-1, 1, 0.0)

    posture = tsid.TaskJointPosture("posture", robot)
    posture.setKp(gains["posture"][0] * np.ones(na))
    posture.setKd(gains["posture"][1] * np.ones(na))
    problem.addMotionTask(posture, 1e-3, 1, 0.0)
    posture.setReference(tsid.TrajectoryEuclidianConstant("posture", q[7:].copy()).computeNext())

    torque = tsid.TaskActuationBounds("torque", robot)
    limit = np.array([scene["torque"][name] for name in names])
    torque.setBounds(-limit, limit)
    problem.addActuationTask(torque, 1.0, 0, 0.0)

    joints = tsid.TaskJointBounds("velocity", robot, scene["dt"])
    speed = np.array([scene["velocity"][name] for name in names])
    joints.setVelocityBounds(-speed, speed)
    problem.addMotionTask(joints, 1.0, 0, 0.0)

    solver = tsid.SolverHQuadProgFast("eiquadprog-fast")
    solver.resize(problem.nVar, problem.nEq, problem.nIn)
    keep += [momentum, torso, posture, torque, joints]
    return robot, problem, solver, com, q, keep


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scene", type=Path)
    parser.add_argument("--ticks", type=int, default=2000)
    parser.add_argument("--warmup", type=int, default=200)
    args = parser.parse_args()
    scene = json.loads(args.scene.read_text())
    dt = scene["dt"]
    robot, problem, solver, com, q, _keep = build(scene)
    model = robot.model()
    v = np.zeros(model.nv)
    start_com = robot.com(problem.data()).copy()
    sample = tsid.TrajectorySample(3)
    times = []
    for i in range(args.warmup + args.ticks):
        t = i * dt
        sway = scene["sway"] * np.sin(2 * np.pi * scene["frequency"] * t)
        sample.value(start_com + np.array([0.0, sway, 0.0]))
        com.setReference(sample)
        start = time.perf_counter_ns()
        hqp = problem.computeProblemData(t, q, v)
        solution = solver.solve(hqp)
        torque = problem.getActuatorForces(solution)
        a = problem.getAccelerations(solution)
        elapsed = time.perf_counter_ns() - start
        if solution.status != 0 or not np.isfinite(torque).all():
            raise RuntimeError(f"tick {i}: status {solution.status}")
        if i >= args.warmup:
            times.append(elapsed)
        q = pin.integrate(model, q, v * dt + a * (dt * dt / 2))
        v = v + a * dt
    us = np.array(times) / 1e3
    print(json.dumps({
        "name": "tsid", "robot": scene["robot"], "median_us": round(float(np.median(us)), 1),
        "p99_us": round(float(np.percentile(us, 99)), 1), "max_us": round(float(us.max()), 1), "ticks": len(us),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
