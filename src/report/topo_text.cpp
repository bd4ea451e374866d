// SPDX-License-Identifier: BSD-3-Clause
#include "report/topo_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/text_table.hpp"
#include "topo/locality.hpp"

namespace busbar {
namespace {

using topo::Bound;

constexpr const char* kNoRingMark = " *";
constexpr const char* kNoRing =
    "* no ring closes over NVLink: an upper bound with PCIe and shared memory\n";

/// What the set carries, and over what.
std::string verdict(const Bound& bound) {
  if (bound.devices.size() < 2) return "one device: nothing crosses a link";
  if (!std::isfinite(bound.bound_GBps)) return "nothing is known that limits them";
  const bool assumed = !bound.assumptions.empty();
  const std::string range =
      bound.exact
          ? fmt::format("{} {}", assumed ? "about" : "at most", rate_words(bound.bound_GBps))
          : fmt::format("{}between {} and {} (not exact)", assumed ? "about " : "",
                        rate_words(bound.lower_GBps), rate_words(bound.bound_GBps));
  if (bound.ring_GBps > 0) return fmt::format("{} over {}", range, bound.kind);
  return fmt::format("no ring closes over NVLink; {} over {}{}", range, bound.kind,
                     assumed ? "" : " (upper bound)");
}

std::string assumption_lines(const std::vector<std::string>& assumptions) {
  std::string text;
  for (const std::string& assumption : assumptions) {
    text += fmt::format("  assumed    {}\n", assumption);
  }
  return text;
}

/// The assumptions of several bounds, each once.
class Assumptions {
 public:
  void add(const Bound& bound) {
    for (const std::string& text : bound.assumptions) {
      if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) texts_.push_back(text);
    }
  }
  /// What stands below a table whose figures are marked with "~".
  [[nodiscard]] std::string lines() const {
    if (texts_.empty()) return {};
    return "~ about, because of what no source reports:\n" + assumption_lines(texts_);
  }

 private:
  std::vector<std::string> texts_{};
};

std::string ring_lines(const Bound& bound) {
  constexpr std::size_t kMost = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, bound.rings.size()); ++i) {
    const topo::RatedRing& ring = bound.rings[i];
    std::vector<std::string> words;
    for (const int device : ring.devices) words.push_back(fmt::format("{}", device));
    text += fmt::format("    {:>10}  {}\n", rate_words(ring.GBps), join(words, "→"));
  }
  if (bound.rings.size() > kMost) {
    text += fmt::format("    and {} more\n", bound.rings.size() - kMost);
  }
  return text;
}

/// "450", "~15.75" where it rests on assumptions, "<=300" where it is not exact.
std::string figure(const Bound& bound) {
  const char* mark = !bound.assumptions.empty() ? "~" : bound.exact ? "" : "<=";
  return fmt::format("{}{:.4g}", mark, bound.bound_GBps);
}

}  // namespace

std::string device_words(std::span<const int> devices) {
  constexpr std::size_t kMost = 8;
  if (devices.size() > kMost && std::is_sorted(devices.begin(), devices.end())) {
    return format_ranges({devices.begin(), devices.end()});
  }
  std::vector<std::string> words;
  for (const int device : devices) words.push_back(fmt::format("{}", device));
  return join(words, ",");
}

std::string bound_text(const topo::Graph& graph, const Bound& bound, topo::ConstantSet constants) {
  std::string text =
      fmt::format("{}, devices {}: {}\n", graph.name, device_words(bound.devices), verdict(bound));
  if (bound.devices.size() < 2) return text;
  text += fmt::format("  limit      {}\n", bound.limit);
  text += fmt::format("  cut        {} cross the narrowest cut, each way\n",
                      rate_words(bound.cut_GBps));
  if (bound.in_switch_GBps) {
    text += fmt::format("  in switch  {} for all-reduce where the switch adds (NVLS)\n",
                        rate_words(*bound.in_switch_GBps));
  }
  if (bound.tree_GBps) {
    text += fmt::format("  trees      {} for all-reduce over the network by trees\n",
                        rate_words(*bound.tree_GBps));
  }
  text += fmt::format("  figures    {}, bus bandwidth per direction\n", name(constants));
  text += assumption_lines(bound.assumptions);
  if (!bound.rings.empty()) text += "  rings\n" + ring_lines(bound);
  return text;
}

std::string choice_text(const topo::Graph& graph, const topo::Choice& choice,
                        topo::ConstantSet constants) {
  return choice.reason + "\n" + bound_text(graph, choice.bound, constants);
}

std::string partition_text(const topo::Graph& graph, std::span<const topo::Choice> blocks) {
  std::string text = fmt::format("{}: {} at once\n", graph.name, counted(blocks.size(), "set"));
  for (const topo::Choice& block : blocks) {
    text += fmt::format("  {:<24} {}\n", device_words(block.bound.devices), verdict(block.bound));
  }
  Assumptions assumptions;
  for (const topo::Choice& block : blocks) assumptions.add(block.bound);
  if (!blocks.empty()) text += fmt::format("  {}\n", blocks.front().reason);
  return text + assumptions.lines();
}

std::string classes_text(std::span<const ClassesOfSize> sizes) {
  TextTable table{.columns = {"k", "GB/s", "sets", "over", "for example"}};
  bool any_split = false;
  Assumptions assumptions;
  const auto add = [&](int k, const topo::SetClass& sets, bool split) {
    table.rows.push_back({fmt::format("{}", k), figure(sets.bound), fmt::format("{}", sets.count),
                          sets.bound.kind + (split ? kNoRingMark : ""),
                          device_words(sets.example)});
    any_split = any_split || split;
    assumptions.add(sets.bound);
  };
  for (const ClassesOfSize& size : sizes) {
    for (const topo::SetClass& sets : size.classes) {
      if (sets.fallback.empty()) add(size.k, sets, false);
      for (const topo::SetClass& part : sets.fallback) add(size.k, part, true);
    }
  }
  return plain_table(table) + (any_split ? kNoRing : "") + assumptions.lines();
}

std::string compare_text(std::span<const topo::Comparison> rows, const std::string& heading) {
  TextTable table{.columns = {heading, "devices", "GB/s", "ratio", "over", "limit"}};
  bool any_open = false;
  Assumptions assumptions;
  for (const topo::Comparison& row : rows) {
    const Bound& bound = row.choice.bound;
    const bool open = bound.ring_GBps <= 0;
    any_open = any_open || open;
    table.rows.push_back({row.system, device_words(bound.devices), figure(bound),
                          fmt::format("{:.2f}", row.ratio), bound.kind + (open ? kNoRingMark : ""),
                          bound.limit});
    assumptions.add(bound);
  }
  return plain_table(table) + (any_open ? kNoRing : "") + assumptions.lines();
}

std::string summary_text(const topo::Graph& graph, std::span<const topo::Comparison> sets) {
  std::string text = fmt::format("{}: {}\n\n", graph.name, graph.title);
  if (sets.empty()) return text + "one device: nothing crosses a link\n";
  text += compare_text(sets, "set");
  const Bound& all = sets.front().choice.bound;
  if (all.in_switch_GBps) {
    text +=
        fmt::format("all-reduce of all {}: {}{}, added in the switch (NVLS)\n", all.devices.size(),
                    all.assumptions.empty() ? "" : "about ", rate_words(*all.in_switch_GBps));
  }
  return text;
}

}  // namespace busbar
