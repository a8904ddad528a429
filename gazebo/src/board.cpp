#include "board.hpp"

#include <algorithm>
#include <cmath>

namespace humanoid_balance
{
namespace
{
constexpr uint64_t kLapse = 20000;      // without a valid command the board brakes [us]
constexpr uint64_t kPowerOff = 500000;  // braking ends [us]
constexpr uint64_t kRepeat = 100000;    // lasting faults are told again [us]
constexpr double kSpeedMargin = 1.2;    // over the velocity limit that stops the board
constexpr uint16_t kFirstBoardCode = 16;
constexpr uint16_t kStoppingJointFaults = 1u << kOverSpeed;

constexpr uint16_t Bit(uint16_t code) { return 1u << (code - kFirstBoardCode); }

/// Joint vectors that follow a command of this mode; nothing for what no host may command.
std::optional<size_t> Vectors(uint8_t mode)
{
  switch (static_cast<Mode>(mode))
  {
    case Mode::kDisarmed:
    case Mode::kDamping: return 0;
    case Mode::kTorque: return 1;
    case Mode::kImpedance: return 5;
    default: return std::nullopt;
  }
}

/// The mode after a valid command, or nothing where it is refused.
std::optional<Mode> Next(Mode present, Mode wanted)
{
  switch (present)
  {
    case Mode::kUnconfigured:
    case Mode::kStopped: return wanted == Mode::kDisarmed ? std::optional(present) : std::nullopt;
    case Mode::kDisarmed:
      return wanted == Mode::kDisarmed || wanted == Mode::kDamping ? std::optional(wanted) : std::nullopt;
    case Mode::kDamping:
    case Mode::kTorque:
    case Mode::kImpedance: return wanted;
    case Mode::kLapsed:
      if (wanted == Mode::kDisarmed)
        return wanted;
      return wanted == Mode::kDamping ? std::optional(Mode::kLapsed) : std::nullopt;
    case Mode::kOff: return wanted == Mode::kDisarmed ? std::optional(wanted) : std::nullopt;
    case Mode::kStopping:
      return wanted == Mode::kDisarmed || wanted == Mode::kDamping ? std::optional(present) : std::nullopt;
  }
  return std::nullopt;
}
}  // namespace

Board::Board(std::vector<JointRow> rows_, double strength_)
    : rows(std::move(rows_)), strength(strength_), joint_bits(rows.size()), speed(rows.size()), angle(rows.size())
{
  Bytes all;
  for (size_t i = 0; i < rows.size(); ++i)
  {
    const Bytes payload = JointPayload(i);
    all.insert(all.end(), payload.begin(), payload.end());
  }
  table_hash = Crc32(all.data(), all.size());
}

Bytes Board::JointPayload(size_t index) const
{
  const JointRow &row = rows[index];
  Writer out;
  out.Put<uint8_t>(index).Put<uint8_t>(rows.size()).Put<uint8_t>(1).Reserved(1).PutName(row.name);
  out.Put(row.lower).Put(row.upper).Put(row.velocity_limit).Put(row.torque_limit);
  out.Put(row.temperature_max).Put(row.voltage_min).Put(row.voltage_max);
  out.Put(row.position_scale).Put(row.torque_scale);
  return out.bytes;
}

void Board::Receive(const Packet &packet, uint64_t now)
{
  clock = now;
  switch (packet.type)
  {
    case kEmergencyStop:
      if (packet.payload.empty())
        Stop(kStopFrame, now);
      break;
    case kReset:
      if (packet.payload.empty() && present == Mode::kStopped && !blocked)
      {
        if (latched & Bit(kPortClosed))
          configured.reset();  // it was needed to brake until now
        present = Mode::kOff;
        latched = 0;
      }
      break;
    case kConfigure:
      Configure(packet);
      break;
    case kCommand:
      Command(packet, now);
      break;
    default:
      break;
  }
}

void Board::Configure(const Packet &packet)
{
  if (packet.payload.size() < 12)
    return;
  Reader in(packet.payload);
  Configuration wanted;
  wanted.checksum = Crc32(packet.payload.data(), packet.payload.size());
  const auto hash = in.Take<uint32_t>();
  wanted.period = in.Take<uint32_t>();
  const auto lockstep = in.Take<uint8_t>();
  wanted.lockstep = lockstep == 1;
  const auto n = in.Take<uint8_t>();
  in.Skip(2);
  if (packet.payload.size() != 12 + 8 * size_t(n) || lockstep > 1)
    return;
  if (present != Mode::kUnconfigured && present != Mode::kDisarmed)
    return Refuse(kRefused, kWholeBoard, kConfigure, double(present));
  present = Mode::kUnconfigured;
  configured.reset();
  if (hash != table_hash || n != rows.size())
    return Refuse(kWrongTable, kWholeBoard, n, rows.size());
  wanted.torque_limit = in.TakeFloats(n);
  wanted.damping = in.TakeFloats(n);
  for (size_t i = 0; i < n; ++i)
  {
    if (!(wanted.torque_limit[i] >= 0 && wanted.torque_limit[i] <= rows[i].torque_limit))
      return Refuse(kBadConfiguration, i, wanted.torque_limit[i], rows[i].torque_limit);
    if (!(wanted.damping[i] >= 0 && std::isfinite(wanted.damping[i])))
      return Refuse(kBadConfiguration, i, wanted.damping[i], 0.0);
  }
  configured = wanted;
  present = Mode::kDisarmed;
}

void Board::Command(const Packet &packet, uint64_t now)
{
  if (packet.payload.size() < 12)
    return;
  Reader in(packet.payload);
  const auto number = in.Take<uint8_t>();
  const auto n = in.Take<uint8_t>();
  in.Skip(2);
  const auto answers = in.Take<uint64_t>();
  const auto count = Vectors(number);
  if (!count || packet.payload.size() != 12 + 4 * *count * n)
    return;
  const auto values = in.TakeFloats(*count * n);
  const bool finite = std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  if (n != rows.size() || !finite)
    return Refuse(kBadCommand, kWholeBoard, n, rows.size());
  if (answers > now || now - answers > kLapse)
    return Refuse(kStaleCommand, kWholeBoard, (double(now) - double(answers)) * 1e-6, kLapse * 1e-6);
  fed = now;
  echo = packet.stamp;
  auto next = Next(present, static_cast<Mode>(number));
  const bool arming = present == Mode::kDisarmed && next == Mode::kDamping;
  if (!next || (arming && blocked))
    return Refuse(kRefused, kWholeBoard, kCommand, double(present));
  if (arming)
    latched = 0;
  if (*next == Mode::kDisarmed && !configured)
    next = Mode::kUnconfigured;
  present = *next;
  commanded = static_cast<Mode>(number);
  vectors = values;
}

void Board::Tick(uint64_t now, const std::vector<double> &position, const std::vector<double> &velocity)
{
  clock = now;
  blocked = false;
  for (size_t i = 0; i < rows.size(); ++i)
  {
    angle[i] = position[i];
    speed[i] = velocity[i];
    const bool fast = !(std::abs(velocity[i]) <= kSpeedMargin * rows[i].velocity_limit);
    const bool beyond = position[i] < rows[i].lower || position[i] > rows[i].upper;
    joint_bits[i] = (joint_bits[i] & (1u << kTorqueClipped)) | (fast << kOverSpeed) | (beyond << kPositionLimit);
    blocked = blocked || (joint_bits[i] & kStoppingJointFaults);
  }
  if (blocked && (Armed() || present == Mode::kLapsed))
    Stop(kJointFault, now);
  if (Armed() && now - fed >= kLapse)
  {
    present = Mode::kLapsed;
    latched |= Bit(kWatchdog);
  }
  if (present == Mode::kLapsed && now - fed >= kPowerOff)
    present = Mode::kOff;
  if (present == Mode::kStopping && now - stopped >= kPowerOff)
    present = Mode::kStopped;
}

void Board::PortClosed(uint64_t now)
{
  if (Armed() || Braking())
    return Stop(kPortClosed, now);
  configured.reset();  // nothing to stop; whoever comes next has to say what it wants
  if (present == Mode::kDisarmed)
    present = Mode::kUnconfigured;
}

void Board::Stop(Code code, uint64_t now)
{
  latched |= Bit(code);
  if (Armed() || present == Mode::kLapsed)
  {
    present = Mode::kStopping;
    stopped = now;
  }
  else if (present != Mode::kStopping)
  {
    present = Mode::kStopped;
  }
}

void Board::Refuse(Code code, uint8_t joint, double value, double limit)
{
  refusals[code] = {code, joint, float(value), float(limit)};
  happened[code] = clock;
}

bool Board::Braking() const
{
  return present == Mode::kDamping || present == Mode::kLapsed || present == Mode::kStopping;
}

std::vector<double> Board::Torque(const std::vector<double> &position, const std::vector<double> &velocity)
{
  const size_t n = rows.size();
  std::vector<double> torque(n, 0.0);
  if (!configured || !(Braking() || Following()))
    return torque;
  for (size_t i = 0; i < n; ++i)
  {
    if (Braking())
      torque[i] = -configured->damping[i] * velocity[i];
    else
      torque[i] = vectors[i];
    if (present == Mode::kImpedance)
      torque[i] += vectors[3 * n + i] * (vectors[n + i] - position[i]) +
                   vectors[4 * n + i] * (vectors[2 * n + i] - velocity[i]);
    const double limit = configured->torque_limit[i] * strength;
    const bool clipped = std::abs(torque[i]) > limit * (1 + 1e-6);
    joint_bits[i] = (joint_bits[i] & ~(1u << kTorqueClipped)) | (clipped << kTorqueClipped);
    torque[i] = std::isfinite(torque[i]) ? std::clamp(torque[i], -limit, limit) : 0.0;
  }
  return torque;
}

Bytes Board::StateHead(uint64_t now) const
{
  uint16_t faults = latched;
  for (const auto &[code, when] : happened)
    if (now - when <= kRepeat)
      faults |= Bit(code);
  const uint64_t age = echo ? std::min<uint64_t>(now - fed, 0xFFFFFFFFu) : 0;
  Writer out;
  out.Put(present).Put<uint8_t>(rows.size()).Put(faults).Put<uint32_t>(configured ? configured->checksum : 0);
  out.Put(echo).Put<uint32_t>(age);
  return out.bytes;
}

std::vector<Fault> Board::TakeFaults(uint64_t now)
{
  std::vector<Fault> present_faults, out;
  for (const auto &[code, fault] : refusals)
    present_faults.push_back(fault);
  refusals.clear();
  for (uint16_t code : {kWatchdog, kStopFrame, kPortClosed, kJointFault})
    if (latched & Bit(code))
      present_faults.push_back({code, kWholeBoard, 0.0f, 0.0f});
  for (size_t i = 0; i < rows.size(); ++i)
  {
    if (joint_bits[i] & (1u << kOverSpeed))
      present_faults.push_back({kOverSpeed, uint8_t(i), float(speed[i]), float(kSpeedMargin * rows[i].velocity_limit)});
    if (joint_bits[i] & (1u << kPositionLimit))
      present_faults.push_back(
          {kPositionLimit, uint8_t(i), float(angle[i]), float(angle[i] < rows[i].lower ? rows[i].lower : rows[i].upper)});
    if (joint_bits[i] & (1u << kTorqueClipped))
      present_faults.push_back({kTorqueClipped, uint8_t(i), 0.0f, configured ? configured->torque_limit[i] : 0.0f});
  }
  for (const Fault &fault : present_faults)
  {
    const uint32_t key = fault.code << 8 | fault.joint;
    const auto last = told.find(key);
    if (last != told.end() && now >= last->second && now - last->second < kRepeat)
      continue;
    told[key] = now;
    out.push_back(fault);
  }
  return out;
}
}  // namespace humanoid_balance
