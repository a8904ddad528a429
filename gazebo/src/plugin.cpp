// A model plugin that makes a robot in Gazebo a motor board of docs/protocol.md on a TCP port of the loopback.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <gazebo/common/Events.hh>
#include <gazebo/common/Plugin.hh>

#include "board.hpp"
#include "body.hpp"
#include "port.hpp"

namespace humanoid_balance
{
namespace
{
using Clock = std::chrono::steady_clock;

constexpr uint64_t kIdlePeriod = 10000;              // between samples while there is no configuration [us]
constexpr int kRepeatSample = 100;                   // lock-step: after this time without an answer [ms]
constexpr auto kPatience = std::chrono::seconds(10);  // lock-step: then the host counts as gone
constexpr uint8_t kSensors = 7;                      // IMU, left and right foot
constexpr int16_t kNoTemperature = -32768;
constexpr uint16_t kNoVoltage = 65535;
}  // namespace

class MotorBoard : public gazebo::ModelPlugin
{
public:
  void Load(gazebo::physics::ModelPtr model, sdf::ElementPtr sdf) override
  {
    try
    {
      world = model->GetWorld();
      body = std::make_unique<Body>(model, sdf);
      board = std::make_unique<Board>(body->Rows(), sdf->Get<double>("strength"));
      port = std::make_unique<Port>(sdf->Get<int>("port"));
    }
    catch (const std::exception &error)
    {
      std::fprintf(stderr, "humanoid_balance: %s\n", error.what());
      std::fflush(stderr);
      std::_Exit(1);  // a world without its robot is of no use, and nothing is to be saved
    }
    name = sdf->Get<std::string>("board");
    step = std::lround(world->Physics()->GetMaxStepSize() * 1e6);
    pace = 1e6 / step;
    on_stop = gazebo::event::Events::ConnectSigInt([this] { ending = true; });
    on_begin = gazebo::event::Events::ConnectWorldUpdateBegin([this](const auto &) { Look(); });
    on_physics = gazebo::event::Events::ConnectBeforePhysicsUpdate([this](const auto &) { Act(); });
    on_end = gazebo::event::Events::ConnectWorldUpdateEnd([this] { Look(); });
    std::printf("humanoid_balance: board '%s' listens on port %u\n", name.c_str(), port->number());
    std::fflush(stdout);
  }

private:
  /// After every physics step, or before the first: take a sample and tell the host, so that it thinks while Gazebo does
  /// all that comes between two steps of the physics.
  void Look()
  {
    if (looked)
      return;
    looked = true;
    if (now == 0)
      body->Hold();
    const Sample &sample = body->Measure();
    board->Tick(now, sample.position, sample.velocity);
    due = lockstep && now >= next_sample;
    if (due)
      SendSample();
  }

  /// Before every physics step: talk to the host, drive the motors.
  void Act()
  {
    world->Physics()->SetRealTimeUpdateRate(lockstep ? 0.0 : pace);
    if (!lockstep)
      RunFree();
    else if (due)
      AwaitAnswer();
    if (!body->released() && board->Following())
      body->Release();
    const Sample &sample = body->Measured();
    if (body->released())
      body->Apply(board->Torque(sample.position, sample.velocity), now);
    now += step;
    looked = false;
  }

  uint64_t Period() const { return board->configuration() ? board->configuration()->period : kIdlePeriod; }

  void RunFree()
  {
    const bool commanded = Listen(0, false);
    if (!port->connected())
      return;
    if (Period() == 0 ? commanded : now >= next_sample)
    {
      SendSample();
      next_sample = now + std::max<uint64_t>(Period(), step);
    }
  }

  /// Lock-step: wait for the command that answers the sample.
  void AwaitAnswer()
  {
    const auto begin = Clock::now();
    auto sent = begin;
    while (!ending && lockstep)
    {
      if (Listen(kRepeatSample, true))
        break;
      const auto time = Clock::now();
      if (time - begin >= kPatience)
      {
        port->Close();
        HostLeft();
      }
      else if (time - sent >= std::chrono::milliseconds(kRepeatSample))
      {
        SendSample();
        sent = time;
      }
    }
    next_sample = now + std::max<uint64_t>(Period(), step);
  }

  /// Handle what the host has sent; true if a command was among it that counts.
  bool Listen(int milliseconds, bool answering)
  {
    const bool was = port->connected();
    const Bytes received = port->Receive(milliseconds);
    bool commanded = false;
    for (const Packet &packet : decoder.Feed(received.data(), received.size()))
      commanded = Handle(packet, answering) || commanded;
    if (was && !port->connected())
      HostLeft();
    else if (!was && port->connected())
    {
      decoder = Decoder();
      sender = Sender();
      next_sample = now;
    }
    return commanded;
  }

