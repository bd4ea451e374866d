// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "model/record.hpp"

namespace busbar {

/// What rows of --preset decode and of --load beside have that nccl-tests' table has no place for.
class RowNotes {
 public:
  void add(const Record& record);
  /// Lines that begin with '#', or nothing where there are no such rows.
  [[nodiscard]] std::string text() const;

 private:
  std::string latencies_;
  std::string loads_;
};

}  // namespace busbar
