// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "model/record.hpp"

namespace busbar {

/// Counts who is last to arrive in how many measurements, for a line below a table.
class LateCount {
 public:
  void add(const Record& record);
  /// "last to arrive: rank 3 on h3 in 5 of 6 measurements, late by up to 203 us; ..."; empty where
  /// none was named.
  [[nodiscard]] std::string text() const;

 private:
  struct Late {
    std::size_t measurements = 0;
    double most_us = 0;
  };
  std::map<std::string, Late> late_;  // by rank and host
  std::size_t measured_ = 0;
};

}  // namespace busbar
