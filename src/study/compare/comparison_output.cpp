// SPDX-License-Identifier: BSD-3-Clause
#include "study/compare/comparison_output.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/table.hpp"

namespace busbar::study {
namespace {

/// "allreduce float sum, 16 ranks": what a block of the table is of.
std::string title_of(const RowKey& key) {
  std::string title = key.collective;
  if (!key.type.empty()) title += ' ' + key.type;
  if (!key.op.empty() && key.op != "none") title += ' ' + key.op;
  if (key.root) title += fmt::format(", root {}", *key.root);
  title += fmt::format(", {}", counted(static_cast<std::size_t>(key.ranks), "rank"));
  if (key.group) title += fmt::format(", group {}", *key.group);
  if (key.sender && key.receiver) title += fmt::format(", {} to {}", *key.sender, *key.receiver);
  return title;
}

std::string_view placement(const RowKey& key) { return key.in_place ? "in" : "out"; }

std::string microseconds_words(double time) {
  constexpr double kHundred = 100;
  return time < kHundred ? fmt::format("{:.2f}", time) : fmt::format("{:.1f}", time);
}

std::string rate_text(const std::optional<double>& GBps) {
  return GBps ? fmt::format("{:.4g}", *GBps) : "";
}

std::vector<std::string> cells_of(const ComparedRow& row) {
  return {format_bytes(row.key.size),
          std::string(placement(row.key)),
          microseconds_words(row.before_us),
          microseconds_words(row.after_us),
          rate_text(row.before_GBps),
          rate_text(row.after_GBps),
          fmt::format("{:.3f}", row.ratio),
          row.interval ? fmt::format("{:.3f}..{:.3f}", row.interval->low, row.interval->high) : "",
          row.p ? fmt::format("{:.3f}", *row.p) : "",
          std::string(name(row.verdict))};
}

/// A table for each title, in the rows' order.
std::string tables(const std::vector<ComparedRow>& rows) {
  std::string text;
  for (auto row = rows.begin(); row != rows.end();) {
    const std::string title = title_of(row->key);
    Table table{.columns = {"size", "place", "before us", "after us", "before GB/s", "after GB/s",
                            "ratio", "interval", "p", "verdict"}};
    for (; row != rows.end() && title_of(row->key) == title; ++row) {
      table.rows.push_back(cells_of(*row));
    }
    text += fmt::format("# {}\n{}", title, plain_table(table));
  }
  return text;
}

std::string missing_words(const std::vector<RowKey>& keys, std::string_view group) {
  std::string text;
  for (const RowKey& key : keys) {
    text += fmt::format("# only {}: {}, {}, {} place\n", group, title_of(key),
                        format_bytes(key.size), key.in_place ? "in" : "out of");
  }
  return text;
}

}  // namespace

std::string comparison_text(const GroupComparison& comparison) {
  constexpr double kPercent = 100;
  std::string text = fmt::format(
      "# before: {}\n# after:  {}\n# ratio: time after over before, above 1 is slower; interval: "
      "95 %, {}; threshold {:g} %\n",
      join(comparison.before, " "), join(comparison.after, " "),
      name(comparison.before.size() == 1 && comparison.after.size() == 1
               ? IntervalKind::WithinLaunch
               : IntervalKind::OverLaunches),
      comparison.threshold * kPercent);
  for (const std::string& warning : comparison.warnings) {
    text += fmt::format("# warning: {}\n", one_line(warning));
  }
  text += tables(comparison.rows);
  text += missing_words(comparison.only_before, "before");
  text += missing_words(comparison.only_after, "after");
  text += fmt::format("# {}: {} faster, {} slower, {} same, {} cannot tell\n",
                      counted(comparison.rows.size(), "row"), comparison.count(Verdict::Faster),
                      comparison.count(Verdict::Slower), comparison.count(Verdict::Same),
                      comparison.count(Verdict::CannotTell));
  return text;
}

namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json value(const std::optional<T>& optional) {
  return optional ? Json(*optional) : Json(nullptr);
}

Json key_of(const RowKey& key) {
  return {{"collective", key.collective},
          {"type", key.type},
          {"op", key.op},
          {"root", value(key.root)},
          {"ranks", key.ranks},
          {"group", value(key.group)},
          {"sender", value(key.sender)},
          {"receiver", value(key.receiver)},
          {"size_bytes", key.size},
          {"in_place", key.in_place}};
}

Json interval_of(const ComparedRow& row) {
  if (!row.interval) return nullptr;
  return Json::array({row.interval->low, row.interval->high});
}

Json row_of(const ComparedRow& row) {
  Json json = key_of(row.key);
  json["launches_before"] = row.launches_before;
  json["launches_after"] = row.launches_after;
  json["before_us"] = row.before_us;
  json["after_us"] = row.after_us;
  json["before_GBps"] = value(row.before_GBps);
  json["after_GBps"] = value(row.after_GBps);
  json["ratio"] = row.ratio;
  json["interval"] = interval_of(row);
  json["interval_of"] = name(row.kind);
  json["p"] = value(row.p);
  json["verdict"] = name(row.verdict);
  return json;
}

}  // namespace

std::string comparison_json(const GroupComparison& comparison) {
  Json json{{"before", comparison.before},
            {"after", comparison.after},
            {"threshold", comparison.threshold},
            {"warnings", comparison.warnings}};
  for (const std::string& problem : comparison.problems) json["warnings"].push_back(problem);
  json["rows"] = Json::array();
  for (const ComparedRow& row : comparison.rows) json["rows"].push_back(row_of(row));
  json["only_before"] = Json::array();
  for (const RowKey& key : comparison.only_before) json["only_before"].push_back(key_of(key));
  json["only_after"] = Json::array();
  for (const RowKey& key : comparison.only_after) json["only_after"].push_back(key_of(key));
  json["summary"] = {{"faster", comparison.count(Verdict::Faster)},
                     {"slower", comparison.count(Verdict::Slower)},
                     {"same", comparison.count(Verdict::Same)},
                     {"cannot_tell", comparison.count(Verdict::CannotTell)}};
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace busbar::study
