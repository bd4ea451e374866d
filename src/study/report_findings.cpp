// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_findings.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/topo_text.hpp"
#include "study/report_data.hpp"
#include "study/report_text.hpp"
#include "study/report_topology.hpp"
#include "topo/choice/sets.hpp"

namespace busbar {
namespace {

/// Whether the first is greater by more than the tolerance.
bool exceeds(double one, double other) { return one - other > kFlat * std::max(one, other); }

/// Rates at one size, by the number of the curve.
using Rates = std::map<std::size_t, double>;

/// The curve of the highest rate, where all others are behind it by more than the level.
std::optional<std::size_t> lone_leader(const Rates& rates, double level) {
  const auto best = std::max_element(
      rates.begin(), rates.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool alone = std::all_of(rates.begin(), rates.end(), [&](const auto& rate) {
    return rate.first == best->first || leader(best->second, rate.second, level) > 0;
  });
  return alone ? std::optional{best->first} : std::nullopt;
}

/// The last size before `until` at which one curve led another; nothing where it never did.
std::optional<Bytes> last_led(const std::map<Bytes, Rates>& sizes, Bytes until, std::size_t one,
                              std::size_t other, double level) {
  std::optional<Bytes> last;
  for (const auto& [size, rates] : sizes) {
    if (size >= until) break;
    const bool both = rates.contains(one) && rates.contains(other);
    if (both && leader(rates.at(one), rates.at(other), level) > 0) last = size;
  }
  return last;
}

std::vector<std::string> collectives_of(const ReportData& data) {
  std::vector<std::string> names;
  for (const ReportPanel& panel : data.panels) {
    if (std::find(names.begin(), names.end(), panel.collective) == names.end()) {
      names.push_back(panel.collective);
    }
  }
  return names;
}

/// The largest size that every line of the collective has; 0 where there is none.
Bytes common_size(const ReportData& data, const std::string& collective) {
  std::vector<Bytes> common;
  bool first = true;
  for (const ReportPanel& panel : data.panels) {
    if (panel.collective != collective) continue;
    const std::vector<Bytes> sizes = sizes_of_all(panel);
    if (first) {
      common = sizes;
    } else {
      common.erase(std::remove_if(common.begin(), common.end(),
                                  [&](Bytes size) {
                                    return std::find(sizes.begin(), sizes.end(), size) ==
                                           sizes.end();
                                  }),
                   common.end());
    }
    first = false;
  }
  return common.empty() ? 0 : common.back();
}

/// The label without what changes with the number of ranks.
std::string scaling_label(const ReportLine& line) {
  std::string label = line.system;
  if (line.key.type != "float" && !line.key.type.empty()) label += ", " + line.key.type;
  if (line.key.fake) label += " (fake GPUs)";
  return label + (line.key.simulated ? " (simulated)" : "");
}

ScalingRow& row_for(Scaling& scaling, const ReportLine& line) {
  const std::string label = scaling_label(line);
  for (ScalingRow& row : scaling.rows) {
    if (row.label == label) return row;
  }
  scaling.rows.push_back({.label = label,
                          .system = line.system,
                          .number = line.number,
                          .simulated = line.key.simulated});
  return scaling.rows.back();
}

void add_panel(Scaling& scaling, const ReportPanel& panel) {
  for (const ReportLine& line : panel.lines) {
    ScalingRow& row = row_for(scaling, line);
    // of several sets or placements at one number of ranks the first stands for the system
    if (!row.ranks.empty() && row.ranks.back() == panel.ranks) continue;
    row.ranks.push_back(panel.ranks);
    row.rates_GBps.push_back(*rate_at(line, scaling.size));
  }
}

bool all_simulated(const ReportPanel& panel) {
  return std::all_of(panel.lines.begin(), panel.lines.end(),
                     [](const ReportLine& line) { return line.key.simulated; });
}

/// Where all of a panel is simulated, that is said once, in front.
std::string where_words(const ReportPanel& panel) {
  return fmt::format("{}{}, {}", all_simulated(panel) ? "simulated " : "",
                     collective_name(panel.collective),
                     counted(static_cast<std::size_t>(panel.ranks), "rank"));
}

const std::string& words_in(const ReportPanel& panel, const ReportLine& line) {
  return all_simulated(panel) ? line.label : line.words;
}

struct Rated {
  std::string words{};
  double GBps = 0;
};

std::vector<Rated> ranking(const ReportPanel& panel, Bytes size) {
  std::vector<Rated> rated;
  for (const ReportLine& line : panel.lines) {
    rated.push_back({.words = words_in(panel, line), .GBps = *rate_at(line, size)});
  }
  std::stable_sort(rated.begin(), rated.end(),
                   [](const Rated& a, const Rated& b) { return a.GBps > b.GBps; });
  return rated;
}

/// "a leads with 130 GB/s, 1.08 times b (120)", or who is level.
std::string ranking_words(const std::vector<Rated>& rated) {
  std::vector<std::string> level;
  std::size_t next = 0;
  while (next < rated.size() && leader(rated.front().GBps, rated[next].GBps) == 0) {
    level.push_back(rated[next++].words);
  }
  const std::string first = format_figure(rated.front().GBps);
  std::string text = level.size() > 1
                         ? fmt::format("{} are level at {} GB/s", join_and(level), first)
                         : fmt::format("{} is fastest with {} GB/s", level.front(), first);
  for (std::size_t i = next; i < rated.size(); ++i) {
    text += fmt::format("{} {} {}", i == next ? "; behind:" : ",", rated[i].words,
                        format_figure(rated[i].GBps));
    if (rated[i].GBps > 0) {
      text += fmt::format(" (1/{:.3g})", rated.front().GBps / rated[i].GBps);
    }
  }
  return text;
}

std::string crossing_words(const ReportPanel& panel, const Crossing& crossing) {
  return fmt::format("{}: {} overtakes {} between {} and {}", where_words(panel),
                     words_in(panel, panel.lines[crossing.winner]),
                     words_in(panel, panel.lines[crossing.loser]), format_bytes(crossing.after),
                     format_bytes(crossing.until));
}

const SizePoint& highest(const ReportLine& line) {
  return *std::max_element(
      line.points.begin(), line.points.end(),
      [](const SizePoint& a, const SizePoint& b) { return a.busbw_GBps < b.busbw_GBps; });
}

/// "b 482 GB/s (16 GiB), a 130 (128 MiB)": the highest rate of each line, wherever it is.
std::string highest_words(const ReportPanel& panel) {
  std::vector<const ReportLine*> lines;
  for (const ReportLine& line : panel.lines) {
    if (!line.points.empty()) lines.push_back(&line);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const ReportLine* a, const ReportLine* b) {
    return highest(*a).busbw_GBps > highest(*b).busbw_GBps;
  });
  std::vector<std::string> parts;
  for (const ReportLine* line : lines) {
    const SizePoint& most = highest(*line);
    parts.push_back(fmt::format("{} {}{} ({})", words_in(panel, *line),
                                format_figure(most.busbw_GBps), parts.empty() ? " GB/s" : "",
                                format_bytes(most.size)));
  }
  return join(parts, ", ");
}

/// Whether all lines end at one size, so that a ranking there is fair.
bool end_alike(const ReportPanel& panel) {
  return std::all_of(panel.lines.begin(), panel.lines.end(), [&](const ReportLine& line) {
    return !line.points.empty() &&
           line.points.back().size == panel.lines.front().points.back().size;
  });
}

/// "20.5 GB/s over 2 ranks, 80.8 over 4".
std::string step_words(const ScalingRow& row) {
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < row.ranks.size(); ++i) {
    steps.push_back(fmt::format("{}{} over {}{}", format_figure(row.rates_GBps[i]),
                                i == 0 ? " GB/s" : "", row.ranks[i], i == 0 ? " ranks" : ""));
  }
  return join(steps, ", ");
}

/// "simulated all-reduce of 1 GiB runs at 20.5 GB/s over 2 ranks, 80.8 over 4: rising".
std::string curve_words(const ReportData& data, const std::string& system) {
  for (const Scaling& scaling : scalings_of(data)) {
    for (const ScalingRow& row : scaling.rows) {
      if (row.system != system) continue;
      const std::string trend =
          row.trend == Trend::None ? std::string() : fmt::format(": {}", name(row.trend));
      return fmt::format("{}{} of {} runs at {}{}", row.simulated ? "simulated " : "",
                         collective_name(scaling.collective), format_bytes(scaling.size),
                         step_words(row), trend);
    }
  }
  return {};
}

/// The size at which the choice of devices matters most.
std::string choice_words(const ReportSystem& system) {
  const SetsOfSize* most = nullptr;
  double factor = kAvoid;
  for (const SetsOfSize& sets : system.sets) {
    if (!sets.best || !sets.worst || sets.worst->bound.bound_GBps <= 0) continue;
    const double now = sets.best->bound.bound_GBps / sets.worst->bound.bound_GBps;
    if (now < factor) continue;
    factor = now;
    most = &sets;
  }
  if (most == nullptr) {
    return system.sets.empty() ? "" : "which devices a job gets makes little difference";
  }
  return fmt::format("of {} {} the best set, {}, has {:.3g} times the bandwidth of the worst, {}",
                     most->k, device_noun(system), topo::describe_set(most->best->bound.devices),
                     factor, topo::describe_set(most->worst->bound.devices));
}

std::string limit_of_all(const ReportSystem& system) {
  if (system.sets.empty() || !system.sets.back().best) return {};
  const topo::Bound& bound = system.sets.back().best->bound;
  const double allreduce = topo::collective_GBps(bound, "allreduce").value_or(0);
  const std::string more =
      allreduce > bound.bound_GBps
          ? fmt::format(", and {} for all-reduce {}", rate_words(allreduce), beyond_rings(bound))
          : "";
  return fmt::format("all {} together reach {}{} ({}){}{}", system.sets.back().k,
                     bound.assumptions.empty() ? "" : "about ", rate_words(bound.bound_GBps),
                     bound.limit, bound.ring_GBps > 0 ? "" : ", with no NVLink ring", more);
}

}  // namespace

