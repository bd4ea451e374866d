// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp_bootstrap.hpp"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/group_guard.hpp"
#include "base/host.hpp"
#include "bootstrap/node_map.hpp"

namespace busbar {
namespace {

/// The connections of a rank for calls: of rank 0 by rank, its own is closed; of others only to it.
using Sockets = std::vector<Socket>;

/// What goes before the bytes of a call, so that ranks that are at different calls notice.
struct Head {
  std::uint64_t call = 0;
  std::uint64_t bytes = 0;
};

/// Waits at rank 0 until every other rank has a connection for each channel.
class RankAcceptor {
 public:
  RankAcceptor(JoinListener& listener, int ranks, std::vector<Channel> channels)
      : listener_(listener), ranks_(ranks), channels_(std::move(channels)) {}

  /// Waits for all. Throws Error (Runtime) that names the missing ranks.
  void wait(const Address& address, Seconds timeout) {
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
    for (auto ranks = missing(); !ranks.empty(); ranks = missing()) {
      if (Clock::now() >= deadline) {
        throw Error{Status::Runtime,
                    fmt::format("timeout: {} of {} ranks did not join at {} within {:g} s: {} {}",
                                ranks.size(), ranks_, address.text(), timeout.count(),
                                ranks.size() == 1 ? "rank" : "ranks", format_ranges(ranks))};
      }
      constexpr int kTick = 100;
      pollfd look{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0};
      static_cast<void>(poll(&look, 1, kTick));
      for (JoinedRank& rank :
           listener_.serve([&](const JoinedRank& each) { return refusal(each); })) {
        joined_.emplace(std::pair{rank.channel, rank.rank}, std::move(rank));
      }
    }
  }

  [[nodiscard]] std::vector<JoinedRank> take(Channel channel) {
    std::vector<JoinedRank> result;
    for (auto& [key, rank] : joined_) {
      if (key.first == channel) result.push_back(std::move(rank));
    }
    return result;
  }

 private:
  [[nodiscard]] std::string refusal(const JoinedRank& rank) const {
    if (rank.ranks != ranks_) {
      return fmt::format("it was started as one of {}, but rank 0 as one of {}",
                         counted(rank.ranks, "rank"), counted(ranks_, "rank"));
    }
    if (rank.rank < 1 || rank.rank >= ranks_) return "there is no such rank, or it is rank 0";
    if (std::ranges::count(channels_, rank.channel) == 0) {
      return "it asks for a channel that there is not";
    }
    const auto same = joined_.find({rank.channel, rank.rank});
    if (same == joined_.end()) return "";
    return fmt::format("rank {} has already joined ({}, process {})", rank.rank, same->second.host,
                       same->second.process);
  }

  [[nodiscard]] std::vector<int> missing() const {
    std::vector<int> ranks;
    for (int rank = 1; rank < ranks_; ++rank) {
      const bool is_there = std::ranges::all_of(channels_, [&](Channel channel) {
        return joined_.contains({channel, rank});
      });
      if (!is_there) ranks.push_back(rank);
    }
    return ranks;
  }

  JoinListener& listener_;
  int ranks_;
  std::vector<Channel> channels_;
  std::map<std::pair<Channel, int>, JoinedRank> joined_{};
};

/// The control plane over the connections of some ranks. All calls go through the lowest.
class TcpBootstrap final : public Bootstrap {
 public:
  /// The monitor is of all ranks of the job.
  TcpBootstrap(Sockets sockets, Rendezvous rendezvous, std::shared_ptr<PeerMonitor> monitor)
      : sockets_(std::move(sockets)),
        rendezvous_(std::move(rendezvous)),
        monitor_(std::move(monitor)) {}

  /// The first calls, before any other. Collective; throws Error (Runtime) that names a rank from
  /// which nothing comes within the timeout.
  void meet(Seconds timeout) {
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
    map_nodes();
    find_address();
    deadline_.reset();
  }

  [[nodiscard]] int rank() const override { return rendezvous_.rank; }
  [[nodiscard]] int size() const override { return rendezvous_.ranks; }
  [[nodiscard]] int node() const override {
    return nodes_.of_rank[static_cast<std::size_t>(rank())];
  }
  [[nodiscard]] int nodes() const override { return nodes_.count; }
  [[nodiscard]] std::string connected_by() const override {
    return "TCP (" + rendezvous_.source + ")";
  }
  [[nodiscard]] std::string address() const override { return address_; }
  [[nodiscard]] std::string describe_stall() override { return monitor_->describe_stall(); }

  void barrier() override { gather_bytes({}, {}); }

  void broadcast_bytes(std::span<std::byte> bytes, int root) override {
    ++call_;
    if (rank() != 0) {
      if (rank() == root) send(0, bytes);
      return receive(0, bytes);
    }
    if (root != 0) receive(root, bytes);
    send_to_all(bytes);
  }

