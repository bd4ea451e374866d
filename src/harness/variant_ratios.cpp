// SPDX-License-Identifier: BSD-3-Clause
#include "harness/variant_ratios.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stats/signed_rank.hpp"
#include "stats/verdict.hpp"

namespace busbar {

std::vector<std::string> VariantRatios::add(const Record& record, std::vector<double> medians) {
  Record of_any = record;
  of_any.variant.clear();
  const RowKey key = row_key(of_any);
  auto& variants = rows_[key];
  variants[record.variant] = std::move(medians);
  if (variants.size() < vary_.values.size()) return {};
  const std::vector<double> first = std::move(variants[variant_text(vary_, 0)]);
  std::vector<std::string> sentences;
  for (std::size_t number = 1; number < vary_.values.size(); ++number) {
    const std::string name = vary_.values[number] + (record.in_place ? " in place" : "");
    sentences.push_back(sentence(first, variants[variant_text(vary_, number)], name));
  }
  rows_.erase(key);
  return sentences;
}

std::string VariantRatios::sentence(const std::vector<double>& first,
                                    const std::vector<double>& other,
                                    const std::string& name) const {
  std::vector<double> logarithms;  // of how many times as long the other takes
  for (std::size_t i = 0; i < std::min(first.size(), other.size()); ++i) {
    logarithms.push_back(std::log(other[i] / first[i]));
  }
  const stats::SignedRank test = stats::signed_rank(logarithms);
  if (!test.interval) {
    return fmt::format("{}: {} visits with both are too few to compare", name, logarithms.size());
  }
  // As many comparisons as there are other values.
  const double p = std::min(1.0, test.p * static_cast<double>(vary_.values.size() - 1));
  const stats::Interval times{std::exp(test.interval->low), std::exp(test.interval->high)};
  const stats::Verdict verdict =
      stats::verdict_of(std::exp(test.shift), times, p, stats::kSettingThreshold);
  const std::string_view than = verdict == stats::Verdict::Same         ? "as"
                                : verdict == stats::Verdict::CannotTell ? "from"
                                                                        : "than";
  return fmt::format("{}: {} {} {}, {:.3f} times its speed ({:.3f} to {:.3f}), p {:.2g}, {} visits",
                     name, busbar::name(verdict), than, vary_.values.front(), std::exp(-test.shift),
                     1 / times.high, 1 / times.low, p, logarithms.size());
}

}  // namespace busbar
