// SPDX-License-Identifier: BSD-3-Clause
#include "study/compare/comparison_text.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"

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

std::string line_of(const ComparedRow& row) {
  const std::string interval =
      row.interval ? fmt::format("{:.3f}..{:.3f}", row.interval->low, row.interval->high) : "-";
  const std::string p = row.p ? fmt::format("{:.3f}", *row.p) : "-";
  return fmt::format("{:>10}  {:<5}  {:>12}  {:>12}  {:>6.3f}  {:>14}  {:>5}  {}\n",
                     format_bytes(row.key.size), placement(row.key),
                     microseconds_words(row.before_us), microseconds_words(row.after_us), row.ratio,
                     interval, p, name(row.verdict));
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
      comparison.before.size() == 1 && comparison.after.size() == 1 ? "within one launch"
                                                                    : "over launch medians",
      comparison.threshold * kPercent);
  for (const std::string& warning : comparison.warnings) {
    text += fmt::format("# warning: {}\n", one_line(warning));
  }
  std::string title;
  for (const ComparedRow& row : comparison.rows) {
    if (title_of(row.key) != title) {
      title = title_of(row.key);
      text += fmt::format("# {}\n#{:>9}  {:<5}  {:>12}  {:>12}  {:>6}  {:>14}  {:>5}  {}\n", title,
                          "size", "place", "before us", "after us", "ratio", "interval", "p",
                          "verdict");
    }
    text += line_of(row);
  }
  text += missing_words(comparison.only_before, "before");
  text += missing_words(comparison.only_after, "after");
  text += fmt::format("# {}: {} faster, {} slower, {} same, {} cannot tell\n",
                      counted(comparison.rows.size(), "row"), comparison.count(Verdict::Faster),
                      comparison.count(Verdict::Slower), comparison.count(Verdict::Same),
                      comparison.count(Verdict::CannotTell));
  return text;
}

}  // namespace busbar::study
