// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, FreeAddresses>;

/// Empty with getaddrinfo's error. An empty host is every address of this machine.
AddressList resolve(const Address& address, int& error) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* list = nullptr;
  const char* host = address.host.empty() ? nullptr : address.host.c_str();
  error = getaddrinfo(host, fmt::format("{}", address.port).c_str(), &hints, &list);
  return AddressList(error == 0 ? list : nullptr);
}

std::string resolve_error(int error) {
  if (error == 0) return "";
  return error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error);
}

void set(int descriptor, int level, int name, int value) {
  // Each only makes something quicker: without it all works.
  static_cast<void>(setsockopt(descriptor, level, name, &value, sizeof value));
}

/// Small messages go at once, and a host that is gone is noticed.
void prepare(int descriptor) {
  set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

int milliseconds_until(std::optional<Clock::time_point> deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
  constexpr std::int64_t kLongest = 1'000'000'000;
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kLongest));
}

bool waits_for(int descriptor, short event, std::optional<Clock::time_point> deadline) {
  pollfd look{.fd = descriptor, .events = event, .revents = 0};
  for (;;) {
    const int ready = poll(&look, 1, milliseconds_until(deadline));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return false;
  }
}

bool try_later(int error) { return error == EAGAIN || error == EINTR; }

using ReadName = int (*)(int, sockaddr*, socklen_t*);

Address name_of(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return {};
  }
  constexpr std::string_view kMapped = "::ffff:";
  std::string text(host.data());
  if (text.starts_with(kMapped)) text.erase(0, kMapped.size());
  return {.host = text, .port = to_number<std::uint16_t>(port.data()).value_or(0)};
}

Address name_of(int descriptor, ReadName read) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  return read(descriptor, address, &size) == 0 ? name_of(address, size) : Address{};
}

