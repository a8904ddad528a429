// The robot in Gazebo: what its sensors read, what its motors and pushes do, and how it is held before it is let go.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include <gazebo/physics/ode/ode_inc.h>
#include <gazebo/physics/physics.hh>
#include <ignition/math/Pose3.hh>
#include <sdf/sdf.hh>

#include "board.hpp"

namespace humanoid_balance
{
using Vector = ignition::math::Vector3d;
using Pose = ignition::math::Pose3d;

struct Wrench
{
  Vector force, moment;
};

/// One sample of everything, taken after a physics step.
struct Sample
{
  std::vector<double> position, velocity, torque;  // [rad, rad/s, N m]
  Vector gyro, acceleration;                       // in the frame of the IMU
  std::array<Wrench, 2> sole;                      // of the ground on the foot, in and about the sole frame
  bool touching = false;                           // a part other than the feet touches the ground
};

/// A wrench on a link until a time, world axes.
struct Push
{
  uint64_t until;  // [us]
  Vector point;    // in the frame of the URDF link [m]
  Vector force;
  Vector moment;
};

class Body
{
public:
  Body(gazebo::physics::ModelPtr model, sdf::ElementPtr sdf);

  /// The joint table.
  std::vector<JointRow> Rows() const;
  /// Stand in the nominal posture, base included; nothing in the world moves.
  void Hold();
  void Release();
  bool released() const { return free; }
  /// Read all sensors; call once after every physics step.
  const Sample &Measure();
  const Sample &Measured() const { return sample; }
  /// Torques and pushes for the coming step; `now` [us].
  void Apply(const std::vector<double> &torque, uint64_t now);
  /// False if the robot has no such link.
  bool AddPush(const std::string &link, const Push &push);
  /// Payload of a Truth frame.
  Bytes Truth() const;

private:
  /// A place on a link of the model.
  struct Frame
  {
    gazebo::physics::LinkPtr link;
    Pose pose;  // in the frame of the link
  };
  struct Motor
  {
    JointRow row;
    gazebo::physics::JointPtr joint;
    dJointID rotor;                      // carries rotor inertia, damping and stops
    double lower, upper;                 // where the joint's stops are [rad]
    double armature, damping, friction;  // [kg m^2, N m s/rad, N m]
    double held_position, held_torque;
  };
  struct Sole
  {
    Frame frame;
    gazebo::physics::Collision *collision;
    Wrench held;
  };

  Frame ReadFrame(sdf::ElementPtr element) const;
  dJointID MakeRotor(const gazebo::physics::JointPtr &joint) const;
  void ReadContacts();
  void AddContact(Sole &sole, Wrench &sum, const Vector &force, const Vector &moment) const;
  void Drive(Motor &motor, double position, double velocity, double torque) const;

  gazebo::physics::ModelPtr model;
  gazebo::physics::WorldPtr world;
  std::vector<Motor> motors;
  std::map<std::string, Frame> frames;
  Frame imu;
  std::array<Sole, 2> soles;
  Pose held_base;
  std::map<std::string, Push> pushes;
  Sample sample;
  Vector imu_velocity;
  double step;  // of the physics [s]
  bool free = false;
};
}  // namespace humanoid_balance
