// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

#include "base/units.hpp"
#include "bootstrap/join_listener.hpp"
#include "bootstrap/step_position.hpp"

namespace busbar {

/// A thread that watches the other ranks while this one is inside a library: it ends the process if
/// one aborts or disconnects, and answers where this rank is. Rank 0 watches all, others only it.
class PeerMonitor {
 public:
  /// Rank 0 keeps the listener to refuse late ranks. Some of the `ranks` may have no connection.
  PeerMonitor(int rank, int ranks, std::vector<JoinedRank> peers,
              std::unique_ptr<JoinListener> listener, TcpEvents events);
  PeerMonitor(const PeerMonitor&) = delete;
  PeerMonitor& operator=(const PeerMonitor&) = delete;
  /// Announces that this rank leaves, which is not a failure.
  ~PeerMonitor();

  /// Makes all ranks exit with this code; does not wait for them.
  void abort_all(int exit_code);
  /// The same, and this process lives on to report why, whatever the others send back.
  void stop_and_abort_all(int exit_code);
  /// Bootstrap's. On another rank than 0 it waits until rank 0 must have ended the job.
  [[nodiscard]] std::string describe_stall();

 private:
  enum class Kind : std::int32_t { Abort, Leave, Ping, Pong };
  struct Message {
    Kind kind = Kind::Abort;
    std::int32_t value = 0;
    StepPosition position{};  ///< of the sender
  };
  struct Connection {
    JoinedRank peer{};
    Message message{};
    std::size_t received = 0;  ///< of message
    bool gone = false;
    std::optional<StepPosition> position{};  ///< since the last ping, or where it left
  };

  [[nodiscard]] std::vector<pollfd> wait() const;
  [[nodiscard]] std::vector<RankPosition> positions();
  void run();
  void stop();
  void read(Connection& connection);
  void handle(Connection& connection);
  void disconnect(Connection& connection);
  void send_all(Kind kind, int value) const;

  int rank_;
  int ranks_;
  std::mutex mutex_{};  ///< of the connections' positions
  std::vector<std::unique_ptr<Connection>> connections_{};
  std::unique_ptr<JoinListener> listener_;
  TcpEvents events_;
  Socket wake_;  ///< an eventfd
  std::thread thread_{};
};

}  // namespace busbar