std::string_view name(Trend trend) {
  constexpr std::array<std::string_view, 5> kNames{"", "flat", "rising", "falling", "mixed"};
  return kNames.at(static_cast<std::size_t>(trend));
}

double spread_of(std::span<const double> rates_GBps) {
  if (rates_GBps.size() < 2) return 0;
  const auto [least, most] = std::minmax_element(rates_GBps.begin(), rates_GBps.end());
  return *most > 0 ? (*most - *least) / *most : 0;
}

Trend trend_of(std::span<const double> rates_GBps) {
  if (rates_GBps.size() < 2) return Trend::None;
  if (spread_of(rates_GBps) <= kFlat) return Trend::Flat;
  bool rises = false;
  bool falls = false;
  for (std::size_t i = 1; i < rates_GBps.size(); ++i) {
    rises = rises || exceeds(rates_GBps[i], rates_GBps[i - 1]);
    falls = falls || exceeds(rates_GBps[i - 1], rates_GBps[i]);
  }
  const bool ends_higher = exceeds(rates_GBps.back(), rates_GBps.front());
  const bool ends_lower = exceeds(rates_GBps.front(), rates_GBps.back());
  if (!falls && ends_higher) return Trend::Rising;
  if (!rises && ends_lower) return Trend::Falling;
  return Trend::Mixed;
}

