// SPDX-License-Identifier: BSD-3-Clause
#include "harness/options.hpp"

#include <array>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {
namespace {

template <class T>
std::string or_auto(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "auto";
}

std::string names_of(const std::vector<DataType>& types) {
  std::vector<std::string> names;
  names.reserve(types.size());
  for (const DataType type : types) names.emplace_back(info(type).name);
  return join(names, "+");
}

std::string names_of(const std::vector<ReduceOp>& ops) {
  std::vector<std::string> names;
  names.reserve(ops.size());
  for (const ReduceOp op : ops) names.emplace_back(name(op));
  return join(names, "+");
}

}  // namespace

std::string_view name(Cadence cadence) {
  return cadence == Cadence::Streaming ? "streaming" : "isolated";
}

std::string_view name(Aggregation aggregation) {
  constexpr std::array<std::string_view, 4> kNames{"rank0", "mean", "min", "max"};
  return kNames[static_cast<std::size_t>(aggregation)];
}

std::string_view name(Cache cache) { return cache == Cache::Warm ? "warm" : "rotate"; }

std::string_view name(Pages pages) { return pages == Pages::Huge ? "huge" : "small"; }

std::string_view name(Bind bind) {
  constexpr std::array<std::string_view, 4> kNames{"auto", "none", "core", "numa"};
  return kNames[static_cast<std::size_t>(bind)];
}

std::string_view name(ProgressChoice progress) {
  constexpr std::array<std::string_view, 3> kNames{"auto", "block", "yield"};
  return kNames[static_cast<std::size_t>(progress)];
}

std::string_view name(Placement placement) {
  constexpr std::array<std::string_view, 3> kNames{"both", "in", "out"};
  return kNames[static_cast<std::size_t>(placement)];
}

std::vector<std::string> configuration_words(const Options& o) {
  return {
      "sizes=" + sweep_text(o.sweep),
      fmt::format("types={}", names_of(o.types)),
      fmt::format("ops={}", names_of(o.ops)),
      fmt::format("root={}", o.root ? fmt::format("{}", *o.root) : "all"),
      fmt::format("placement={}", name(o.placement)),
      fmt::format("operations={}", or_auto(o.operations)),
      fmt::format("warmup={}", or_auto(o.warmup_operations)),
      fmt::format("aggregated={}", o.aggregated),
      fmt::format("cycles={}", o.cycles),
      fmt::format("aggregation={}", name(o.aggregation)),
      fmt::format("checks={}", o.checks),
      fmt::format("blocking={}", static_cast<int>(o.blocking)),
      fmt::format("cadence={}", name(o.cadence)),
      fmt::format("ci-width={}", o.ci_width),
      fmt::format("time-budget={}", o.time_budget.count()),
      fmt::format("progress={}", name(o.progress)),
      fmt::format("cache={}", name(o.cache)),
      fmt::format("pages={}", name(o.pages)),
      fmt::format("bind={}", name(o.bind)),
      fmt::format("devices={}", o.devices ? words_of(*o.devices) : "free"),
      fmt::format("seed={}", o.seed),
      fmt::format("graph={}", o.graph_launches),
      fmt::format("registration={}", static_cast<int>(o.registration)),
      fmt::format("cta-policy={}", or_auto(o.cta_policy)),
      fmt::format("unalign={}", o.unalign),
      fmt::format("pairs={}", o.pairs == Pairs::All ? "all" : "off"),
      fmt::format("split={}",
                  o.split ? fmt::format("{}:{}", static_cast<int>(o.split->rule), o.split->operand)
                          : "none"),
  };
}

}  // namespace busbar
