// A TCP port on the loopback for one host at a time; a second one is closed at once.
#pragma once

#include <cstdint>
#include <string>

#include "wire.hpp"

namespace humanoid_balance
{
class Port
{
public:
  /// Listens; 0 takes any free port. Throws std::runtime_error with one clear line if the port cannot be had.
  explicit Port(uint16_t number);
  ~Port();
  Port(const Port &) = delete;
  Port &operator=(const Port &) = delete;

  uint16_t number() const { return bound; }
  bool connected() const { return client >= 0; }

  /// Wait up to `milliseconds` for something to happen; what the host has sent since then. Accepts a host.
  std::vector<uint8_t> Receive(int milliseconds);
  /// Send a whole sample; false if the host does not take them as fast as they come and this one was left out.
  bool Send(const Bytes &sample);
  void Close();

private:
  void Accept();
  void Flush();

  int listener = -1;
  int client = -1;
  uint16_t bound = 0;
  Bytes unsent;
};
}  // namespace humanoid_balance