/// 0, or the error number.
int listen_once(const addrinfo& candidate, Socket& result) {
  Socket made(socket(candidate.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.is_open()) return errno;
  set(made.descriptor(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (candidate.ai_family == AF_INET6) set(made.descriptor(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (bind(made.descriptor(), candidate.ai_addr, candidate.ai_addrlen) != 0) return errno;
  if (listen(made.descriptor(), SOMAXCONN) != 0) return errno;
  result = std::move(made);
  return 0;
}

int connect_once(const addrinfo& candidate, Clock::time_point deadline, Socket& result) {
  Socket made(socket(candidate.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.is_open()) return errno;
  if (connect(made.descriptor(), candidate.ai_addr, candidate.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return errno;
    if (!waits_for(made.descriptor(), POLLOUT, deadline)) return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(made.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return error;
  }
  prepare(made.descriptor());
  result = std::move(made);
  return 0;
}

}  // namespace

std::string Address::text() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Address parse_address(const std::string& option, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto port =
      to_number<std::uint16_t>(colon == std::string::npos ? "" : text.substr(colon + 1));
  std::string host = text.substr(0, colon);
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  if (in_brackets) host = host.substr(1, host.size() - 2);
  const bool is_plain = in_brackets || host.find(':') == std::string::npos;
  if (!port || *port == 0 || host.empty() || !is_plain) {
    throw usage_error(
        "{}: '{}' is not HOST:PORT with a port from 1 to 65535; give rank 0's, such as "
        "node1:29500 or [fe80::1]:29500",
        option, one_line(text));
  }
  return {.host = host, .port = *port};
}

Socket::~Socket() { close(); }

void Socket::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

std::optional<Socket> Socket::accept() const {
  Socket rank(accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!rank.is_open()) return std::nullopt;
  prepare(rank.descriptor());
  return rank;
}

std::optional<std::size_t> Socket::read_some(std::span<std::byte> to) const {
  const ssize_t got = recv(descriptor_, to.data(), to.size(), MSG_DONTWAIT);
  if (got >= 0) return static_cast<std::size_t>(got);
  return try_later(errno) ? std::nullopt : std::optional<std::size_t>(0);
}

bool Socket::offer(std::span<const std::byte> bytes) const {
  const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(bytes.size());
}

bool Socket::send(std::span<const std::byte> bytes,
                  std::optional<Clock::time_point> deadline) const {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (!try_later(errno) || !waits_for(descriptor_, POLLOUT, deadline)) {
      return false;
    }
  }
  return true;
}

bool Socket::receive(std::span<std::byte> bytes, std::optional<Clock::time_point> deadline) const {
  // Ranks come within microseconds of each other, and sleeping costs tens of them.
  constexpr std::chrono::microseconds kEager{50};
  auto eager = Clock::now() + kEager;
  while (!bytes.empty()) {
    const auto got = read_some(bytes);
    if (got.has_value()) {
      if (*got == 0) return false;
      bytes = bytes.subspan(*got);
      eager = Clock::now() + kEager;
    } else if (Clock::now() < eager) {
      sched_yield();
    } else if (!waits_for(descriptor_, POLLIN, deadline)) {
      return false;
    }
  }
  return true;
}

std::string Socket::own_host() const { return name_of(descriptor_, getsockname).host; }
std::string Socket::other_host() const { return name_of(descriptor_, getpeername).host; }
std::uint16_t Socket::own_port() const { return name_of(descriptor_, getsockname).port; }

Socket listen_at(const Address& address) {
  // A host's own name may be a loopback address to itself alone (Debian's 127.0.1.1).
  const bool alone = address.host == "localhost" || is_loopback(address.host);
  int unresolved = 0;
  const AddressList list =
      resolve({.host = alone ? address.host : "", .port = address.port}, unresolved);
  std::string why_not = resolve_error(unresolved);
  // Listening at all of IPv6 is listening at all of IPv4, too.
  for (const int family : {AF_INET6, AF_INET}) {
    for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
      if (each->ai_family != family) continue;
      Socket result;
      const int error = listen_once(*each, result);
      if (error == 0) return result;
      if (error == EADDRINUSE) {
        throw Error{Status::Runtime,
                    fmt::format("port {} of this host is in use: another program listens there, or "
                                "another job of Busbar; choose another port",
                                address.port)};
      }
      why_not = std::strerror(error);
    }
  }
  throw Error{Status::Runtime, fmt::format("cannot listen at {}: {}", address.text(), why_not)};
}

std::optional<Socket> connect_to(const Address& address, Clock::time_point deadline,
                                 std::string& why_not) {
  // Of several addresses one may be of a network that does not answer at all; who waits for the
  // host tries again.
  constexpr std::chrono::seconds kPatience{2};
  int unresolved = 0;
  const AddressList list = resolve(address, unresolved);
  why_not = resolve_error(unresolved);
  for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
    Socket result;
    const auto end = std::min(deadline, Clock::now() + kPatience);
    const int error = connect_once(*each, end, result);
    if (error == 0) return result;
    why_not = std::strerror(error);
  }
  return std::nullopt;
}

std::optional<UnknownHost> find_unknown_host(const std::string& host) {
  int error = 0;
  const AddressList list = resolve({.host = host}, error);
  if (error == 0) return std::nullopt;
  return UnknownHost{.text = fmt::format("{}: cannot be resolved on {}: {}", host, host_name(),
                                         resolve_error(error)),
                     .may_pass = error == EAI_AGAIN};
}

std::vector<InterfaceAddress> interface_addresses() {
  std::vector<InterfaceAddress> result;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return result;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    const int family = each->ifa_addr == nullptr ? AF_UNSPEC : each->ifa_addr->sa_family;
    if ((family != AF_INET && family != AF_INET6) || (each->ifa_flags & IFF_UP) == 0) continue;
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    result.push_back({.interface = each->ifa_name,
                      .number = name_of(each->ifa_addr, size).host,
                      .is_running = (each->ifa_flags & IFF_RUNNING) != 0});
  }
  return result;
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> result;
  for (const InterfaceAddress& each : interface_addresses()) {
    const bool is_local = each.number.empty() || is_loopback(each.number) ||
                          each.number.find('%') != std::string::npos;
    if (!is_local) result.push_back(each.number);
  }
  return result;
}

void allow_descriptors() {
  rlimit files{};
  static_cast<void>(getrlimit(RLIMIT_NOFILE, &files));
  files.rlim_cur = files.rlim_max;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &files));
}

bool is_loopback(const std::string& host) { return host.starts_with("127.") || host == "::1"; }

}  // namespace busbar
