// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

#include <algorithm>

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

InPlace same_place(std::uint64_t /*count*/, int /*rank*/) { return {}; }

double all_but_own_part(int ranks) { return (ranks - 1.0) / ranks; }

}  // namespace busbar
