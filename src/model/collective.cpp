// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

#include <algorithm>
#include <utility>

namespace busbar {
namespace {

/// Function-local, so that it exists before the first registration of any file.
std::vector<const Collective*>& registry() {
  static std::vector<const Collective*> collectives;
  return collectives;
}

constexpr Bytes kAlignment = 16;  // nccl-tests rounds what each rank sends down to 16 bytes

}  // namespace

RegisteredCollective::RegisteredCollective(const Collective& collective) {
  registry().push_back(&collective);
}

std::vector<const Collective*> registered_collectives() {
  std::vector<const Collective*> sorted = registry();
  std::sort(sorted.begin(), sorted.end(),
            [](const Collective* a, const Collective* b) { return a->name < b->name; });
  return sorted;
}

Footprint same_everywhere(Bytes wanted, Bytes element, int /*ranks*/) {
  const std::uint64_t count = wanted / element;
  return {
      .size = count * element, .send = count * element, .recv = count * element, .count = count};
}

std::uint64_t count_per_rank(Bytes wanted, Bytes element, int ranks) {
  const Bytes per_rank = wanted / static_cast<Bytes>(ranks);
  return per_rank / kAlignment * kAlignment / element;
}

Footprint parts_to_whole(Bytes wanted, Bytes element, int ranks) {
  const std::uint64_t count = count_per_rank(wanted, element, ranks);
  const Bytes whole = count * element * static_cast<Bytes>(ranks);
  return {.size = whole, .send = count * element, .recv = whole, .count = count};
}

Footprint whole_to_parts(Bytes wanted, Bytes element, int ranks) {
  Footprint footprint = parts_to_whole(wanted, element, ranks);
  std::swap(footprint.send, footprint.recv);
  return footprint;
}

InPlace same_place(std::uint64_t /*count*/, int /*rank*/) { return {}; }

InPlace send_own_part(std::uint64_t count, int rank) {
  return {.send_offset = count * static_cast<std::uint64_t>(rank)};
}

InPlace receive_own_part(std::uint64_t count, int rank) {
  return {.recv_offset = count * static_cast<std::uint64_t>(rank)};
}

std::vector<Piece> one_part_per_rank(std::uint64_t count, int ranks, std::uint64_t source_first) {
  std::vector<Piece> pieces;
  pieces.reserve(static_cast<std::size_t>(ranks));
  for (int source = 0; source < ranks; ++source) {
    pieces.push_back({.first = count * static_cast<std::uint64_t>(source),
                      .count = count,
                      .source = source,
                      .source_first = source_first});
  }
  return pieces;
}

double once(int ranks) { return ranks > 1 ? 1 : 0; }

double all_but_own_part(int ranks) { return (ranks - 1.0) / ranks; }

LeastWork whole_at_all(int ranks, bool in_place) {
  return {.copied = ranks - (in_place ? 1.0 : 0.0), .touched = ranks + (in_place ? 0.0 : 1.0)};
}

LeastWork parts_at_one(int ranks, bool in_place) {
  const double part = 1.0 / ranks;
  return {.copied = in_place ? 1 - part : 1, .touched = in_place ? 2 - part : 2};
}

LeastWork one_of_all(int ranks, bool in_place) {
  return {.reduced = ranks - 1.0, .touched = ranks + (in_place ? 0.0 : 1.0)};
}

}  // namespace busbar