int leader(double first_GBps, double second_GBps, double level) {
  const double least = level * std::max(first_GBps, second_GBps);
  if (first_GBps - second_GBps > least) return 1;
  return second_GBps - first_GBps > least ? -1 : 0;
}

std::vector<Crossing> crossings(std::span<const std::vector<SizePoint>> curves, double level) {
  std::map<Bytes, Rates> sizes;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (const SizePoint& rate : curves[i]) sizes[rate.size][i] = rate.busbw_GBps;
  }
  std::vector<Crossing> found;
  std::optional<std::size_t> leads;
  for (const auto& [size, rates] : sizes) {
    if (rates.size() < 2 || (leads && !rates.contains(*leads))) continue;
    const std::optional<std::size_t> now = lone_leader(rates, level);
    if (!now || now == leads) continue;
    if (leads) {
      // A curve that begins beyond its rival's sizes has overtaken no other.
      const auto after = last_led(sizes, size, *leads, *now, level);
      if (after) found.push_back({.after = *after, .until = size, .loser = *leads, .winner = *now});
    }
    leads = now;
  }
  return found;
}

std::vector<Scaling> scalings_of(const ReportData& data) {
  std::vector<Scaling> scalings;
  for (const std::string& collective : collectives_of(data)) {
    Scaling scaling{.collective = collective, .size = common_size(data, collective)};
    if (scaling.size == 0) continue;
    for (const ReportPanel& panel : data.panels) {
      if (panel.collective == collective) add_panel(scaling, panel);
    }
    for (ScalingRow& row : scaling.rows) row.trend = trend_of(row.rates_GBps);
    scalings.push_back(std::move(scaling));
  }
  return scalings;
}

std::vector<Bytes> sizes_of_all(const ReportPanel& panel) {
  std::vector<Bytes> sizes;
  if (panel.lines.empty()) return sizes;
  for (const SizePoint& rate : panel.lines.front().points) {
    const bool all = std::all_of(panel.lines.begin(), panel.lines.end(), [&](const ReportLine& l) {
      return rate_at(l, rate.size).has_value();
    });
    if (all) sizes.push_back(rate.size);
  }
  return sizes;
}

