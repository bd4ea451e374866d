// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "model/record.hpp"

namespace busbar {

/// What the groups of a mix do to each other: a line for each.
class MixTable {
 public:
  /// Notes a row of a mix; others are left out.
  void add(const Record& record);
  /// Lines that begin with '#', or nothing where there was no mix.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Record> alone_;
  std::vector<Record> together_;  // of the same groups
};

}  // namespace busbar
