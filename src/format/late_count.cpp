// SPDX-License-Identifier: BSD-3-Clause
#include "format/late_count.hpp"

namespace busbar {

void LateCount::add(const Record& record) {
  if (record.time_median_us) ++measured_;
  if (record.last_host.empty()) return;
  const std::string who = record.last_rank
                              ? fmt::format("rank {} on {}", *record.last_rank, record.last_host)
                              : record.last_host;
  Late& late = late_[who];
  ++late.measurements;
  late.most_us = std::max(late.most_us, record.late_by_us.value_or(0));
}

std::string LateCount::text() const {
  std::string text;
  for (const auto& [who, late] : late_) {
    const int decimals = late.most_us < 100 ? 1 : 0;
    text += fmt::format("{}{} in {} of {} measurements, late by up to {:.{}f} us",
                        text.empty() ? "last to arrive: " : "; ", who, late.measurements, measured_,
                        late.most_us, decimals);
  }
  return text;
}

}  // namespace busbar