std::vector<std::string> fastest_findings(const ReportData& data) {
  std::vector<std::string> found;
  for (const ReportPanel& panel : data.panels) {
    if (panel.lines.size() < 2) continue;
    if (!end_alike(panel)) {
      found.push_back(
          fmt::format("{}, highest of each: {}", where_words(panel), highest_words(panel)));
    }
    const std::vector<Bytes> sizes = sizes_of_all(panel);
    if (sizes.empty()) {
      found.back() += "; no size is in all curves";
      continue;
    }
    std::vector<Bytes> ends{sizes.back()};
    if (sizes.size() > 1) ends.push_back(sizes.front());
    for (const Bytes size : ends) {
      found.push_back(fmt::format("{}, {}: {}", where_words(panel), format_bytes(size),
                                  ranking_words(ranking(panel, size))));
    }
  }
  return found;
}

std::vector<std::string> crossing_findings(const ReportData& data) {
  std::vector<std::string> found;
  for (const ReportPanel& panel : data.panels) {
    std::vector<std::vector<SizePoint>> curves;
    for (const ReportLine& line : panel.lines) curves.push_back(line.points);
    for (const Crossing& crossing : crossings(curves)) {
      found.push_back(crossing_words(panel, crossing));
    }
  }
  return found;
}

std::optional<double> best_share(const ReportLine& line) {
  if (!line.bound_GBps || line.points.empty()) return std::nullopt;
  return highest(line).busbw_GBps / *line.bound_GBps;
}

std::vector<std::string> share_findings(const ReportData& data) {
  std::vector<std::string> found;
  for (const ReportPanel& panel : data.panels) {
    for (const ReportLine& line : panel.lines) {
      const double share = best_share(line).value_or(1);
      if (share >= kLowShare && share <= kSuspectShare) continue;
      found.push_back(fmt::format(
          "{}: {} reaches {} of its bound{}: {}", where_words(panel), words_in(panel, line),
          format_percent(share), line.limit.empty() ? "" : fmt::format(" ({})", line.limit),
          share < kLowShare ? "low"
                            : "more than the links allow, so the value or the bound is wrong"));
    }
  }
  return found;
}

std::vector<std::string> trend_findings(const ReportData& data) {
  std::vector<std::string> found;
  for (const Scaling& scaling : scalings_of(data)) {
    for (const ScalingRow& row : scaling.rows) {
      if (row.trend == Trend::None) continue;
      std::vector<std::string> steps;
      for (std::size_t i = 0; i < row.ranks.size(); ++i) {
        steps.push_back(fmt::format("{} ({})", format_figure(row.rates_GBps[i]), row.ranks[i]));
      }
      found.push_back(fmt::format("{}, {}: {} is {} with the number of ranks: {} GB/s",
                                  collective_name(scaling.collective), format_bytes(scaling.size),
                                  row.label, name(row.trend), join(steps, ", ")));
    }
  }
  return found;
}

std::vector<std::string> short_findings(const ReportData& data) {
  std::vector<std::string> found;
  // Of the first collective, and of its panels those with most systems.
  std::vector<const ReportPanel*> panels;
  for (const ReportPanel& panel : data.panels) {
    const bool first = panel.collective == data.panels.front().collective;
    if (first && panel.lines.size() > 1) panels.push_back(&panel);
  }
  std::stable_sort(panels.begin(), panels.end(), [](const ReportPanel* a, const ReportPanel* b) {
    return a->lines.size() != b->lines.size() ? a->lines.size() > b->lines.size()
                                              : a->ranks > b->ranks;
  });
  constexpr std::size_t kPanels = 2;
  for (std::size_t i = 0; i < std::min(kPanels, panels.size()); ++i) {
    const ReportData only{.panels = {*panels[i]}};
    found.push_back(fastest_findings(only).front());
    const std::vector<std::string> changes = crossing_findings(only);
    found.insert(found.end(), changes.begin(),
                 changes.begin() +
                     static_cast<std::ptrdiff_t>(std::min<std::size_t>(changes.size(), kPanels)));
  }
  for (const ReportSystem& system : data.systems) {
    std::vector<std::string> parts;
    for (std::string words :
         {limit_of_all(system), choice_words(system), curve_words(data, system.name)}) {
      if (!words.empty()) parts.push_back(std::move(words));
    }
    if (!parts.empty()) found.push_back(fmt::format("{}: {}", system.name, join(parts, "; ")));
  }
  return found;
}

}  // namespace busbar