  bool Handle(const Packet &packet, bool answering)
  {
    switch (packet.type)
    {
      case kIdentify:
        if (packet.payload.empty())
          Introduce();
        return false;
      case kPush:
        TakePush(packet.payload);
        return false;
      case kCommand:
        if (answering && Answers(packet.payload) != now)
          return false;
        board->Receive(packet, now);
        return true;
      default:
        board->Receive(packet, now);
        if (packet.type == kConfigure && (board->mode() == Mode::kDisarmed || board->mode() == Mode::kUnconfigured))
          lockstep = board->configuration() && board->configuration()->lockstep;
        return false;
    }
  }

  static uint64_t Answers(const Bytes &payload)
  {
    if (payload.size() < 12)
      return ~uint64_t(0);
    Reader in(payload);
    in.Skip(4);
    return in.Take<uint64_t>();
  }

  void HostLeft()
  {
    board->PortClosed(now);
    lockstep = false;  // until the next host has said what it wants
    decoder = Decoder();
  }

  void Introduce()
  {
    Writer identity;
    identity.Put<uint8_t>(board->joints().size()).Put(kSensors).Put<uint8_t>(1).Reserved(1);
    identity.Put(board->table()).Put<uint32_t>(step).PutName(name).Reserved(20);
    Bytes out;
    sender.Append(out, kIdentity, now, identity.bytes);
    for (size_t i = 0; i < board->joints().size(); ++i)
      sender.Append(out, kJoint, now, board->JointPayload(i));
    port->Send(out);
  }

  void TakePush(const Bytes &payload)
  {
    if (payload.size() != 76)
      return;
    Reader in(payload);
    Push push;
    push.until = in.Take<uint64_t>();
    const std::string link = in.TakeName();
    for (Vector *v : {&push.point, &push.force, &push.moment})
      for (int axis = 0; axis < 3; ++axis)
        (*v)[axis] = in.Take<float>();
    if (push.point.IsFinite() && push.force.IsFinite() && push.moment.IsFinite())
      body->AddPush(link, push);
  }

  /// One sample of everything, the State last.
  void SendSample()
  {
    const Sample &sample = body->Measured();
    Bytes out;
    for (const Fault &fault : board->TakeFaults(now))
    {
      Writer payload;
      payload.Put(fault.code).Put(fault.joint).Reserved(1).Put(fault.value).Put(fault.limit);
      sender.Append(out, kFault, now, payload.bytes);
    }
    Writer imu;
    PutFloats(imu, sample.gyro);
    PutFloats(imu, sample.acceleration);
    sender.Append(out, kImu, now, imu.bytes);
    for (uint8_t side = 0; side < 2; ++side)
    {
      Writer foot;
      foot.Put(side).Reserved(3);
      PutFloats(foot, sample.sole[side].force);
      PutFloats(foot, sample.sole[side].moment);
      sender.Append(out, kFootWrench, now, foot.bytes);
    }
    sender.Append(out, kTruth, now, body->Truth());
    Writer state;
    state.bytes = board->StateHead(now);
    for (const auto *values : {&sample.position, &sample.velocity, &sample.torque})
      for (double value : *values)
        state.Put<float>(value);
    for (size_t i = 0; i < sample.position.size(); ++i)
      state.Put(kNoTemperature);
    for (size_t i = 0; i < sample.position.size(); ++i)
      state.Put(kNoVoltage);
    state.PutAll(board->joint_faults());
    sender.Append(out, kState, now, state.bytes);
    port->Send(out);
  }

  static void PutFloats(Writer &out, const Vector &v) { out.Put<float>(v.X()).Put<float>(v.Y()).Put<float>(v.Z()); }

  gazebo::physics::WorldPtr world;
  std::unique_ptr<Body> body;
  std::unique_ptr<Board> board;
  std::unique_ptr<Port> port;
  Decoder decoder;
  Sender sender;
  std::string name;
  uint64_t step = 0;         // of the physics [us]
  uint64_t now = 0;          // the board's clock: simulated time of the newest sample [us]
  uint64_t next_sample = 0;  // when the next one is due [us]
  bool lockstep = false;     // the world waits for commands
  bool looked = false;       // the sample of this step has been taken
  bool due = false;          // and sent; its answer is waited for
  double pace = 0.0;         // steps a second of wall time when running free
  std::atomic<bool> ending{false};
  gazebo::event::ConnectionPtr on_begin, on_physics, on_end, on_stop;
};

GZ_REGISTER_MODEL_PLUGIN(MotorBoard)
}  // namespace humanoid_balance
