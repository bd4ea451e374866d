// SPDX-License-Identifier: BSD-3-Clause
#include "report/pair_matrix.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace busbar {

void PairMatrix::add(const Record& record) {
  if (!record.sender || !record.receiver || !record.busbw_GBps) return;
  if (record.size < size_) return;
  if (record.size > size_) rates_.clear();
  size_ = record.size;
  rates_[{*record.sender, *record.receiver}] = *record.busbw_GBps;
}

std::string PairMatrix::text() const {
  if (rates_.empty()) return {};
  int last = 0;
  for (const auto& [pair, rate] : rates_) last = std::max({last, pair.first, pair.second});
  std::string text = fmt::format(
      "#\n# GB/s one way at {}, from the line's rank to the column's\n#     ", format_bytes(size_));
  for (int to = 0; to <= last; ++to) text += fmt::format(" {:>7}", to);
  for (int from = 0; from <= last; ++from) {
    text += fmt::format("\n# {:>4}", from);
    for (int to = 0; to <= last; ++to) {
      const auto known = rates_.find({from, to});
      text += known == rates_.end() ? fmt::format(" {:>7}", "-")
                                    : fmt::format(" {:>7.2f}", known->second);
    }
  }
  return text + "\n#\n";
}

}  // namespace busbar
