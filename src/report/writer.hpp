// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "model/record.hpp"
#include "report/run_context.hpp"

namespace busbar {

/// One output of a run. A row is where it belongs (on the terminal, on disk) when write returns.
class Writer {
 public:
  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  virtual ~Writer() = default;

  virtual void begin(const RunContext& context) = 0;
  /// `samples_us` are the row's samples in their order; empty for a row that was not measured.
  virtual void write(const Record& record, std::span<const double> samples_us) = 0;
  virtual void end(const RunSummary& summary) = 0;
};

}  // namespace busbar
