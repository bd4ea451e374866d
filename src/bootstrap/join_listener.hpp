// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "bootstrap/rendezvous.hpp"
#include "bootstrap/socket.hpp"

namespace busbar {

/// What a connection is for: collective calls of the ranks, or messages of their PeerMonitors.
enum class Channel : std::int32_t { Collectives, Monitor };

/// The connection of a rank that has authenticated itself.
struct JoinedRank {
  Socket socket{};
  int rank = 0;
  int ranks = 0;  ///< that it was started with
  Channel channel = Channel::Collectives;
  std::string host{};  ///< its name
  int process = 0;
};

/// Accepts the other ranks at rank 0. Both sides prove that they know the token by a hash of it and
/// of both sides' nonces. A connection that sends nothing, or something else, delays no other.
class JoinListener {
 public:
  /// Why a rank is refused; empty: it is accepted.
  using Check = std::function<std::string(const JoinedRank&)>;
  using Notice = std::function<void(const std::string&)>;  ///< a refused connection, in one line

  /// Takes the token, job and number of ranks of a rendezvous.
  JoinListener(Socket listener, const Rendezvous& rendezvous, Notice notice);
  JoinListener(const JoinListener&) = delete;
  JoinListener& operator=(const JoinListener&) = delete;
  ~JoinListener();

  /// Becomes readable when `serve` has something to do.
  [[nodiscard]] int descriptor() const { return events_.descriptor(); }
  [[nodiscard]] std::uint16_t port() const { return listener_.own_port(); }

  /// Handles what has arrived, without waiting, of `most` connections: those that `check` accepts.
  [[nodiscard]] std::vector<JoinedRank> serve(const Check& check, int most = 64);

 private:
  struct Pending;

  [[nodiscard]] bool read(Pending& pending);
  [[nodiscard]] bool challenge(Pending& pending);
  [[nodiscard]] bool goes_on(Pending& pending, const Check& check, std::vector<JoinedRank>& joined);
  [[nodiscard]] bool decide(Pending& pending, const Check& check, std::vector<JoinedRank>& joined);
  [[nodiscard]] bool accept_one();
  [[nodiscard]] bool close_oldest(std::string_view why);
  void report_stranger(const std::string& line);

  Socket listener_;
  Socket events_;  ///< an epoll
  std::string token_;
  std::string job_;
  std::size_t most_pending_;
  Notice notice_;
  std::size_t strangers_ = 0;
  std::map<int, Pending> pending_;  ///< by descriptor
};

/// Tries once to connect to rank 0; nothing where that fails.
[[nodiscard]] std::optional<JoinedRank> try_root(const Rendezvous& rendezvous, Channel channel,
                                                 Clock::time_point deadline);

/// The same, and tries again until the timeout. Throws Error (Usage) with rank 0's reason where it
/// is refused, and Error (Runtime) after the timeout.
[[nodiscard]] JoinedRank join_root(const Rendezvous& rendezvous, Channel channel, Seconds timeout);

}  // namespace busbar
