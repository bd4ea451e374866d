// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "format/writer.hpp"

namespace busbar::test {

/// The object with these members changed: with(row, &Record::root, 2, &Record::op, "max").
template <class Object>
[[nodiscard]] Object with(Object object) {
  return object;
}
template <class Object, class Member, class Value, class... More>
[[nodiscard]] Object with(Object object, Member Object::*member, Value value, More... more) {
  object.*member = std::move(value);
  return with(std::move(object), std::move(more)...);
}

/// A measured row as one of nccl-tests' own logs has it.
[[nodiscard]] inline Record measured(bool in_place) {
  return {.collective = "allreduce",
          .backend = "mpi",
          .ranks = 16,
          .nodes = 1,
          .type = "float",
          .op = "sum",
          .in_place = in_place,
          .size = 33554432,
          .count = 8388608,
          .cadence = "streaming",
          .samples = 50,
          .operations = 1000,
          .stop_reason = "ci-width",
          .time_median_us = in_place ? 277.00 : 276.88,
          .algbw_GBps = in_place ? 121.13 : 121.19,
          .busbw_GBps = in_place ? 227.13 : 227.23,
          .wrong = 0,
          .batch = 20,
          .aggregation = "max",
          .progress = "block",
          .cache = "warm",
          .finished_at = "2026-11-21 14:02:59"};
}

[[nodiscard]] inline Record skipped(bool in_place, const std::string& reason) {
  return {.collective = "allreduce",
          .backend = "mpi",
          .ranks = 16,
          .nodes = 1,
          .type = "half",
          .op = "sum",
          .in_place = in_place,
          .size = 1024,
          .count = 512,
          .status = RowStatus::Skipped,
          .reason = reason};
}

/// The cells of these columns as a file has them: "1024|0|ok".
[[nodiscard]] inline std::string cells(const Record& record, std::string_view columns) {
  std::vector<std::string> found;
  for (const std::string& name : split_words(columns)) {
    for (const RecordField& field : record_fields()) {
      if (field.name == name) found.push_back(field.get(record));
    }
  }
  return fmt::format("{}", fmt::join(found, "|"));
}
/// The same of each row, with blanks between them.
[[nodiscard]] inline std::string cells(const std::vector<Record>& rows, std::string_view columns) {
  return join_each(rows, " ", [&](const Record& row) { return cells(row, columns); });
}

[[nodiscard]] inline RunContext context() {
  RunContext context;
  context.facts = {{"busbar", "0.1.0"},
                   {"configuration", "collective=allreduce ranks=16"},
                   {"started", "2026-11-21 14:00:00"},
                   {"command", "./allreduce_perf -e 32M"}};
  context.notes = {"memory plan: both placements"};
  context.nccl_name = "all_reduce";
  context.sweep = {.first = 33554432, .last = 33554432, .step = kMiB, .factor = 1};
  context.warmup = 1;
  context.operations = 20;
  context.devices = {
      {.pid = 249104, .host = "node1", .address = "0000:00:05", .name = "NVIDIA B200"}};
  return context;
}

}  // namespace busbar::test
