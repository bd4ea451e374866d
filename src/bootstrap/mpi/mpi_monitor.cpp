// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/mpi/mpi_monitor.hpp"

#include <random>
#include <sched.h>

#include <fmt/format.h>
#include <mpi.h>

#include "base/error.hpp"
#include "bootstrap/mpi/mpi_calls.hpp"

namespace busbar {
namespace {

/// Where rank 0 listens, as it is sent to the others by MPI.
struct MonitorOffer {
  std::uint16_t port = 0;  // 0: nowhere
  std::array<char, 40> token{};
  std::array<std::array<char, 64>, 6> hosts{};
};

constexpr const char* kLoopback = "127.0.0.1";

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

Rendezvous rendezvous_of(const Bootstrap& world, const MonitorOffer& offer) {
  return {.address = {.port = offer.port},
          .rank = world.rank(),
          .ranks = world.size(),
          .token = offer.token.data(),
          .source = "MPI"};
}

/// Null where this rank cannot listen, which no run depends on.
std::unique_ptr<JoinListener> open_listener(const Bootstrap& world, MonitorOffer& offer) {
  const bool one_node = world.nodes() == 1;
  try {
    Socket socket = listen_at({.host = one_node ? kLoopback : "", .port = 0});
    copy_text(random_token(), offer.token);
    const auto hosts = one_node ? std::vector<std::string>{} : own_addresses();
    const std::size_t count = std::min(hosts.size(), offer.hosts.size());
    for (std::size_t i = 0; i < count; ++i) copy_text(hosts[i], offer.hosts.at(i));
    offer.port = socket.own_port();
    allow_descriptors();
    return std::make_unique<JoinListener>(std::move(socket), rendezvous_of(world, offer),
                                          [](const std::string&) {});
  } catch (const Error&) {
    offer.port = 0;
    return nullptr;
  }
}

/// Completes once every rank has tried to connect.
MPI_Request tried(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(comm, &request));
  return request;
}

/// Lets ranks in until all others have tried.
std::vector<JoinedRank> receive(JoinListener& listener, MPI_Comm comm) {
  std::vector<JoinedRank> joined;
  const auto refusal = [&](const JoinedRank& rank) {
    return std::ranges::count(joined, rank.rank, &JoinedRank::rank) > 0 ? "it has joined" : "";
  };
  MPI_Request all_have_tried = tried(comm);
  for (int done = 0; done == 0; sched_yield()) {
    for (JoinedRank& rank : listener.serve(refusal)) joined.push_back(std::move(rank));
    check_mpi(MPI_Test(&all_have_tried, &done, MPI_STATUS_IGNORE));
  }
  return joined;
}

/// An address that this host has, too, is not rank 0's where that is on another: a container
/// bridge's.
std::vector<std::string> hosts_to_try(const Bootstrap& world, const MonitorOffer& offer) {
  std::vector<std::string> hosts;
  if (world.node() == 0) hosts.emplace_back(kLoopback);
  const std::vector<std::string> own = own_addresses();
  for (const auto& host : offer.hosts) {
    const std::string text = host.data();
    if (!text.empty() && (world.node() == 0 || !contains(own, text))) hosts.push_back(text);
  }
  return hosts;
}

/// The connection to rank 0, if there is a way.
std::vector<PeerMonitor::Peer> connect_to_root(const Bootstrap& world, const MonitorOffer& offer) {
  // A network may drop what is sent to a port. Rank 0 needs a millisecond for each rank.
  const Seconds patience = Seconds{1} + world.size() * Seconds{0.002};
  Rendezvous rendezvous = rendezvous_of(world, offer);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(2 * patience);
  for (const std::string& host : hosts_to_try(world, offer)) {
    rendezvous.address.host = host;
    PeerMonitor::Peer root;
    const auto own_end = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
    auto socket = try_root(rendezvous, Channel::Monitor, std::min(own_end, end), root.host);
    if (!socket) continue;
    root.socket = std::move(*socket);
    std::vector<PeerMonitor::Peer> peers;
    peers.push_back(std::move(root));
    return peers;
  }
  return {};
}

}  // namespace

std::unique_ptr<PeerMonitor> start_monitor(Bootstrap& world, std::optional<TcpEvents> events) {
  if (world.size() == 1) return nullptr;
  MonitorOffer offer;
  std::unique_ptr<JoinListener> listener;
  if (world.rank() == 0 && events) listener = open_listener(world, offer);
  world.broadcast(offer);
  if (offer.port == 0) return nullptr;
  MPI_Comm comm = mpi_comm_of(world);
  std::vector<PeerMonitor::Peer> peers;
  if (listener) {
    peers = PeerMonitor::peers_of(receive(*listener, comm));
  } else {
    if (events) peers = connect_to_root(world, offer);
    MPI_Request all_have_tried = tried(comm);
    complete(all_have_tried, Progress::Yield);
  }
  if (!events) return nullptr;
  return std::make_unique<PeerMonitor>(world.rank(), world.size(), std::move(peers), nullptr,
                                       std::move(*events));
}

}  // namespace busbar
