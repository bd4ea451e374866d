// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "model/record.hpp"

namespace busbar {

/// What makes rows of two runs the same measurement. A use that needs less leaves members empty.
struct RowKey {
  std::string collective{};
  std::string type{};
  std::string op{};
  std::optional<int> root{};
  int ranks = 0;
  int round = 0;  ///< also of older files, whose groups are of one round
  std::optional<int> group{};
  std::optional<int> sender{};
  std::optional<int> receiver{};
  std::vector<std::string> settings{};  ///< as settings_of has them
  Bytes size = 0;
  bool in_place = false;

  // NOLINTNEXTLINE(readability-implicit-bool-conversion): the compiler compares in_place
  [[nodiscard]] auto operator<=>(const RowKey& other) const = default;
};

[[nodiscard]] inline RowKey row_key(const Record& record) {
  return {.collective = record.collective,
          .type = record.type,
          .op = record.op,
          .root = record.root,
          .ranks = record.ranks,
          .round = record.round.value_or(0),
          .group = record.group,
          .sender = record.sender,
          .receiver = record.receiver,
          .settings = settings_of(record),
          .size = record.size,
          .in_place = record.in_place};
}

/// Who was last to arrive at a sample's operations. They end at the same time for all ranks, so it
/// is the rank whose own time is the shortest.
struct Arrival {
  int last = 0;        ///< rank among those of the row
  double late_us = 0;  ///< longest time of a rank less shortest
};

/// A measured row and its samples, in the order of time.
struct Row {
  Record record{};
  std::vector<double> samples_us{};
  std::vector<Arrival> arrivals{};  ///< of each sample; none where operations have no common end
  /// In sentences: of a row that lasted long (--duration) what happened and what checks prove, of
  /// unequal parts what each rank had.
  std::vector<std::string> findings{};
  /// Times of all ranks, of each sample; empty unless they were asked for.
  std::vector<std::vector<double>> rank_times_us{};
};

}  // namespace busbar
