#include "wire.hpp"

#include <algorithm>
#include <array>

namespace humanoid_balance
{
namespace
{
constexpr size_t kHeader = 12;
constexpr size_t kCrc = 4;
constexpr size_t kMaxStuffed = 1314;  // longest frame on the wire, zeros not included

std::array<uint32_t, 256> CrcTable()
{
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i)
  {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1u) ? 0xEDB88320u : 0u);
    table[i] = crc;
  }
  return table;
}

void Stuff(const Bytes &body, Bytes &out)
{
  size_t code_at = out.size();
  out.push_back(0);
  for (uint8_t byte : body)
  {
    if (byte != 0)
      out.push_back(byte);
    if (byte == 0 || out.size() - code_at == 255)
    {
      out[code_at] = static_cast<uint8_t>(out.size() - code_at);
      code_at = out.size();
      out.push_back(0);
    }
  }
  out[code_at] = static_cast<uint8_t>(out.size() - code_at);
}

/// The body that was stuffed, or nothing if this is no frame.
std::optional<Bytes> Unstuff(const Bytes &in)
{
  Bytes body;
  for (size_t i = 0; i < in.size();)
  {
    const size_t code = in[i++];
    if (code == 0 || i + code - 1 > in.size())
      return std::nullopt;
    body.insert(body.end(), in.begin() + i, in.begin() + i + code - 1);
    i += code - 1;
    if (code < 255 && i < in.size())
      body.push_back(0);
  }
  return body;
}
}  // namespace

uint32_t Crc32(const uint8_t *data, size_t size)
{
  static const std::array<uint32_t, 256> table = CrcTable();
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 0; i < size; ++i)
    crc = (crc >> 8) ^ table[(crc ^ data[i]) & 0xFFu];
  return ~crc;
}

Writer &Writer::PutName(const std::string &name)
{
  const size_t length = std::min(name.size(), kNameSize - 1);
  bytes.insert(bytes.end(), name.begin(), name.begin() + length);
  return Reserved(kNameSize - length);
}

std::string Reader::TakeName()
{
  const char *text = reinterpret_cast<const char *>(data);
  data += kNameSize;
  return std::string(text, strnlen(text, kNameSize));
}

void Sender::Append(Bytes &out, uint8_t type, uint64_t stamp, const Bytes &payload)
{
  Writer body;
  body.Put(kVersion).Put(type).Put(sequence++).Put(stamp);
  body.bytes.insert(body.bytes.end(), payload.begin(), payload.end());
  body.Put(Crc32(body.bytes.data(), body.bytes.size()));
  out.push_back(0);  // ends whatever noise came before
  Stuff(body.bytes, out);
  out.push_back(0);
}

std::vector<Packet> Decoder::Feed(const uint8_t *data, size_t size)
{
  std::vector<Packet> packets;
  for (size_t i = 0; i < size; ++i)
  {
    if (data[i] != 0)
    {
      overlong = overlong || rest.size() >= kMaxStuffed;
      if (!overlong)
        rest.push_back(data[i]);
      continue;
    }
    if (!overlong && !rest.empty())
      if (auto packet = Open())
        packets.push_back(std::move(*packet));
    rest.clear();
    overlong = false;
  }
  return packets;
}

std::optional<Packet> Decoder::Open()
{
  const auto body = Unstuff(rest);
  if (!body || body->size() < kHeader + kCrc)
    return std::nullopt;
  const size_t end = body->size() - kCrc;
  uint32_t crc;
  std::memcpy(&crc, body->data() + end, kCrc);
  if (crc != Crc32(body->data(), end))
    return std::nullopt;
  Reader header(*body);
  const auto version = header.Take<uint8_t>();
  const auto type = header.Take<uint8_t>();
  const auto number = header.Take<uint16_t>();
  const auto stamp = header.Take<uint64_t>();
  if (version != kVersion && type != kEmergencyStop)
    return std::nullopt;
  if (type < kIdentify || type > kPush || number == sequence)
    return std::nullopt;
  sequence = number;
  return Packet{type, stamp, Bytes(body->begin() + kHeader, body->begin() + end)};
}
}  // namespace humanoid_balance
