// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_findings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "study/report_words.hpp"

namespace busbar {
namespace {

bool all_simulated(const ReportPanel& panel) {
  return std::all_of(panel.lines.begin(), panel.lines.end(),
                     [](const ReportLine& line) { return line.key.simulated; });
}

/// Where all of a panel is simulated, that is said once, in front.
std::string where_words(const ReportPanel& panel) {
  return fmt::format("{}{}, {}", all_simulated(panel) ? "simulated " : "",
                     collective_words(panel.collective),
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
  const std::string first = figure_words(rated.front().GBps);
  std::string text = level.size() > 1
                         ? fmt::format("{} are level at {} GB/s", and_words(level), first)
                         : fmt::format("{} is fastest with {} GB/s", level.front(), first);
  for (std::size_t i = next; i < rated.size(); ++i) {
    text += fmt::format("{} {} {}", i == next ? "; behind:" : ",", rated[i].words,
                        figure_words(rated[i].GBps));
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

const SizedRate& highest(const ReportLine& line) {
  return *std::max_element(line.rates.begin(), line.rates.end(),
                           [](const SizedRate& a, const SizedRate& b) { return a.GBps < b.GBps; });
}

/// "b 482 GB/s (16 GiB), a 130 (128 MiB)": the highest rate of each line, wherever it is.
std::string highest_words(const ReportPanel& panel) {
  std::vector<const ReportLine*> lines;
  for (const ReportLine& line : panel.lines) {
    if (!line.rates.empty()) lines.push_back(&line);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const ReportLine* a, const ReportLine* b) {
    return highest(*a).GBps > highest(*b).GBps;
  });
  std::vector<std::string> parts;
  for (const ReportLine* line : lines) {
    const SizedRate& most = highest(*line);
    parts.push_back(fmt::format("{} {}{} ({})", words_in(panel, *line), figure_words(most.GBps),
                                parts.empty() ? " GB/s" : "", format_bytes(most.size)));
  }
  return join(parts, ", ");
}

/// Whether all lines end at one size, so that a ranking there is fair.
bool end_alike(const ReportPanel& panel) {
  return std::all_of(panel.lines.begin(), panel.lines.end(), [&](const ReportLine& line) {
    return !line.rates.empty() && line.rates.back().size == panel.lines.front().rates.back().size;
  });
}

}  // namespace

std::vector<Bytes> sizes_of_all(const ReportPanel& panel) {
  std::vector<Bytes> sizes;
  if (panel.lines.empty()) return sizes;
  for (const SizedRate& rate : panel.lines.front().rates) {
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
    std::vector<std::vector<SizedRate>> curves;
    for (const ReportLine& line : panel.lines) curves.push_back(line.rates);
    for (const Crossing& crossing : crossings(curves)) {
      found.push_back(crossing_words(panel, crossing));
    }
  }
  return found;
}

std::optional<double> best_share(const ReportLine& line) {
  if (!line.bound_GBps || line.rates.empty()) return std::nullopt;
  return highest(line).GBps / *line.bound_GBps;
}

std::vector<std::string> share_findings(const ReportData& data) {
  std::vector<std::string> found;
  for (const ReportPanel& panel : data.panels) {
    for (const ReportLine& line : panel.lines) {
      const double share = best_share(line).value_or(1);
      if (share >= kLowShare && share <= kSuspectShare) continue;
      found.push_back(fmt::format(
          "{}: {} reaches {} of its bound{}: {}", where_words(panel), words_in(panel, line),
          percent_words(share), line.limit.empty() ? "" : fmt::format(" ({})", line.limit),
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
        steps.push_back(fmt::format("{} ({})", figure_words(row.rates_GBps[i]), row.ranks[i]));
      }
      found.push_back(fmt::format("{}, {}: {} is {} with the number of ranks: {} GB/s",
                                  collective_words(scaling.collective), format_bytes(scaling.size),
                                  row.label, name(row.trend), join(steps, ", ")));
    }
  }
  return found;
}

}  // namespace busbar
