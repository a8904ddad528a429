// The envelope around every frame of docs/protocol.md: header, payload, CRC-32, stuffed, between two zero bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace humanoid_balance
{
using Bytes = std::vector<uint8_t>;

constexpr uint8_t kVersion = 1;
constexpr size_t kMaxJoints = 64;
constexpr size_t kNameSize = 32;

enum Type : uint8_t
{
  kIdentify = 0x01,
  kConfigure = 0x02,
  kCommand = 0x03,
  kReset = 0x04,
  kEmergencyStop = 0x05,
  kPush = 0x06,
  kIdentity = 0x81,
  kJoint = 0x82,
  kState = 0x83,
  kImu = 0x84,
  kFootWrench = 0x85,
  kFault = 0x86,
  kTruth = 0x87,
};

uint32_t Crc32(const uint8_t *data, size_t size);

/// A payload under construction: little endian, packed without gaps.
class Writer
{
public:
  template <typename T>
  Writer &Put(T value)
  {
    const auto *raw = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof(T));
    return *this;
  }
  template <typename T>
  Writer &PutAll(const std::vector<T> &values)
  {
    for (T value : values)
      Put(value);
    return *this;
  }
  Writer &Reserved(size_t count)
  {
    bytes.insert(bytes.end(), count, 0);
    return *this;
  }
  /// Printable ASCII, filled with zeros, at least one.
  Writer &PutName(const std::string &name);

  Bytes bytes;
};

/// Takes fields out of a payload whose length has been checked.
class Reader
{
public:
  explicit Reader(const Bytes &payload) : data(payload.data()) {}
  template <typename T>
  T Take()
  {
    T value;
    std::memcpy(&value, data, sizeof(T));
    data += sizeof(T);
    return value;
  }
  std::vector<float> TakeFloats(size_t count)
  {
    std::vector<float> values(count);
    for (auto &value : values)
      value = Take<float>();
    return values;
  }
  void Skip(size_t count) { data += count; }
  /// The name in front of the first zero.
  std::string TakeName();

private:
  const uint8_t *data;
};

/// A frame from the host that arrived whole.
struct Packet
{
  uint8_t type;
  uint64_t stamp;  // host's clock [us]
  Bytes payload;
};

/// Numbers and wraps the frames of one direction of one line.
class Sender
{
public:
  /// Append a frame to `out`, with a zero before and a zero behind it.
  void Append(Bytes &out, uint8_t type, uint64_t stamp, const Bytes &payload);

private:
  uint16_t sequence = 0;
};

/// Finds the host's frames in a byte stream; whatever is no frame is dropped.
class Decoder
{
public:
  /// All frames that end in these bytes, in order.
  std::vector<Packet> Feed(const uint8_t *data, size_t size);

private:
  std::optional<Packet> Open();

  Bytes rest;  // of a frame that has not ended yet
  bool overlong = false;
  int sequence = -1;
};
}  // namespace humanoid_balance
