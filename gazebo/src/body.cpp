#include "body.hpp"

#include <cmath>
#include <stdexcept>

#include <gazebo/physics/ContactManager.hh>
#include <gazebo/physics/ode/ODEJoint.hh>
#include <gazebo/physics/ode/ODELink.hh>
#include <gazebo/physics/ode/ODEPhysics.hh>

namespace humanoid_balance
{
namespace
{
constexpr double kStopStiffness = 2e4;   // of a joint's stops [N m/rad]
constexpr double kStopDamping = 50.0;    // [N m s/rad]
constexpr double kFrictionSpeed = 0.05;  // below this speed dry friction grows with the speed [rad/s]

std::string Name(sdf::ElementPtr element) { return element->Get<std::string>("name"); }

Wrench operator+(const Wrench &a, const Wrench &b) { return {a.force + b.force, a.moment + b.moment}; }

void PutVector(Writer &out, const Vector &v) { out.Put(v.X()).Put(v.Y()).Put(v.Z()); }
}  // namespace

Body::Body(gazebo::physics::ModelPtr model_, sdf::ElementPtr sdf)
    : model(model_), world(model_->GetWorld()), step(world->Physics()->GetMaxStepSize())
{
  held_base = sdf->Get<Pose>("base");
  for (auto e = sdf->GetElement("joint"); e; e = e->GetNextElement("joint"))
  {
    Motor motor;
    const auto number = [&e](const char *key) { return e->Get<float>(key); };
    motor.row = {Name(e), number("lower"), number("upper"), number("velocity_limit"), number("torque_limit"),
                 number("temperature_max"), number("voltage_min"), number("voltage_max"), number("position_scale"),
                 number("torque_scale")};
    motor.joint = model->GetJoint(motor.row.name);
    if (!motor.joint || !boost::dynamic_pointer_cast<gazebo::physics::ODEJoint>(motor.joint))
      throw std::runtime_error("the model has no joint '" + motor.row.name + "' in the physics engine ODE");
    motor.lower = motor.joint->LowerLimit(0);
    motor.upper = motor.joint->UpperLimit(0);
    motor.rotor = MakeRotor(motor.joint);
    motor.armature = e->Get<double>("armature");
    motor.damping = e->Get<double>("damping");
    motor.friction = e->Get<double>("friction");
    motor.held_position = e->Get<double>("position");
    motor.held_torque = e->Get<double>("torque");
    motors.push_back(motor);
  }
  for (auto e = sdf->GetElement("frame"); e; e = e->GetNextElement("frame"))
    frames[Name(e)] = ReadFrame(e);
  imu = ReadFrame(sdf->GetElement("imu"));
  auto e = sdf->GetElement("sole");
  for (Sole &sole : soles)
  {
    sole.frame = ReadFrame(e);
    sole.collision = sole.frame.link->GetCollision(Name(e)).get();
    if (!sole.collision)
      throw std::runtime_error("link '" + sole.frame.link->GetName() + "' has no collision '" + Name(e) + "'");
    sole.held = {e->Get<Vector>("force"), e->Get<Vector>("moment")};
    e = e->GetNextElement("sole");
  }
  world->Physics()->GetContactManager()->SetNeverDropContacts(true);
  const size_t n = motors.size();
  sample.position.resize(n);
  sample.velocity.resize(n);
  sample.torque.resize(n);
}

// An angular motor beside each hinge. The hinge itself is left without stops: rows that have no limits are taken in by
// ODE's direct solver without trying any.
dJointID Body::MakeRotor(const gazebo::physics::JointPtr &joint) const
{
  const auto physics = boost::dynamic_pointer_cast<gazebo::physics::ODEPhysics>(world->Physics());
  const auto id = [](const gazebo::physics::LinkPtr &link)
  { return boost::dynamic_pointer_cast<gazebo::physics::ODELink>(link)->GetODEId(); };
  auto &hinge = static_cast<gazebo::physics::ODEJoint &>(*joint);
  hinge.SetParam(dParamLoStop, -dInfinity);
  hinge.SetParam(dParamHiStop, dInfinity);
  const dJointID rotor = dJointCreateAMotor(physics->GetWorldId(), nullptr);
  dJointAttach(rotor, id(joint->GetChild()), id(joint->GetParent()));
  dJointSetAMotorMode(rotor, dAMotorUser);
  dJointSetAMotorNumAxes(rotor, 1);
  const Vector axis = joint->GlobalAxis(0);
  dJointSetAMotorAxis(rotor, 0, 1, axis.X(), axis.Y(), axis.Z());
  return rotor;
}

Body::Frame Body::ReadFrame(sdf::ElementPtr element) const
{
  const auto name = element->Get<std::string>("link");
  auto link = model->GetLink(name);
  if (!link)
    throw std::runtime_error("the model has no link '" + name + "'");
  return {link, element->Get<Pose>("pose")};
}

std::vector<JointRow> Body::Rows() const
{
  std::vector<JointRow> rows;
  for (const Motor &motor : motors)
    rows.push_back(motor.row);
  return rows;
}

void Body::Hold()
{
  world->SetPhysicsEnabled(false);
  model->SetWorldPose(held_base);
  for (size_t i = 0; i < motors.size(); ++i)
  {
    motors[i].joint->SetPosition(0, motors[i].held_position);
    sample.torque[i] = motors[i].held_torque;
  }
  model->SetWorldTwist(Vector::Zero, Vector::Zero);
}

void Body::Release()
{
  free = true;
  world->SetPhysicsEnabled(true);
}

const Sample &Body::Measure()
{
  for (size_t i = 0; i < motors.size(); ++i)
  {
    sample.position[i] = free ? motors[i].joint->Position(0) : motors[i].held_position;
    sample.velocity[i] = free ? motors[i].joint->GetVelocity(0) : 0.0;
  }
  const auto rotation = (imu.link->WorldPose().Rot() * imu.pose.Rot());
  const Vector velocity = free ? imu.link->WorldLinearVel(imu.pose.Pos()) : Vector::Zero;
  sample.gyro = free ? rotation.RotateVectorReverse(imu.link->WorldAngularVel()) : Vector::Zero;
  sample.acceleration = rotation.RotateVectorReverse((velocity - imu_velocity) / step - world->Gravity());
  imu_velocity = velocity;
  ReadContacts();
  return sample;
}

void Body::ReadContacts()
{
  sample.touching = false;
  for (size_t side = 0; side < 2; ++side)
    sample.sole[side] = free ? Wrench{Vector::Zero, Vector::Zero} : soles[side].held;
  if (!free)
    return;
  const auto manager = world->Physics()->GetContactManager();
  for (unsigned int i = 0; i < manager->GetContactCount(); ++i)
  {
    const gazebo::physics::Contact *contact = manager->GetContact(i);
    const std::array<gazebo::physics::Collision *, 2> pair = {contact->collision1, contact->collision2};
    for (size_t k = 0; k < 2; ++k)
    {
      bool is_sole = false;
      for (size_t side = 0; side < 2; ++side)
      {
        if (pair[k] != soles[side].collision)
          continue;
        is_sole = true;
        for (int j = 0; j < contact->count; ++j)
        {
          const auto &wrench = contact->wrench[j];
          AddContact(soles[side], sample.sole[side], k == 0 ? wrench.body1Force : wrench.body2Force,
                     k == 0 ? wrench.body1Torque : wrench.body2Torque);
        }
      }
      const bool own = pair[k]->GetModel() == model;
      if (own && !is_sole && contact->count > 0 && pair[1 - k]->GetModel()->IsStatic())
        sample.touching = true;
    }
  }
}

void Body::AddContact(Sole &sole, Wrench &sum, const Vector &force, const Vector &moment) const
{
  // ODE gives the wrench on the link in the frame of the link, about its centre of mass.
  const Vector arm = sole.frame.link->GetInertial()->CoG() - sole.frame.pose.Pos();
  const auto &turn = sole.frame.pose.Rot();
  sum = sum + Wrench{turn.RotateVectorReverse(force), turn.RotateVectorReverse(moment + arm.Cross(force))};
}

void Body::Apply(const std::vector<double> &torque, uint64_t now)
{
  if (!free)
    return;
  for (size_t i = 0; i < motors.size(); ++i)
  {
    sample.torque[i] = torque[i];
    Drive(motors[i], sample.position[i], sample.velocity[i], torque[i]);
  }
  for (auto it = pushes.begin(); it != pushes.end();)
  {
    const auto &[name, push] = *it;
    if (now >= push.until)
    {
      it = pushes.erase(it);
      continue;
    }
    const Frame &frame = frames.at(name);
    const Vector point = frame.pose.Pos() + frame.pose.Rot().RotateVector(push.point);
    const Pose link = frame.link->WorldPose();
    frame.link->AddForceAtWorldPosition(push.force, link.Pos() + link.Rot().RotateVector(point));
    frame.link->AddTorque(push.moment);
    ++it;
  }
}

// Rotor inertia I, viscous damping b and the joint's stops, all in the one row of an angular motor, solved together with
// the bodies and therefore stable at any size:
//   torque = -I (v+ - v) / h - b v+ - k (q + h v+ - stop) - d v+    with v+ the speed after the step
// ODE's row is v+ = vel - cfm torque, so with D = I / h + b + d + k h: cfm = 1 / D, vel = (I v / h - k (q - stop)) / D.
void Body::Drive(Motor &motor, double position, double velocity, double torque) const
{
  double resistance = motor.armature / step + motor.damping;
  double memory = motor.armature / step * velocity;
  const double beyond = position < motor.lower ? position - motor.lower : std::max(0.0, position - motor.upper);
  if (beyond != 0.0)
  {
    resistance += kStopDamping + kStopStiffness * step;
    memory -= kStopStiffness * beyond;
  }
  dJointSetAMotorParam(motor.rotor, dParamFMax, resistance > 0.0 ? dInfinity : 0.0);
  if (resistance > 0.0)
  {
    dJointSetAMotorParam(motor.rotor, dParamCFM, 1.0 / resistance);
    dJointSetAMotorParam(motor.rotor, dParamVel, memory / resistance);
  }
  const double dry = motor.friction > 0.0 ? motor.friction * std::tanh(velocity / kFrictionSpeed) : 0.0;
  motor.joint->SetForce(0, torque - dry);
}

bool Body::AddPush(const std::string &link, const Push &push)
{
  if (frames.find(link) == frames.end())
    return false;
  pushes[link] = push;
  return true;
}

Bytes Body::Truth() const
{
  const auto base = model->GetLinks().front();  // the root link of the URDF
  Vector com, momentum;
  double mass = 0.0;
  for (const auto &link : model->GetLinks())
  {
    const double part = link->GetInertial()->Mass();
    mass += part;
    com += part * link->WorldCoGPose().Pos();
    momentum += part * (free ? link->WorldCoGLinearVel() : Vector::Zero);
  }
  const Pose pose = base->WorldPose();
  Writer out;
  out.Put<uint8_t>(sample.touching).Reserved(7);
  PutVector(out, pose.Pos());
  out.Put(pose.Rot().X()).Put(pose.Rot().Y()).Put(pose.Rot().Z()).Put(pose.Rot().W());
  PutVector(out, free ? base->WorldLinearVel() : Vector::Zero);
  PutVector(out, free ? base->WorldAngularVel() : Vector::Zero);
  PutVector(out, com / mass);
  PutVector(out, momentum / mass);
  return out.bytes;
}
}  // namespace humanoid_balance
