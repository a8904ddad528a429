#include "port.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace humanoid_balance
{
namespace
{
[[noreturn]] void Fail(int socket, uint16_t number)
{
  const std::string why = std::strerror(errno);
  if (socket >= 0)
    close(socket);
  throw std::runtime_error("port " + std::to_string(number) + " on the loopback cannot be had: " + why);
}
}  // namespace

Port::Port(uint16_t number)
{
  listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int yes = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(number);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      bind(listener, reinterpret_cast<sockaddr *>(&address), size) != 0 || listen(listener, 4) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size) != 0)
    Fail(listener, number);
  bound = ntohs(address.sin_port);
}

Port::~Port()
{
  Close();
  close(listener);
}

void Port::Accept()
{
  const int fresh = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fresh < 0)
    return;
  if (connected())
  {
    close(fresh);
    return;
  }
  const int yes = 1;
  setsockopt(fresh, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  client = fresh;
  unsent.clear();
}

std::vector<uint8_t> Port::Receive(int milliseconds)
{
  pollfd watched[2] = {{listener, POLLIN, 0}, {client, short(POLLIN | (unsent.empty() ? 0 : POLLOUT)), 0}};
  if (poll(watched, connected() ? 2 : 1, milliseconds) <= 0)
    return {};
  std::vector<uint8_t> received;
  const bool had_host = connected();
  if (had_host && watched[1].revents != 0)
  {
    Flush();
    uint8_t buffer[4096];
    ssize_t count = 0;
    while (connected() && (count = recv(client, buffer, sizeof(buffer), 0)) > 0)
      received.insert(received.end(), buffer, buffer + count);
    if (connected() && (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)))
      Close();
  }
  if (watched[0].revents != 0 && had_host == connected())  // a host that left is seen before the next one comes
    Accept();
  return received;
}

bool Port::Send(const Bytes &sample)
{
  if (!connected())
    return false;
  Flush();
  if (!unsent.empty())
    return false;
  unsent = sample;
  Flush();
  return true;
}

void Port::Flush()
{
  while (connected() && !unsent.empty())
  {
    const ssize_t count = send(client, unsent.data(), unsent.size(), MSG_NOSIGNAL);
    if (count > 0)
      unsent.erase(unsent.begin(), unsent.begin() + count);
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      return;
    else if (errno != EINTR)
      Close();
  }
}

void Port::Close()
{
  if (client >= 0)
    close(client);
  client = -1;
  unsent.clear();
}
}  // namespace humanoid_balance
