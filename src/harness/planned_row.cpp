// SPDX-License-Identifier: BSD-3-Clause
#include "harness/planned_row.hpp"

#include <tuple>

#include "base/random.hpp"

namespace busbar {
namespace {

/// A row of each sweep of a round, in their order. Every group has the roots.
std::vector<PlannedRow> sweeps_of(const Options& options, const Collective& collective,
                                  int smallest_group) {
  const std::vector<ReduceOp> ops =
      collective.reduces ? options.ops : std::vector<ReduceOp>{ReduceOp::None};
  std::vector<int> roots{0};
  if (collective.rooted && options.root) roots = {*options.root};
  if (collective.rooted && !options.root) {
    roots = first_numbers(static_cast<std::size_t>(smallest_group));
  }
  std::vector<std::optional<Pair>> pairs{std::nullopt};
  if (options.pairs == Pairs::All) {
    pairs = {Pair{.sender = 0, .receiver = 1}, Pair{.sender = 1, .receiver = 0}};
  }
  std::vector<PlannedRow> sweeps;
  for (const DataType type : options.types) {
    for (const ReduceOp op : ops) {
      for (const int root : roots) {
        for (const auto& pair : pairs) {
          sweeps.push_back(
              {.collective = &collective, .type = type, .op = op, .root = root, .pair = pair});
        }
      }
    }
  }
  return sweeps;
}

/// The rows of one sweep.
std::vector<PlannedRow> rows_of(const Options& options, const std::vector<Bytes>& sizes) {
  const std::size_t variants = options.vary ? options.vary->values.size() : 1;
  std::vector<bool> together{false};
  if (options.loads_beside()) together.push_back(true);
  std::vector<bool> placements{false, true};
  if (options.placement != Placement::Both) placements = {options.placement == Placement::In};
  std::vector<PlannedRow> rows;
  for (std::size_t size = 0; size < sizes.size(); ++size) {
    for (std::size_t variant = 0; variant < variants; ++variant) {
      for (const bool in_place : placements) {
        for (const bool with_load : together) {
          rows.push_back({.size = size,
                          .wanted = sizes[size],
                          .variant = variant,
                          .in_place = in_place,
                          .together = with_load});
        }
      }
    }
  }
  return rows;
}

std::vector<PlannedRow> rows_of_mix(const Options& options, const std::vector<MixGroup>& groups) {
  std::vector<PlannedRow> rows;
  for (const MixGroup& group : groups) {
    rows.push_back({.position = rows.size(),
                    .sweep = rows.size(),
                    .collective = group.collective,
                    .wanted = group.size,
                    .type = options.types.front(),
                    .op = group.collective->reduces ? options.ops.front() : ReduceOp::None,
                    .root = group.root,
                    .together = true});
  }
  return rows;
}

}  // namespace

std::vector<PlannedRow> plan_rows(const Options& options, const Collective& collective,
                                  const GroupPlan& plan) {
  if (!plan.mixed.empty()) return rows_of_mix(options, plan.mixed);
  constexpr std::size_t kMost = 1U << 21U;
  const auto sweeps = sweeps_of(options, collective, plan.group_sizes().first);
  const auto each = rows_of(options, options.sweep.sizes());
  if (const std::size_t count = plan.rounds.size() * sweeps.size() * each.size(); count > kMost) {
    throw usage_error("{} rows, of {} at most; give fewer sizes, types, roots or groups", count,
                      kMost);
  }
  std::vector<PlannedRow> rows;
  for (std::size_t round = 0; round < plan.rounds.size(); ++round) {
    for (std::size_t sweep = 0; sweep < sweeps.size(); ++sweep) {
      for (const PlannedRow& of_size : each) {
        PlannedRow row = sweeps[sweep];
        row.position = rows.size();
        row.round = round;
        row.sweep = round * sweeps.size() + sweep;
        row.size = of_size.size;
        row.wanted = of_size.wanted;
        row.variant = of_size.variant;
        row.in_place = of_size.in_place;
        row.together = of_size.together;
        rows.push_back(row);
      }
    }
  }
  return rows;
}

std::vector<std::size_t> order_of_pass(const Options& options, std::span<const PlannedRow> rows,
                                       std::uint64_t pass) {
  auto order = first_numbers<std::size_t>(rows.size());
  if (options.visits == 1) return order;
  const auto draw = [&](std::uint64_t level, std::size_t part) {
    return splitmix64(splitmix64(splitmix64(options.seed + pass) + level) + part);
  };
  const auto keys = mapped(rows, [&](const PlannedRow& row) {
    const std::uint64_t size = draw(2, row.sweep * rows.size() + row.size);
    return std::tuple(draw(0, row.round), draw(1, row.sweep), size,
                      splitmix64(size + 1 + row.variant), row.position);
  });
  std::ranges::sort(order, {}, [&](std::size_t position) { return keys[position]; });
  return order;
}

}  // namespace busbar
