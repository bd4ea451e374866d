// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <utility>

#include "model/record.hpp"

namespace busbar {

/// Rates of pairs of ranks as a square: who sends is a line, who receives a column.
class PairMatrix {
 public:
  /// Notes a row of a pair; of several sizes the largest is kept.
  void add(const Record& record);
  /// Lines that begin with '#', or nothing where no pair was measured.
  [[nodiscard]] std::string text() const;

 private:
  Bytes size_ = 0;
  std::map<std::pair<int, int>, double> rates_;  // GB/s by sender and receiver, of size_
};

}  // namespace busbar
