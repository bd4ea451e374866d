// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

#include "base/units.hpp"
#include "bootstrap/join_listener.hpp"

namespace busbar {

/// Called from a thread of the bootstrap's own.
struct TcpEvents {
  /// A connection was refused.
  std::function<void(const std::string& line)> notice{};
  /// A rank has ended before the others; this process ends after it.
  std::function<void(const std::string& what)> lost{};
};

/// A thread that watches the other ranks while this one is inside a library: it ends the process if
/// one aborts or disconnects, and answers pings. Rank 0 watches all, the others only rank 0.
class PeerMonitor {
 public:
  struct Peer {
    int rank = 0;
    std::string host{};
    Socket socket{};
  };

  /// Rank 0 keeps the listener to refuse late ranks.
  PeerMonitor(int rank, std::vector<Peer> peers, std::unique_ptr<JoinListener> listener,
              TcpEvents events);
  PeerMonitor(const PeerMonitor&) = delete;
  PeerMonitor& operator=(const PeerMonitor&) = delete;
  /// Announces that this rank leaves, which is not a failure.
  ~PeerMonitor();

  /// Makes all ranks exit with this code; does not wait for them.
  void abort_all(int exit_code);
  /// Peers that do not answer a ping in time: "rank 3 on h2".
  [[nodiscard]] std::vector<std::string> unresponsive_peers(Seconds patience);

 private:
  enum class Kind : std::int32_t { Abort, Leave, Ping, Pong };
  struct Message {
    Kind kind = Kind::Abort;
    std::int32_t value = 0;
  };
  struct Connection {
    Peer peer{};
    Message message{};
    std::size_t received = 0;  ///< of message
    bool gone = false;
    std::atomic<bool> answered = false;
  };

  [[nodiscard]] std::vector<pollfd> wait() const;
  void run();
  void read(Connection& connection);
  void handle(Connection& connection);
  void disconnect(const Connection& connection);
  void send_all(Kind kind, int value) const;

  int rank_;
  std::vector<std::unique_ptr<Connection>> connections_{};
  std::unique_ptr<JoinListener> listener_;
  TcpEvents events_;
  Socket wake_;  ///< an eventfd
  std::thread thread_{};
};

}  // namespace busbar
