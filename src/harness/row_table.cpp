// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_table.hpp"

#include "base/random.hpp"
#include "base/text.hpp"

namespace busbar {

std::vector<std::size_t> visiting_order(const Options& options, std::size_t count,
                                        std::uint64_t visit, std::size_t part) {
  auto numbers = first_numbers<std::size_t>(count);
  if (options.visits == 1) return numbers;
  std::uint64_t state = splitmix64(splitmix64(options.seed + visit) + part);
  for (std::size_t left = count; left > 1; --left) {
    state = splitmix64(state);
    std::swap(numbers[left - 1], numbers[state % left]);
  }
  return numbers;
}

std::vector<SweepKey> RowTable::sweeps(std::size_t round, std::uint64_t pass) const {
  std::vector<SweepKey> sweeps = sweeps_of(options_, collective_, plan_.group_sizes().first);
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    (options_.visits > 1 ? sweeps[i].visit : sweeps[i].cycle) = pass;
    sweeps[i].round = round;
    sweeps[i].part = round * sweeps.size() + i;
  }
  return sweeps;
}

RowVisit RowTable::place(const SweepKey& key, std::size_t size, bool in_place) const {
  const bool both = options_.placement == Placement::Both;
  const std::size_t position = (key.part * sizes_.size() + size) * variants() + key.variant;
  return {.position = both ? 2 * position + (in_place ? 1 : 0) : position, .visit = key.visit};
}

Record RowTable::blank(const SweepKey& key, const Footprint& footprint, Bytes wanted, bool in_place,
                       const RankGroup* group) const {
  Record record = blank_record(collective_, key, footprint, wanted, in_place);
  if (options_.vary) record.variant = variant_text(*options_.vary, key.variant);
  if (group == nullptr) return record;
  record.ranks = static_cast<int>(group->ranks.size());
  if (plan_.kind == GroupPlan::Kind::World) return record;
  record.hosts = group->hosts;
  record.group_ranks = format_ranges(group->ranks, ' ');
  record.groups_seed = plan_.seed;
  if (key.pair) {
    record.sender = group->ranks.at(static_cast<std::size_t>(key.pair->sender));
    record.receiver = group->ranks.at(static_cast<std::size_t>(key.pair->receiver));
  } else {
    record.round = plan_.rounds[key.round].number;
    record.group = group->number;
  }
  return record;
}

std::vector<Row> RowTable::blank_rows(const SweepKey& key, std::size_t size, bool in_place) const {
  return mapped(plan_.rounds[key.round].groups, [&](const RankGroup& group) {
    const Footprint footprint =
        collective_.footprint({.wanted = sizes_[size],
                               .element = info(key.type).size,
                               .ranks = static_cast<int>(group.ranks.size()),
                               .distribution = options_.distribution_of(collective_)});
    return Row{.record = blank(key, footprint, sizes_[size], in_place, &group)};
  });
}

bool RowTable::resume(Outputs& outputs, const SweepKey& key, std::size_t size,
                      bool in_place) const {
  std::vector<Row> rows;
  if (outputs.writes()) rows = blank_rows(key, size, in_place);
  return outputs.resume_rows(rows, place(key, size, in_place));
}

template <class Visit>
void RowTable::for_each(std::size_t round, std::uint64_t pass, const Visit& visit) const {
  for (SweepKey key : sweeps(round, pass)) {
    for (std::size_t size = 0; size < sizes_.size(); ++size) {
      for (key.variant = 0; key.variant < variants(); ++key.variant) {
        for (const bool in_place : placements_of(options_.placement)) visit(key, size, in_place);
      }
    }
  }
}

bool RowTable::is_done(Outputs& outputs, std::size_t round, std::uint64_t pass) const {
  std::vector<Row> rows;
  if (outputs.writes()) {
    for_each(round, pass, [&](const SweepKey& key, std::size_t size, bool in_place) {
      if (!outputs.wants(place(key, size, in_place))) return;
      append(rows, blank_rows(key, size, in_place));
    });
  }
  return outputs.has_all(rows);
}

void RowTable::resume_round(Outputs& outputs, std::size_t round, std::uint64_t pass) const {
  for_each(round, pass, [&](const SweepKey& key, std::size_t size, bool in_place) {
    (void)resume(outputs, key, size, in_place);
  });
}

}  // namespace busbar
