// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "study/dataset.hpp"
#include "tests/unit/support/sample_records.hpp"

namespace busbar::test {

/// A row of an all-reduce of floats on GPUs of one node.
[[nodiscard]] inline Record study_row(Bytes size, double busbw, int ranks) {
  Record row{.collective = "allreduce", .backend = "nccl", .ranks = ranks, .nodes = 1};
  return with(std::move(row), &Record::type, "float", &Record::op, "sum", &Record::size, size,
              &Record::time_median_us, 1.0, &Record::busbw_GBps, busbw);
}

/// The file LABEL.csv of a run of the system LABEL.
[[nodiscard]] inline study::Dataset dataset(const std::string& label, std::vector<Record> records,
                                            Facts facts = {}) {
  return {.path = label + ".csv",
          .label = label,
          .facts = std::move(facts),
          .records = std::move(records)};
}

}  // namespace busbar::test

namespace busbar::study {

using test::dataset;
using test::with;

}  // namespace busbar::study
