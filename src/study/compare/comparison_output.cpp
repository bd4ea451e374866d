// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "format/json.hpp"
#include "study/compare/comparison.hpp"

namespace busbar::study {
namespace {

using K = const RowKey&;

constexpr auto kKeyColumns = std::to_array<Column<RowKey>>({
    {"collective", "", [](K key) { return key.collective; }},
    {"type", "", [](K key) { return key.type; }},
    {"op", "", [](K key) { return key.op; }},
    {"root", "", [](K key) { return key.root; }},
    {"ranks", "", [](K key) { return key.ranks; }},
    {"round", "", [](K key) { return key.round; }},
    {"group", "", [](K key) { return key.group; }},
    {"sender", "", [](K key) { return key.sender; }},
    {"receiver", "", [](K key) { return key.receiver; }},
    {"size_bytes", "", [](K key) { return key.size; }},
    {"in_place", "", [](K key) { return key.in_place; }},
});

using R = const ComparedRow&;

constexpr auto kColumns = std::to_array<Column<ComparedRow>>({
    {"", "size", [](R row) { return format_bytes(row.key.size); }},
    {"", "place", [](R row) { return row.key.in_place ? "in" : "out"; }},
    {"launches_before", "", [](R row) { return row.launches_before; }},
    {"launches_after", "", [](R row) { return row.launches_after; }},
    {"before_us", "before us", [](R row) { return row.before_us; }, time_text},
    {"after_us", "after us", [](R row) { return row.after_us; }, time_text},
    {"before_GBps", "before GB/s", [](R row) { return row.before_GBps; }, figure_text},
    {"after_GBps", "after GB/s", [](R row) { return row.after_GBps; }, figure_text},
    {"ratio", "ratio", [](R row) { return row.ratio; }, three_decimals},
    {"", "interval", [](R row) { return interval_text(row); }},
    {"interval", "", [](R row) { return interval_cell(row); }},
    {"interval_of", "", [](R row) { return row.kind; }},
    {"p", "p", [](R row) { return row.p; }, three_decimals},
    {"verdict", "verdict", [](R row) { return row.verdict; }},
});

std::string missing_rows(const std::vector<RowKey>& keys, std::string_view group) {
  std::string text;
  for (const RowKey& key : keys) {
    text += fmt::format("# only {}: {}, {}, {} place\n", group, title_of(key),
                        format_bytes(key.size), key.in_place ? "in" : "out of");
  }
  return text;
}

}  // namespace

std::string time_text(double time_us) {
  constexpr double kHundred = 100;
  return time_us < kHundred ? fmt::format("{:.2f}", time_us) : fmt::format("{:.1f}", time_us);
}

std::string three_decimals(double value) { return fmt::format("{:.3f}", value); }

std::string interval_text(const ComparedRow& row) {
  return row.interval ? fmt::format("{:.3f}..{:.3f}", row.interval->low, row.interval->high) : "";
}

Cell interval_cell(const ComparedRow& row) {
  return row.interval ? Cell(std::vector{row.interval->low, row.interval->high}) : Cell();
}

std::string counts_text(const std::vector<Verdict>& verdicts) {
  return join_each(enum_names(Verdict{}), ", ", [&](const Named<Verdict>& one) {
    return fmt::format("{} {}", std::ranges::count(verdicts, one.value), one.text);
  });
}

std::string title_of(const RowKey& key) {
  std::string title = key.collective;
  if (!key.type.empty()) title += ' ' + key.type;
  if (!key.op.empty() && key.op != "none") title += ' ' + key.op;
  if (key.root) title += fmt::format(", root {}", *key.root);
  title += fmt::format(", {}", counted(key.ranks, "rank"));
  if (key.round > 0) title += fmt::format(", round {}", key.round);
  if (key.group) title += fmt::format(", group {}", *key.group);
  if (key.sender && key.receiver) {
    title += fmt::format(", {} to {}", *key.sender, *key.receiver);
  } else if (key.sender || key.receiver) {
    title += fmt::format(", GPU {}", key.sender ? *key.sender : *key.receiver);
  }
  const std::string setting = setting_text(key.settings);
  return setting.empty() ? title : title + ", " + setting;
}

Json key_json(const RowKey& key) {
  Json json = json_object(kKeyColumns, key);
  const auto columns = fields_of(RecordField::Role::Setting);
  for (std::size_t i = 0; i < key.settings.size(); ++i) {
    json[std::string(columns[i]->name)] = key.settings[i];
  }
  return json;
}

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
  text += titled_tables(kColumns, comparison.rows);
  text += missing_rows(comparison.only_before, "before");
  text += missing_rows(comparison.only_after, "after");
  text += fmt::format("# {}: {}\n", counted(comparison.rows.size(), "row"),
                      counts_text(mapped(comparison.rows, &ComparedRow::verdict)));
  return text;
}

std::string comparison_json(const GroupComparison& comparison) {
  Json json{{"before", comparison.before},
            {"after", comparison.after},
            {"threshold", comparison.threshold},
            {"warnings", comparison.warnings}};
  for (const std::string& problem : comparison.problems) json["warnings"].push_back(problem);
  json["rows"] = keyed_rows(kColumns, comparison.rows);
  json["only_before"] = json_array(comparison.only_before, key_json);
  json["only_after"] = json_array(comparison.only_after, key_json);
  json["summary"] = {{"faster", comparison.count(Verdict::Faster)},
                     {"slower", comparison.count(Verdict::Slower)},
                     {"same", comparison.count(Verdict::Same)},
                     {"cannot_tell", comparison.count(Verdict::CannotTell)}};
  return json_text(json);
}

}  // namespace busbar::study