  void gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all) override {
    ++call_;
    if (rank() != 0) {
      send(0, mine);
      return receive(0, all);
    }
    std::ranges::copy(mine, all.begin());
    for (int rank = 1; rank < size(); ++rank) {
      receive(rank, all.subspan(static_cast<std::size_t>(rank) * mine.size(), mine.size()));
    }
    send_to_all(all);
  }

  [[nodiscard]] std::vector<std::string> gather_texts(const std::string& mine) override {
    ++call_;
    std::vector<std::string> texts;
    if (rank() != 0) {
      send(0, std::as_bytes(std::span{mine}));
      return texts;
    }
    texts.push_back(mine);
    for (int rank = 1; rank < size(); ++rank) texts.push_back(receive_text(rank));
    return texts;
  }

  [[nodiscard]] std::string scatter_texts(const std::vector<std::string>& texts) override {
    ++call_;
    if (rank() != 0) return receive_text(0);
    for (int rank = 1; rank < size(); ++rank) {
      send(rank, std::as_bytes(std::span{texts.at(static_cast<std::size_t>(rank))}));
    }
    return texts.front();
  }

  void combine(std::span<double> values, Combine how) override {
    ++call_;
    const auto bytes = std::as_writable_bytes(values);
    if (rank() != 0) {
      send(0, bytes);
      return receive(0, bytes);
    }
    std::vector<double> theirs(values.size());
    for (int rank = 1; rank < size(); ++rank) {
      receive(rank, std::as_writable_bytes(std::span{theirs}));
      std::ranges::transform(values, theirs, values.begin(), [&](double a, double b) {
        return how == Combine::Min ? std::min(a, b) : how == Combine::Max ? std::max(a, b) : a + b;
      });
    }
    send_to_all(bytes);
  }

  [[nodiscard]] std::unique_ptr<Bootstrap> split(int color) override;

  [[noreturn]] void abort(int exit_code) override {
    monitor_->abort_all(exit_code);
    std::_Exit(exit_code);
  }

 private:
  [[nodiscard]] const Socket& link(int rank) const {
    return sockets_.at(static_cast<std::size_t>(rank));
  }

  [[noreturn]] void lose(int rank) const {
    if (deadline_ && Clock::now() >= *deadline_) {
      throw Error{Status::Runtime,
                  fmt::format("timeout: no answer from rank {} while the ranks met at {}", rank,
                              rendezvous_.address.text())};
    }
    // PeerMonitor notices, too, and reports more.
    constexpr timespec kWhile{.tv_sec = 3, .tv_nsec = 0};
    nanosleep(&kWhile, nullptr);
    throw runtime_failure(fmt::format("the connection to rank {} has ended", rank));
  }

  void send(int to, std::span<const std::byte> bytes) const {
    const Head head{.call = call_, .bytes = bytes.size()};
    std::vector<std::byte> message(sizeof head + bytes.size());
    std::memcpy(message.data(), &head, sizeof head);
    std::ranges::copy(bytes, message.begin() + sizeof head);
    if (!link(to).send(message, deadline_)) lose(to);
  }

  void receive(int from, std::span<std::byte> bytes) const {
    check_call(from, receive_head(from) == bytes.size());
    receive_rest(from, bytes);
  }

  [[nodiscard]] std::string receive_text(int from) const {
    const std::uint64_t size = receive_head(from);
    check_length(size);
    std::string text(size, '\0');
    receive_rest(from, std::as_writable_bytes(std::span{text}));
    return text;
  }

  /// The number of bytes that follow.
  [[nodiscard]] std::uint64_t receive_head(int from) const {
    Head head;
    receive_rest(from, std::as_writable_bytes(std::span{&head, 1}));
    check_call(from, head.call == call_);
    return head.bytes;
  }

  void receive_rest(int from, std::span<std::byte> bytes) const {
    if (!link(from).receive(bytes, deadline_)) lose(from);
  }

  void check_call(int from, bool is_same) const {
    if (is_same) return;
    throw runtime_failure(fmt::format("ranks {} and {} are at different calls", rank(), from));
  }

  void send_to_all(std::span<const std::byte> bytes) const {
    for (int rank = 1; rank < size(); ++rank) send(rank, bytes);
  }

  /// Ranks are on one node that have the kernel and the host's name in common: containers of a host
  /// with names of their own are hosts of their own.
  void map_nodes() {
    nodes_ = NodeMap::numbered(gather_texts(fmt::format("{} {}", boot_id().data(), host_name())));
    nodes_.of_rank.resize(static_cast<std::size_t>(size()));
    broadcast_bytes(std::as_writable_bytes(std::span{nodes_.of_rank}), 0);
    broadcast(nodes_.count);
  }

  /// Rank 0's end of a connection to another host where there is one, else to this.
  [[nodiscard]] std::string root_host() const {
    std::string host;
    for (const Socket& socket : sockets_) {
      if (!socket.is_open()) continue;
      host = socket.own_host();
      if (!is_loopback(host)) break;
    }
    return host;
  }

