// How a board behaves, without port, clock or physics: modes, watchdog, emergency stop and torque law of
// docs/protocol.md. Times are the board's clock [us].
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire.hpp"

namespace humanoid_balance
{
enum class Mode : uint8_t
{
  kUnconfigured = 0,
  kDisarmed = 1,
  kDamping = 2,
  kTorque = 3,
  kImpedance = 4,
  kLapsed = 5,
  kOff = 6,
  kStopping = 7,
  kStopped = 8,
};

enum Code : uint16_t
{
  kOverSpeed = 4,
  kPositionLimit = 9,
  kTorqueClipped = 10,
  kWatchdog = 16,
  kStopFrame = 17,
  kPortClosed = 18,
  kJointFault = 19,
  kWrongTable = 22,
  kBadConfiguration = 23,
  kBadCommand = 24,
  kStaleCommand = 25,
  kRefused = 26,
};

constexpr uint8_t kWholeBoard = 255;  // in the place of a joint's index

struct Fault
{
  uint16_t code;
  uint8_t joint;
  float value;
  float limit;
};

/// One row of the joint table.
struct JointRow
{
  std::string name;
  float lower, upper;                    // [rad]
  float velocity_limit;                  // [rad/s]
  float torque_limit;                    // [N m]
  float temperature_max;                 // [degrees Celsius]
  float voltage_min, voltage_max;        // [V]
  float position_scale, torque_scale;    // one count of the sensors [rad, N m]
};

/// The Configure in force.
struct Configuration
{
  uint32_t checksum;
  uint32_t period;  // [us]
  bool lockstep;
  std::vector<float> torque_limit;
  std::vector<float> damping;
};

class Board
{
public:
  /// `strength` is the share of their torque limits that the motors really have.
  Board(std::vector<JointRow> rows, double strength);

  /// Configure, Command, Reset or EmergencyStop from the host.
  void Receive(const Packet &packet, uint64_t now);
  /// Every physics step: watchdogs and joint faults.
  void Tick(uint64_t now, const std::vector<double> &position, const std::vector<double> &velocity);
  /// The line to the host is gone: drives that are on brake, latched; where they are off there is nothing to stop.
  void PortClosed(uint64_t now);
  /// Torque of every drive [N m].
  std::vector<double> Torque(const std::vector<double> &position, const std::vector<double> &velocity);

  Mode mode() const { return present; }
  bool Following() const { return present == Mode::kTorque || present == Mode::kImpedance; }
  const std::optional<Configuration> &configuration() const { return configured; }
  const std::vector<JointRow> &joints() const { return rows; }
  uint32_t table() const { return table_hash; }
  Bytes JointPayload(size_t index) const;
  /// The first 20 bytes of a State.
  Bytes StateHead(uint64_t now) const;
  const std::vector<uint16_t> &joint_faults() const { return joint_bits; }
  /// Faults to be told now: new ones, and every 100 ms those that last.
  std::vector<Fault> TakeFaults(uint64_t now);

private:
  bool Armed() const { return present == Mode::kDamping || Following(); }
  bool Braking() const;
  void Stop(Code code, uint64_t now);
  void Configure(const Packet &packet);
  void Command(const Packet &packet, uint64_t now);
  void Refuse(Code code, uint8_t joint, double value, double limit);

  std::vector<JointRow> rows;
  double strength;
  uint32_t table_hash = 0;
  Mode present = Mode::kUnconfigured;
  std::optional<Configuration> configured;
  uint16_t latched = 0;                    // board faults 16 to 19, by bit
  std::map<uint16_t, Fault> refusals;      // since the last TakeFaults
  std::map<uint16_t, uint64_t> happened;   // refusals: when last
  std::map<uint32_t, uint64_t> told;       // code and joint: when last told
  std::vector<uint16_t> joint_bits;
  std::vector<double> speed, angle;        // newest, as evidence of joint faults
  bool blocked = false;                    // a cause to stop is present
  uint64_t echo = 0, fed = 0, stopped = 0;
  uint64_t clock = 0;
  Mode commanded = Mode::kDisarmed;
  std::vector<float> vectors;              // of the last command, row by row
};
}  // namespace humanoid_balance
