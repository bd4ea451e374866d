// SPDX-License-Identifier: BSD-3-Clause
#include "format/mix_table.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "format/table.hpp"

namespace busbar {
namespace {

using Number = std::optional<double>;

std::string time_text(const Number& time_us) { return time_us ? figure_text(*time_us) : ""; }

/// "1.97 [1.90, 2.04]"
std::string factor_text(const Number& factor, const Number& low, const Number& high) {
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", factor.value(), low.value(), high.value());
}

/// Nothing is said of what an interval around 1 leaves open.
std::string finding(const Number& low, const Number& high) {
  if (low && *low > 1) return "slower";
  return high && *high < 1 ? "quicker" : "no difference shown";
}

std::vector<std::string> cells(const Record& alone, const Record& together) {
  const Record& t = together;
  return {t.mix.substr(0, t.mix.find(' ')),
          t.collective,
          format_bytes(t.size),
          time_text(alone.time_median_us),
          time_text(t.time_median_us),
          factor_text(t.slowdown, t.slowdown_low, t.slowdown_high),
          finding(t.slowdown_low, t.slowdown_high),
          time_text(alone.time_p99_us),
          time_text(t.time_p99_us),
          factor_text(t.slowdown_p99, t.slowdown_p99_low, t.slowdown_p99_high),
          finding(t.slowdown_p99_low, t.slowdown_p99_high)};
}

}  // namespace

void MixTable::add(const Record& record) {
  if (record.mix.empty()) return;
  (record.slowdown ? together_ : alone_).push_back(record);
}

std::string MixTable::text() const {
  if (together_.empty()) return {};
  Table table{.columns = {"group", "operation", "size", "alone us", "together us", "slowdown",
                          "median", "alone p99 us", "together p99 us", "slowdown", "p99"}};
  for (std::size_t i = 0; i < together_.size(); ++i) {
    table.rows.push_back(cells(alone_.at(i), together_[i]));
  }
  std::string text = "#\n";
  for (const std::string& line : split(trim(plain_table(table)), '\n')) text += "# " + line + '\n';
  return text + "#\n";
}

}  // namespace busbar
