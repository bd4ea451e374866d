// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/text.hpp"

namespace busbar {
namespace {

using Pieces = std::vector<Piece>;

/// Whole elements; every rank sends and receives as much.
Footprint same_everywhere(const Amount& amount) {
  const std::uint64_t count = amount.wanted / amount.element;
  const Bytes size = count * amount.element;
  return {.size = size, .send = size, .recv = size, .count = count};
}

/// Each rank sends a part, one rank or all receive all parts.
Footprint parts_to_whole(const Amount& amount) {
  constexpr Bytes kAlignment = 16;  // nccl-tests rounds what each rank sends down to 16 bytes
  const auto ranks = static_cast<Bytes>(amount.ranks);
  const std::uint64_t count = amount.wanted / ranks / kAlignment * kAlignment / amount.element;
  const Bytes part = count * amount.element;
  return {.size = part * ranks, .send = part, .recv = part * ranks, .count = count};
}

/// A rank sends all parts, each rank receives one.
Footprint whole_to_parts(const Amount& amount) {
  Footprint footprint = parts_to_whole(amount);
  std::swap(footprint.send, footprint.recv);
  return footprint;
}

Footprint parts_to_parts(const Amount& amount) {
  Footprint footprint = parts_to_whole(amount);
  footprint.send = footprint.recv;
  return footprint;
}

/// Each rank sends each as much as the distribution has for the two. The count is of a part if they
/// were equal, as nccl-tests' is, and times ranks never less than a rank has.
Footprint unequal_parts(const Amount& amount) {
  const auto traffic = std::make_shared<const Traffic>(
      traffic_of(*amount.distribution, amount.wanted, amount.element, amount.ranks));
  const auto ranks = static_cast<std::uint64_t>(amount.ranks);
  const std::uint64_t equal = parts_to_whole(amount).count;
  return {.size = traffic->most() * amount.element,
          .send = traffic->most_sent() * amount.element,
          .recv = traffic->most_received() * amount.element,
          .count = std::max(traffic->most() > 0 ? equal : 0, (traffic->most() + ranks - 1) / ranks),
          .traffic = traffic};
}

/// (n - 1) / n: each rank keeps its own part.
double others_share(int ranks) { return (ranks - 1.0) / ranks; }
double twice_others_share(int ranks) { return 2 * others_share(ranks); }
/// 1: what a rank has crosses its bus once.
double once(int ranks) { return ranks > 1 ? 1 : 0; }
/// 1: a copy crosses the bus between its GPU and the host, however many GPUs there are.
double always_once(int /*ranks*/) { return 1; }

std::uint64_t part_of(std::uint64_t count, int rank) {
  return count * static_cast<std::uint64_t>(rank);
}

InPlace send_own_part(std::uint64_t count, int rank) {
  return {.send_offset = part_of(count, rank)};
}
InPlace receive_own_part(std::uint64_t count, int rank) {
  return {.recv_offset = part_of(count, rank)};
}

/// The parts of all ranks in their order, `source_first` into what each of them sends.
Pieces one_part_per_rank(std::uint64_t count, int ranks, std::uint64_t source_first) {
  Pieces pieces;
  pieces.reserve(static_cast<std::size_t>(ranks));
  for (int source = 0; source < ranks; ++source) {
    pieces.push_back({.first = part_of(count, source),
                      .count = count,
                      .source = source,
                      .source_first = source_first});
  }
  return pieces;
}

Pieces reduction(std::uint64_t count, const Position& /*position*/) { return {{.count = count}}; }
Pieces reduction_at_root(std::uint64_t count, const Position& position) {
  return position.rank == position.root ? reduction(count, position) : Pieces{};
}
Pieces part_of_reduction(std::uint64_t count, const Position& position) {
  return {{.count = count, .source_first = part_of(count, position.rank)}};
}
Pieces all_of_root(std::uint64_t count, const Position& position) {
  return {{.count = count, .source = position.root}};
}
Pieces part_of_root(std::uint64_t count, const Position& position) {
  return {{.count = count, .source = position.root, .source_first = part_of(count, position.rank)}};
}
Pieces all_parts(std::uint64_t count, const Position& position) {
  return one_part_per_rank(count, position.ranks, 0);
}
Pieces all_parts_at_root(std::uint64_t count, const Position& position) {
  return position.rank == position.root ? all_parts(count, position) : Pieces{};
}
Pieces own_part_of_each(std::uint64_t count, const Position& position) {
  return one_part_per_rank(count, position.ranks, part_of(count, position.rank));
}

Pieces part_of_each_sender(std::uint64_t /*count*/, const Position& position) {
  const Traffic& traffic = *position.traffic;
  Pieces pieces;
  std::uint64_t first = 0;
  for (int source = 0; source < position.ranks; ++source) {
    const std::uint64_t count = traffic.count(source, position.rank);
    pieces.push_back({.first = first,
                      .count = count,
                      .source = source,
                      .source_first = traffic.send_offset(source, position.rank)});
    first += count;
  }
  return pieces;
}

/// To the next rank and from the one before; or of a pair the one way.
Peers ring_or_pair(const Position& position) {
  const int rank = position.rank;
  const int ranks = position.ranks;
  if (!position.pair) return {.to = (rank + 1) % ranks, .from = (rank + ranks - 1) % ranks};
  const auto [sender, receiver] = *position.pair;
  return {.to = rank == sender ? receiver : -1, .from = rank == receiver ? sender : -1};
}

Pieces what_peer_sends(std::uint64_t count, const Position& position) {
  const int source = ring_or_pair(position).from;
  return source < 0 ? Pieces{} : Pieces{{.count = count, .source = source}};
}

MinTraffic all_reduce_traffic(int ranks, bool in_place) {
  return {.copied = ranks - 1.0, .reduced = ranks - 1.0, .touched = ranks * (in_place ? 1.0 : 2.0)};
}
/// n ranks end with the whole, which is the sum of their parts or one rank's: out of place all copy
/// all of it, in place one size of it is where it belongs.
MinTraffic gather_to_all_traffic(int ranks, bool in_place) {
  return {.copied = ranks - (in_place ? 1.0 : 0.0), .touched = ranks + (in_place ? 0.0 : 1.0)};
}
/// One rank has the whole, in parts that others have the other end of.
MinTraffic parts_at_root_traffic(int ranks, bool in_place) {
  const double part = 1.0 / ranks;
  return {.copied = in_place ? 1 - part : 1, .touched = in_place ? 2 - part : 2};
}
/// n wholes become one: n - 1 additions, whose last writes the result where it belongs.
MinTraffic reduction_traffic(int ranks, bool in_place) {
  return {.reduced = ranks - 1.0, .touched = ranks + (in_place ? 0.0 : 1.0)};
}
/// Out of place a rank's own part is copied too.
MinTraffic all_to_all_traffic(int ranks, bool in_place) {
  return {.copied = ranks - (in_place ? 1.0 : 0.0), .touched = ranks * (in_place ? 1.0 : 2.0)};
}
MinTraffic send_receive_traffic(int ranks, bool in_place) {
  return {.copied = 1.0 * ranks, .touched = (in_place ? 1.0 : 2.0) * ranks};
}

// An entry with a footprint has a program: the Makefile lists them.
constexpr auto kCollectives = std::to_array<Collective>({
    {.name = "allreduce",
     .nccl_name = "all_reduce",
     .title = "all-reduce",
     .reduces = true,
     .elementwise = true,
     .bus_factor = twice_others_share,
     .footprint = same_everywhere,
     .expected = reduction,
     .min_traffic = all_reduce_traffic},
    {.name = "allgather",
     .nccl_name = "all_gather",
     .title = "all-gather",
     .movement = Movement::Parts,
     .counts_parts = true,
     .others_size_part = true,
     .bus_factor = others_share,
     .footprint = parts_to_whole,
     .in_place = send_own_part,
     .expected = all_parts,
     .min_traffic = gather_to_all_traffic},
    {.name = "reducescatter",
     .nccl_name = "reduce_scatter",
     .title = "reduce-scatter",
     .movement = Movement::Parts,
     .reduces = true,
     .counts_parts = true,
     .bus_factor = others_share,
     .footprint = whole_to_parts,
     .in_place = receive_own_part,
     .expected = part_of_reduction,
     .min_traffic = reduction_traffic},
    {.name = "broadcast",
     .movement = Movement::Chain,
     .rooted = true,
     .elementwise = true,
     .bus_factor = once,
     .footprint = same_everywhere,
     .expected = all_of_root,
     .min_traffic = gather_to_all_traffic},
    {.name = "reduce",
     .movement = Movement::Chain,
     .reduces = true,
     .rooted = true,
     .elementwise = true,
     .bus_factor = once,
     .footprint = same_everywhere,
     .expected = reduction_at_root,
     .min_traffic = reduction_traffic},
    {.name = "alltoall",
     .title = "all-to-all",
     .movement = Movement::AllToAll,
     .counts_parts = true,
     .checks_in_place = false,
     .had_empty_redop = true,
     .others_size_part = true,
     .bus_factor = others_share,
     .footprint = parts_to_parts,
     .expected = own_part_of_each,
     .min_traffic = all_to_all_traffic},
    {.name = "alltoallv",
     .movement = Movement::AllToAll,
     .equal_parts = false,
     .checks_in_place = false,
     .others_size_part = true,
     .bus_factor = others_share,
     .footprint = unequal_parts,
     .expected = part_of_each_sender},
    {.name = "gather",
     .movement = Movement::Gather,
     .rooted = true,
     .counts_parts = true,
     .others_size_part = true,
     .bus_factor = others_share,
     .footprint = parts_to_whole,
     .in_place = send_own_part,
     .expected = all_parts_at_root,
     .min_traffic = parts_at_root_traffic},
    {.name = "scatter",
     .movement = Movement::Scatter,
     .rooted = true,
     .counts_parts = true,
     .others_size_part = true,
     .bus_factor = others_share,
     .footprint = whole_to_parts,
     .in_place = receive_own_part,
     .expected = part_of_root,
     .min_traffic = parts_at_root_traffic},
    {.name = "sendrecv",
     .title = "send-receive",
     .movement = Movement::SendReceive,
     .elementwise = true,
     .checks_in_place = false,
     .bus_factor = once,
     .footprint = same_everywhere,
     .expected = what_peer_sends,
     .peers = ring_or_pair,
     .min_traffic = send_receive_traffic},
    {.name = "hosttodevice",
     .nccl_name = "host_to_device",
     .title = "host-to-device",
     .movement = Movement::HostCopy,
     .equal_parts = false,
     .bus_factor = always_once},
    {.name = "devicetohost",
     .nccl_name = "device_to_host",
     .title = "device-to-host",
     .movement = Movement::HostCopy,
     .equal_parts = false,
     .bus_factor = always_once},
});

/// Letters in lower case; anything else only separates.
std::string letters_of(std::string_view word) {
  std::string letters = lower(word);
  std::erase_if(letters, [](unsigned char code) { return std::isalpha(code) == 0; });
  return letters;
}

}  // namespace

double bus_factor_of(const Collective& collective, int ranks, const Traffic* traffic) {
  return traffic == nullptr ? collective.bus_factor(ranks) : traffic->port_share();
}

MinTraffic min_traffic_of(const Collective& collective, int ranks, bool in_place,
                          const Traffic* traffic) {
  if (traffic == nullptr) return collective.min_traffic(ranks, in_place);
  const double moved = static_cast<double>(traffic->total()) / static_cast<double>(traffic->most());
  return {.copied = moved, .touched = 2 * moved};
}

std::span<const Collective> all_collectives() { return kCollectives; }

std::vector<const Collective*> measured_collectives() {
  auto all = mapped(kCollectives, [](const Collective& each) { return &each; });
  std::erase_if(all, [](const Collective* each) { return !each->is_measured(); });
  return all;
}

std::vector<std::string> collective_names() {
  return mapped<std::string>(kCollectives, &Collective::name);
}

const Collective* find_collective(std::string_view word) {
  const std::size_t slash = word.rfind('/');
  if (slash != std::string_view::npos) word.remove_prefix(slash + 1);
  if (word.starts_with("osu_")) word.remove_prefix(4);
  const std::size_t perf = word.find("_perf");
  if (perf != std::string_view::npos) word = word.substr(0, perf);
  std::string name = letters_of(word);
  if (name == "bcast") name = "broadcast";
  if (name == "alltoallpersonalizedexchange") name = "alltoall";
  return find_by(kCollectives, name, &Collective::name);
}

std::string collective_name(const std::string& collective) {
  const Collective* known = find_collective(collective);
  return known == nullptr ? collective : std::string(known->title);
}

}  // namespace busbar
