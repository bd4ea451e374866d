// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/peer_monitor.hpp"

#include <cerrno>
#include <cstdlib>
#include <sys/eventfd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/thread.hpp"

namespace busbar {

PeerMonitor::PeerMonitor(int rank, int ranks, std::vector<JoinedRank> peers,
                         std::unique_ptr<JoinListener> listener, TcpEvents events)
    : rank_(rank),
      ranks_(ranks),
      listener_(std::move(listener)),
      events_(std::move(events)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_.is_open()) throw system_failure("monitoring the ranks", errno);
  for (JoinedRank& peer : peers) {
    connections_.push_back(std::make_unique<Connection>());
    connections_.back()->peer = std::move(peer);
  }
  thread_ = start_thread([this] { run(); });
}

PeerMonitor::~PeerMonitor() {
  stop();
  send_all(Kind::Leave, 0);
}

void PeerMonitor::stop() {
  static_cast<void>(eventfd_write(wake_.descriptor(), 1));
  if (thread_.joinable()) thread_.join();
}

void PeerMonitor::send_all(Kind kind, int value) const {
  const Message message{.kind = kind, .value = value, .position = events_.position()};
  for (const auto& connection : connections_) {
    static_cast<void>(connection->peer.socket.offer(std::as_bytes(std::span{&message, 1})));
  }
}

void PeerMonitor::abort_all(int exit_code) { send_all(Kind::Abort, exit_code); }

void PeerMonitor::stop_and_abort_all(int exit_code) {
  stop();
  abort_all(exit_code);
}

std::vector<RankPosition> PeerMonitor::positions() {
  constexpr std::chrono::milliseconds kTick{20};
  {
    const std::lock_guard lock(mutex_);
    for (const auto& connection : connections_) {
      if (!connection->gone) connection->position.reset();
    }
  }
  send_all(Kind::Ping, 0);
  const auto deadline = Clock::now() + events_.patience;
  const auto all_have_answered = [&] {
    const std::lock_guard lock(mutex_);
    return std::ranges::all_of(
        connections_, [](const auto& connection) { return connection->position.has_value(); });
  };
  while (Clock::now() < deadline && !all_have_answered()) std::this_thread::sleep_for(kTick);
  std::vector<RankPosition> result{
      {.rank = rank_, .host = host_name(), .position = events_.position()}};
  const std::lock_guard lock(mutex_);
  for (const auto& connection : connections_) {
    result.push_back({.rank = connection->peer.rank,
                      .host = connection->peer.host,
                      .position = connection->position});
  }
  return result;
}

std::string PeerMonitor::describe_stall() {
  if (ranks_ == 1) return "";
  // Rank 0's watchdog looks once in a second, asks all ranks, and ends the job.
  constexpr std::chrono::seconds kRootTakes{5};
  const std::vector<RankPosition> known = positions();
  const bool root_is_silent = known.size() > 1 && !known[1].position;
  if (rank_ == 0) return busbar::describe_stall(known, ranks_);
  if (!root_is_silent) std::this_thread::sleep_for(kRootTakes);
  return known.size() == 1 ? "" : busbar::describe_stall(known, 0);
}

/// Waits for the wake-up, then the connections; a second at most where late ranks may come.
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
  static_cast<void>(poll(looks.data(), looks.size(), listener_ ? kTick : -1));
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
  const Message answer{.kind = Kind::Pong, .position = events_.position()};
  const Kind kind = connection.message.kind;
  if (kind == Kind::Leave || kind == Kind::Pong) {
    const std::lock_guard lock(mutex_);
    connection.position = connection.message.position;
    connection.gone = kind == Kind::Leave;
    return;
  }
  const int code = failure_code(connection.message.value);
  if (kind == Kind::Abort) {
    abort_all(code);  // rank 0 forwards it
    std::_Exit(code);
  }
  static_cast<void>(connection.peer.socket.offer(std::as_bytes(std::span{&answer, 1})));
  if (rank_ == 0) events_.stalled();  // who asks where rank 0 is has waited for too long
}

void PeerMonitor::disconnect(Connection& connection) {
  if (!events_.lost) {
    const std::lock_guard lock(mutex_);
    connection.gone = true;
    return;
  }
  // A launcher reports why the rank ended, and ends the others.
  constexpr int kMost = 8;
  std::this_thread::sleep_for(std::chrono::milliseconds(500 + 100 * std::min(rank_, kMost)));
  events_.lost(fmt::format("rank {} on {} ended before the others", connection.peer.rank,
                           connection.peer.host));
  abort_all(exit_code(Status::Runtime));
  std::_Exit(exit_code(Status::Runtime));
}

}  // namespace busbar
