"""The simulated plant: the same body as Pinocchio's, honest physics, sensors as specified."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from humanoid_balance.plants.mujoco.plant import MujocoPlant
from humanoid_balance.plants.pushes import PushProfile
from humanoid_balance.plants.sensing import Noise
from humanoid_balance.plants.world import PlantOptions, World
from humanoid_balance.robot import registry
from humanoid_balance.types import TorqueCommand

ROBOTS = ["human", "talos", "g1", "human:mass=90,height=1.81,shank=1.06", "talos:mass=99"]


def idle(robot, stamp=0.0):
    return TorqueCommand.damp(stamp, np.zeros(robot.n))


def put(plant, q, v):
    """Set a Pinocchio state into the simulator."""
    data = plant.data
    data.qpos[:3], data.qpos[3:7], data.qpos[plant._qpos] = q[:3], q[[6, 3, 4, 5]], q[7:]
    rotation = pin.Quaternion(q[3:7]).toRotationMatrix()
    data.qvel[:3], data.qvel[3:6], data.qvel[plant._qvel] = rotation @ v[:3], v[3:6], v[6:]
    mujoco.mj_forward(plant.model, data)


@pytest.mark.parametrize("spec", ROBOTS)
def test_mass_com_and_inertia_equal_pinocchios(spec):
    robot = registry.load(spec)
    plant = MujocoPlant(robot)
    rng = np.random.default_rng(1)
    data = robot.model.createData()
    for _ in range(5):
        q = pin.integrate(robot.model, robot.q_nominal, 0.3 * rng.standard_normal(robot.model.nv))
        put(plant, q, np.zeros(robot.model.nv))
        assert plant.model.body_mass.sum() == pytest.approx(robot.mass, rel=1e-6)
        pin.crba(robot.model, data, q)
        assert plant.data.subtree_com[1] == pytest.approx(pin.centerOfMass(robot.model, data, q), abs=1e-6)
        # The joint part of the mass matrix holds every link's inertia and the rotors'.
        dense = np.zeros((plant.model.nv, plant.model.nv))
        for column, unit in zip(dense, np.eye(plant.model.nv), strict=True):  # M is symmetric
            mujoco.mj_mulM(plant.model, plant.data, column, unit)
        theirs = dense[np.ix_(plant._qvel, plant._qvel)]
        ours = np.triu(data.M) + np.triu(data.M, 1).T
        assert theirs == pytest.approx(ours[6:, 6:], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_momentum_is_conserved_in_free_flight(name):
    robot = registry.load(name)
    plant = MujocoPlant(robot)
    rng = np.random.default_rng(2)
    q = robot.q_nominal.copy()
    q[2] += 5.0
    model, data = plant.model, plant.data
    model.opt.gravity[:] = 0.0
    model.dof_damping[:] = 0.0
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4  # the physics, without the error of a cheap integrator
    model.opt.timestep = 2e-4
    put(plant, q, np.concatenate([rng.standard_normal(6), 0.5 * rng.standard_normal(robot.n)]))
    start = plant.data.sensordata[-6:].copy()
    for _ in range(1000):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    moved = np.abs(data.qpos[plant._qpos] - q[7:]).max()
    assert moved > 1e-3
    scale = np.linalg.norm(start[:3]), np.linalg.norm(start[3:])
    assert np.linalg.norm(data.sensordata[-6:-3] - start[:3]) < 1e-6 * scale[0]
    assert np.linalg.norm(data.sensordata[-3:] - start[3:]) < 1e-6 * scale[1]


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_a_robot_without_torques_falls(name):
    robot = registry.load(name)
    plant = MujocoPlant(robot)
    for _ in range(3000):
        plant.read()
        plant.write(idle(robot))
        if plant.truth().fell:
            break
    assert plant.truth().fell


@pytest.mark.parametrize("name", ["human", "talos", "g1"])
def test_soles_and_imu_of_a_standing_robot_read_its_weight_and_gravity(name):
    robot = registry.load(name)
    plant = MujocoPlant(robot)
    frame = plant.read()
    assert frame.wrench[:, 2].sum() == pytest.approx(robot.weight, rel=0.02)
    assert np.linalg.norm(frame.acceleration) == pytest.approx(9.81, abs=0.2)
    assert np.abs(frame.gyro).max() < 1e-9
    assert frame.position == pytest.approx(robot.q_nominal[7:], abs=1e-9)


@pytest.mark.parametrize("name", ["human", "human:mass=90", "human:mass=150,height=1.6", "talos", "g1"])
def test_a_standing_robot_touches_nothing_but_the_ground(name):
    """Thighs as thick as their mass says would rub against each other."""
    plant = MujocoPlant(registry.load(name))
    ground = plant.model.geom("ground").id
    assert all(ground in plant.data.contact[k].geom for k in range(plant.data.ncon)) and plant.data.ncon


def test_a_run_is_the_same_for_the_same_seed_and_another_for_another():
    robot = registry.load("human")

    def frames(seed):
        plant = MujocoPlant(robot, PlantOptions(noise=1.0, seed=seed), [PushProfile(50.0, 0.01, start=0.005)])
        out = []
        for _ in range(30):
            out.append(plant.read())
            plant.write(idle(robot))
        return np.array([np.concatenate([f.position, f.velocity, f.gyro, f.wrench.ravel()]) for f in out])

    assert (frames(3) == frames(3)).all()
    assert (frames(3) != frames(4)).any()


def test_sensor_noise_has_the_specified_size():
    robot = registry.load("g1")
    plant = MujocoPlant(robot, PlantOptions(noise=1.0, seed=5))
    frames = [plant.read() for _ in range(4000)]
    noise = Noise()
    assert np.std([f.position for f in frames], axis=0).mean() == pytest.approx(noise.position, rel=0.05)
    assert np.std([f.velocity for f in frames], axis=0).mean() == pytest.approx(noise.velocity, rel=0.05)
    assert np.std([f.gyro for f in frames], axis=0).mean() == pytest.approx(noise.gyro, rel=0.05)
    assert np.std([f.acceleration for f in frames], axis=0).mean() == pytest.approx(noise.acceleration, rel=0.05)
    wrench = np.std([f.wrench for f in frames], axis=0)
    assert wrench[:, :3].mean() == pytest.approx(noise.force, rel=0.05)
    assert wrench[:, 3:].mean() == pytest.approx(noise.moment, rel=0.05)


def test_latencies_delay_sensors_and_torques():
    robot = registry.load("g1")
    plant = MujocoPlant(robot, PlantOptions(sensor_latency=0.003, actuator_latency=0.002))
    command = TorqueCommand(0.0, np.full(robot.n, 1.0), *(np.zeros(robot.n) for _ in range(4)))
    stamps, torques = [], []
    for _ in range(8):
        stamps.append(plant.read().stamp)
        plant.write(command)
        torques.append(plant.truth().torque[0])
    assert stamps[-1] == pytest.approx(0.007 - 0.003)
    assert torques[:3] == [0.0, 0.0, 1.0]


def test_motors_do_not_exceed_their_scaled_limits():
    robot = registry.load("human")
    plant = MujocoPlant(robot, PlantOptions(torque_scale=0.5))
    plant.write(TorqueCommand(0.0, np.full(robot.n, 1e4), *(np.zeros(robot.n) for _ in range(4))))
    assert plant.truth().torque == pytest.approx(0.5 * robot.torque_limit)


@pytest.mark.parametrize("start, duration", [(0.0, 0.05), (0.2, 0.1)])  # 0.2 + 0.1 is a little more than 0.3
def test_a_push_changes_momentum_by_its_impulse(start, duration):
    robot = registry.load("human")
    push = PushProfile(100.0, duration, direction=30.0, start=start)
    plant = MujocoPlant(robot, PlantOptions(), [push])
    plant.data.qpos[2] += 1.0  # in the air nothing else pushes sideways
    mujoco.mj_forward(plant.model, plant.data)
    for _ in range(310):
        plant.write(TorqueCommand.damp(0.0, robot.brake))  # limp limbs would whip around, and integrate badly
    gained = robot.mass * plant.truth().com_velocity[:2]
    assert gained == pytest.approx(push.impulse * push.axis[:2], rel=5e-3)


def test_payload_friction_and_slope_reach_the_simulation():
    robot = registry.load("human")
    plant = MujocoPlant(robot, PlantOptions(World(slope=10.0, friction=0.4, payload=5.0)))
    assert plant.model.body_mass.sum() == pytest.approx(robot.mass + 5.0, rel=1e-6)
    assert plant.model.geom("ground").friction[0] == 0.4
    assert plant.read().wrench[:, 2].sum() == pytest.approx((robot.mass) * 9.81 * np.cos(np.radians(10)), rel=0.1)


@pytest.mark.parametrize("spec", ["human", "talos", "g1"])
def test_fast_joints_accelerate_as_in_pinocchio(spec: str) -> None:
    """In the air, limp, every joint at up to 8 rad/s: forward dynamics with rotor inertia and linear damping."""
    robot = registry.load(spec)
    plant = MujocoPlant(robot)
    q = plant.robot.stance()
    q[2] += 1.0
    plant.reset(q)
    speed = np.random.default_rng(0).uniform(-8.0, 8.0, robot.n)
    plant.data.qvel[[plant.model.joint(name).dofadr[0] for name in robot.joint_names]] = speed
    plant.data.ctrl[:] = 0.0
    mujoco.mj_forward(plant.model, plant.data)
    v = np.concatenate([np.zeros(6), speed])
    wanted = pin.aba(robot.model, robot.model.createData(), q, v, np.concatenate([np.zeros(6), -robot.damping * speed]))
    got = plant.data.qacc[[plant.model.joint(name).dofadr[0] for name in robot.joint_names]]
    assert got == pytest.approx(wanted[6:], rel=1e-3, abs=0.5)


def test_the_accelerometer_integrates_to_the_velocity_however_stiff_the_drives_are() -> None:
    """Above stiff dampers on light feet MuJoCo's own accelerometer was wrong by 1 m/s within 0.1 s."""
    robot = registry.load("human:drives=impedance")
    plant = MujocoPlant(robot, PlantOptions(dt=0.002))
    imu, model, data = robot.imu_frame, robot.model, robot.model.createData()
    zero, ones = np.zeros(robot.n), np.ones(robot.n)

    def place() -> tuple[np.ndarray, np.ndarray]:
        q, speeds = plant.truth().q, plant.data.qvel
        turned = pin.Quaternion(q[3:7]).toRotationMatrix().T @ speeds[:3]
        pin.forwardKinematics(model, data, q, np.concatenate([turned, speeds[3:6], speeds[plant._qvel]]))
        pin.updateFramePlacement(model, data, imu)
        speed = pin.getFrameVelocity(model, data, imu, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED).linear
        return data.oMf[imu].rotation.copy(), speed.copy()

    _, before = place()
    gained = np.zeros(3)
    for k in range(50):
        target = robot.posture + (0.5 if k % 10 < 5 else -0.5)
        plant.write(TorqueCommand(0.0, zero, target, zero, 100.0 * ones, 20.0 * ones))
        rotation, after = place()
        gained += plant.dt * (rotation @ plant.read().acceleration - [0.0, 0.0, 9.81])
    assert np.linalg.norm(after - before) > 0.1
    assert gained == pytest.approx(after - before, abs=1e-3)
