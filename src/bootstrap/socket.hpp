// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace busbar {

/// A host, by name or number, and a port: "h1:29500", "[fe80::1]:29500".
struct Address {
  std::string host{};
  std::uint16_t port = 0;

  [[nodiscard]] std::string text() const;
};

/// Throws Error (Usage) that begins with `option`.
[[nodiscard]] Address parse_address(const std::string& option, const std::string& text);

/// Owns a TCP socket. Move-only.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  void close();

  /// The next connection; nothing if none is waiting.
  [[nodiscard]] std::optional<Socket> accept() const;
  /// As many bytes as there are now; 0: the other end has closed, nothing: there are none yet.
  [[nodiscard]] std::optional<std::size_t> read_some(std::span<std::byte> to) const;
  /// Whether all bytes were taken at once, as few always are.
  [[nodiscard]] bool offer(std::span<const std::byte> bytes) const;
  /// False where the other end has gone, or the deadline is over.
  [[nodiscard]] bool send(std::span<const std::byte> bytes,
                          std::optional<Clock::time_point> deadline = {}) const;
  [[nodiscard]] bool receive(std::span<std::byte> bytes,
                             std::optional<Clock::time_point> deadline = {}) const;

  /// Numbers of this end and of the other: "10.0.0.4"; empty where there are none.
  [[nodiscard]] std::string own_host() const;
  [[nodiscard]] std::string other_host() const;
  [[nodiscard]] std::uint16_t own_port() const;

 private:
  int descriptor_ = -1;
};

/// Listens at a port of this host, 0: any that is free; at a loopback address only there, else at
/// all addresses. Throws Error (Runtime).
[[nodiscard]] Socket listen_at(const Address& address);

/// Tries once; nothing, and why not in words.
[[nodiscard]] std::optional<Socket> connect_to(const Address& address, Clock::time_point deadline,
                                               std::string& why_not);

/// A host's name without an address.
struct UnknownHost {
  std::string text{};     ///< "n1: cannot be resolved on h7: Name or service not known"
  bool may_pass = false;  ///< a name server did not answer
};
/// Nothing where the host has an address.
[[nodiscard]] std::optional<UnknownHost> find_unknown_host(const std::string& host);

/// An address of an interface that is up.
struct InterfaceAddress {
  std::string interface {};  ///< "eth0"
  std::string number{};      ///< "10.0.0.4", "fe80::1%eth0"
  bool is_running = false;   ///< it has a link
};
/// All of this host, in the order in which the system lists them.
[[nodiscard]] std::vector<InterfaceAddress> interface_addresses();

/// The numbers by which other hosts may reach this one: "10.0.0.4".
[[nodiscard]] std::vector<std::string> own_addresses();

/// Raises the limit of descriptors as far as it goes, for a connection to every rank.
void allow_descriptors();

/// Whether a host is in 127.0.0.0/8 or ::1.
[[nodiscard]] bool is_loopback(const std::string& host);

}  // namespace busbar
