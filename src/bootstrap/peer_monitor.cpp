// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/peer_monitor.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <poll.h>
#include <sys/eventfd.h>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar {

PeerMonitor::PeerMonitor(int rank, std::vector<Peer> peers, std::unique_ptr<JoinListener> listener,
                         TcpEvents events)
    : rank_(rank),
      listener_(std::move(listener)),
      events_(std::move(events)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_.is_open()) throw system_failure("monitoring the ranks", errno);
  for (Peer& peer : peers) {
    connections_.push_back(std::make_unique<Connection>());
    connections_.back()->peer = std::move(peer);
  }
  thread_ = std::thread([this] { run(); });
}

PeerMonitor::~PeerMonitor() {
  static_cast<void>(eventfd_write(wake_.descriptor(), 1));
  thread_.join();
  send_all(Kind::Leave, 0);
}

void PeerMonitor::send_all(Kind kind, int value) const {
  const Message message{.kind = kind, .value = value};
  for (const auto& connection : connections_) {
    static_cast<void>(connection->peer.socket.offer(std::as_bytes(std::span{&message, 1})));
  }
}

void PeerMonitor::abort_all(int exit_code) { send_all(Kind::Abort, exit_code); }

std::vector<std::string> PeerMonitor::unresponsive_peers(Seconds patience) {
  constexpr std::chrono::milliseconds kTick{20};
  const auto has_answered = [](const auto& connection) { return connection->answered.load(); };
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
  for (const auto& connection : connections_) connection->answered = false;
  send_all(Kind::Ping, 0);
  while (Clock::now() < deadline && !std::ranges::all_of(connections_, has_answered)) {
    std::this_thread::sleep_for(kTick);
  }
  std::vector<std::string> silent;
  for (const auto& connection : connections_) {
    if (connection->answered) continue;
    silent.push_back(fmt::format("rank {} on {}", connection->peer.rank, connection->peer.host));
  }
  return silent;
}

/// Waits a second at most for something to read: the wake-up, then the connections.
std::vector<pollfd> PeerMonitor::wait() const {
  std::vector<pollfd> looks;
  const auto look_at = [&](int descriptor) {
    looks.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
  };
  look_at(wake_.descriptor());
  for (const auto& connection : connections_) {
    look_at(connection->gone ? -1 : connection->peer.socket.descriptor());
  }
  constexpr int kTick = 1000;
  static_cast<void>(poll(looks.data(), looks.size(), kTick));
  return looks;
}

void PeerMonitor::run() {
  const auto late = [](const JoinedRank&) { return "the job has begun with all of its ranks"; };
  // While rows are timed: each connection costs a proof's half a millisecond.
  constexpr int kConnections = 4;
  constexpr std::chrono::seconds kPause{1};
  Clock::time_point next{};
  for (;;) {
    const std::vector<pollfd> looks = wait();
    if (looks[0].revents != 0) return;
    if (listener_ && Clock::now() >= next) {
      static_cast<void>(listener_->serve(late, kConnections));
      next = Clock::now() + kPause;
    }
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      if (looks[i + 1].revents != 0) read(*connections_.at(i));
    }
  }
}

void PeerMonitor::read(Connection& connection) {
  const auto whole = std::as_writable_bytes(std::span{&connection.message, 1});
  const auto got = connection.peer.socket.read_some(whole.subspan(connection.received));
  if (!got) return;
  if (*got == 0) return disconnect(connection);
  connection.received += *got;
  if (connection.received < whole.size()) return;
  connection.received = 0;
  handle(connection);
}

namespace {

/// A code that a rank ends all others with: one of a failure, whatever it sent.
int failure_code(int code) {
  const bool is_known = (code >= exit_code(Status::Wrong) && code <= exit_code(Status::Runtime)) ||
                        code == exit_code(Status::Skipped);
  return is_known ? code : exit_code(Status::Runtime);
}

}  // namespace

void PeerMonitor::handle(Connection& connection) {
  const Message answer{.kind = Kind::Pong};
  const int code = failure_code(connection.message.value);
  switch (connection.message.kind) {
    case Kind::Abort:
      abort_all(code);  // rank 0 forwards it
      std::_Exit(code);
    case Kind::Leave: connection.gone = true; return;
    case Kind::Ping:
      static_cast<void>(connection.peer.socket.offer(std::as_bytes(std::span{&answer, 1})));
      return;
    case Kind::Pong: connection.answered = true; return;
  }
}

void PeerMonitor::disconnect(const Connection& connection) {
  // A launcher reports why the rank ended, and ends the others.
  constexpr int kMost = 8;
  std::this_thread::sleep_for(std::chrono::milliseconds(500 + 100 * std::min(rank_, kMost)));
  events_.lost(fmt::format("rank {} on {} ended before the others", connection.peer.rank,
                           connection.peer.host));
  abort_all(exit_code(Status::Runtime));
  std::_Exit(exit_code(Status::Runtime));
}

}  // namespace busbar