  /// This end of the connection to rank 0; on rank 0's own host, where that may be a loopback
  /// address, what rank 0 has.
  void find_address() {
    std::string root = rank() == 0 ? root_host() : "";
    broadcast_text(root);
    const std::string own = rank() == 0 ? "" : link(0).own_host();
    address_ = own.empty() || is_loopback(own) ? root : own;
  }

  Sockets sockets_;
  Rendezvous rendezvous_;
  std::shared_ptr<PeerMonitor> monitor_;
  std::optional<Clock::time_point> deadline_{};
  std::string address_{};
  NodeMap nodes_{};
  std::uint64_t call_ = 0;
};

Sockets sockets_of(RankAcceptor& acceptor) {
  Sockets sockets(1);
  for (JoinedRank& rank : acceptor.take(Channel::Collectives)) {
    sockets.push_back(std::move(rank.socket));
  }
  return sockets;
}

Sockets join_collectives(const Rendezvous& rendezvous, Seconds timeout) {
  Sockets sockets;
  sockets.push_back(join_root(rendezvous, Channel::Collectives, timeout).socket);
  return sockets;
}

std::unique_ptr<Bootstrap> TcpBootstrap::split(int color) {
  struct Mine {
    int color = 0;
    std::uint16_t port = 0;
    std::array<char, 64> host{};
  };
  // Every rank listens, since it does not yet know whether it is the lowest of its part.
  Socket listener = listen_at({.host = is_loopback(address_) ? address_ : "", .port = 0});
  Mine mine{.color = color, .port = listener.own_port()};
  copy_text(address_, mine.host);
  const std::vector<Mine> all = gather(mine);
  Rendezvous part = rendezvous_;
  part.ranks = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].color != color) continue;
    if (part.ranks == 0) part.address = {.host = all[rank].host.data(), .port = all[rank].port};
    if (rank == static_cast<std::size_t>(rendezvous_.rank)) part.rank = part.ranks;
    ++part.ranks;
  }
  constexpr Seconds kLongest{60};
  Sockets sockets;
  if (part.rank != 0) {
    sockets = join_collectives(part, kLongest);
  } else {
    JoinListener ranks(std::move(listener), part, [](const std::string&) {});
    RankAcceptor acceptor(ranks, part.ranks, {Channel::Collectives});
    acceptor.wait(part.address, kLongest);
    sockets = sockets_of(acceptor);
  }
  auto members = std::make_unique<TcpBootstrap>(std::move(sockets), part, monitor_);
  members->meet(kLongest);
  return members;
}

std::unique_ptr<Bootstrap> meet(Sockets sockets, const Rendezvous& rendezvous,
                                const std::shared_ptr<PeerMonitor>& monitor, Seconds timeout) {
  auto job = std::make_unique<TcpBootstrap>(std::move(sockets), rendezvous, monitor);
  try {
    job->meet(timeout);
  } catch (const Error& error) {
    monitor->stop_and_abort_all(exit_code(error.status()));  // who would wait for this rank
    throw;
  }
  return job;
}

std::unique_ptr<Bootstrap> join_as_first(const Rendezvous& rendezvous, Seconds timeout,
                                         TcpEvents events) {
  allow_descriptors();
  auto listener =
      std::make_unique<JoinListener>(listen_at(rendezvous.address), rendezvous, events.notice);
  RankAcceptor acceptor(*listener, rendezvous.ranks, {Channel::Collectives, Channel::Monitor});
  try {
    acceptor.wait(rendezvous.address, timeout);
  } catch (const Error& error) {
    PeerMonitor(0, rendezvous.ranks, acceptor.take(Channel::Monitor), nullptr, events)
        .stop_and_abort_all(exit_code(error.status()));
    throw;
  }
  Sockets sockets = sockets_of(acceptor);
  const auto monitor = std::make_shared<PeerMonitor>(
      0, rendezvous.ranks, acceptor.take(Channel::Monitor), std::move(listener), std::move(events));
  return meet(std::move(sockets), rendezvous, monitor, timeout);
}

std::unique_ptr<Bootstrap> join_as_other(const Rendezvous& rendezvous, Seconds timeout,
                                         TcpEvents events) {
  std::vector<JoinedRank> peers;
  peers.push_back(join_root(rendezvous, Channel::Monitor, timeout));
  // The first call waits until all ranks have joined; rank 0 aborts it after the timeout.
  const auto monitor = std::make_shared<PeerMonitor>(rendezvous.rank, rendezvous.ranks,
                                                     std::move(peers), nullptr, std::move(events));
  constexpr Seconds kLater{2};  // than rank 0, which knows who is missing
  return meet(join_collectives(rendezvous, timeout), rendezvous, monitor, timeout + kLater);
}

}  // namespace

std::unique_ptr<Bootstrap> join_by_tcp(const Rendezvous& rendezvous, Seconds timeout,
                                       TcpEvents events) {
  if (rendezvous.starter > 0) end_with_parent(rendezvous.starter);
  return rendezvous.rank == 0 ? join_as_first(rendezvous, timeout, std::move(events))
                              : join_as_other(rendezvous, timeout, std::move(events));
}

}  // namespace busbar
