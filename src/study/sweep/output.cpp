// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "format/json.hpp"
#include "study/sweep/sweep.hpp"

namespace busbar::study {
namespace {

/// A row with its variant's name.
struct ShownRow : ComparedRow {
  const SweepRow& sweep;
  std::string variant;
};

std::string p_text(double value) {
  constexpr double kLeast = 0.001;
  return value < kLeast ? fmt::format("{:.1g}", value) : three_decimals(value);
}

using S = const ShownRow&;

constexpr auto kSweepColumns = std::to_array<Column<ShownRow>>({
    {"", "size", [](S s) { return format_bytes(s.key.size); }},
    {"", "place", [](S s) { return s.key.in_place ? "in" : "out"; }},
    {"variant", "variant", [](S s) { return s.variant; }},
    {"launches", "launches", [](S s) { return s.launches_after; }},
    {"first_us", "first us", [](S s) { return s.before_us; }, time_text},
    {"time_us", "us", [](S s) { return s.after_us; }, time_text},
    {"busbw_GBps", "GB/s", [](S s) { return s.after_GBps; }, figure_text},
    {"ratio", "ratio", [](S s) { return s.ratio; }, three_decimals},
    {"", "interval", [](S s) { return interval_text(s); }},
    {"interval", "", [](S s) { return interval_cell(s); }},
    {"p", "p", [](S s) { return s.sweep.p; }, p_text},
    {"verdict", "verdict", [](S s) { return s.verdict; }},
    {"", "winner", [](S s) { return s.sweep.winner ? "winner" : ""; }},
    {"winner", "", [](S s) { return s.sweep.winner; }},
});

std::vector<ShownRow> shown_rows(const SweepResult& result) {
  std::vector<ShownRow> rows;
  for (const SweepRow& row : result.rows) {
    rows.push_back({row.row, row, result.variants[row.variant]});
  }
  return rows;
}

/// "NCCL_ALGO=" where this is the only setting: it need not be in each line.
std::string only_setting(const std::vector<std::string>& variants) {
  const std::string name = variants.front().substr(0, variants.front().find('=') + 1);
  const bool is_only = std::ranges::all_of(variants, [&](const std::string& text) {
    return text.starts_with(name) && text.find(' ') == std::string::npos;
  });
  return is_only ? name : "";
}

std::string result_text(const SweepResult& result) {
  std::vector<ShownRow> rows = shown_rows(result);
  const std::size_t left_out = only_setting(result.variants).size();
  for (ShownRow& row : rows) row.variant.erase(0, left_out);
  std::string text =
      fmt::format("# {} in turns{}; first: {}\n", counted(result.turns, "launch"),
                  result.pairing == Pairing::ByLaunch ? " of all variants" : " of each variant",
                  result.variants.front());
  text += titled_tables(kSweepColumns, rows);
  for (const FailedLaunch& failure : result.failures) {
    text += fmt::format("# failed: {}, turn {}: {}\n", failure.variant, failure.turn,
                        one_line(failure.reason));
  }
  return text;
}

std::size_t count_keys(const SweepResult& result, bool winners) {
  std::set<RowKey> keys;
  for (const SweepRow& row : result.rows) {
    if (!winners || row.winner) keys.insert(row.row.key);
  }
  return keys.size();
}

Json result_json(const SweepResult& result) {
  return {{"variants", result.variants},
          {"in_launch", result.pairing == Pairing::ByLaunch},
          {"turns", result.turns},
          {"failures", json_array(result.failures,
                                  [](const FailedLaunch& failure) {
                                    return Json{{"variant", failure.variant},
                                                {"turn", failure.turn},
                                                {"reason", one_line(failure.reason)}};
                                  })},
          {"rows", keyed_rows(kSweepColumns, shown_rows(result))}};
}

}  // namespace

std::string sweep_text(const SweepReport& report) {
  constexpr double kPercent = 100;
  std::string text = fmt::format(
      "# sweep of: {}\n# ratio: time over the first variant's, below 1 is faster; interval: 95 %; "
      "p: after Holm; threshold {:g} %; seed {}\n",
      one_line(report.command), report.threshold * kPercent, report.seed);
  for (const std::string& warning : report.warnings) {
    text += fmt::format("# warning: {}\n", one_line(warning));
  }
  text += result_text(report.result);
  const std::size_t won = count_keys(report.result, true);
  text += fmt::format("# {}: {} with a winner, {} without\n",
                      counted(count_keys(report.result, false), "row"), won,
                      count_keys(report.result, false) - won);
  if (!report.written.empty()) text += fmt::format("# wrote {}\n", report.written);
  if (report.held_out.turns > 0) {
    const SweepResult& held_out = report.held_out;
    text += "# held out:\n" + result_text(held_out) +
            fmt::format("# held out: {}\n", counts_text(held_out.verdicts()));
  }
  return text;
}

std::string sweep_json(const SweepReport& report) {
  Json json{{"command", report.command},
            {"seed", report.seed},
            {"threshold", report.threshold},
            {"warnings", report.warnings}};
  json.update(result_json(report.result));
  json["written"] = report.written.empty() ? Json() : Json(report.written);
  json["held_out"] = report.held_out.turns == 0 ? Json() : result_json(report.held_out);
  return json_text(json);
}

}  // namespace busbar::study
