// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/row_key.hpp"

namespace busbar {

/// The out-of-place and the in-place row of one size, as far as they are there: one line of
/// nccl-tests' table.
struct RowHalves {
  std::optional<Row> out_of_place{};
  std::optional<Row> in_place{};

  /// Precondition: one of them is there.
  [[nodiscard]] const Record& either() const {
    return (in_place ? in_place : out_of_place)->record;
  }
};

/// Which of several rows of one size this is: "pair 3 -> 0", "group 1", with rounds "round 2 group
/// 1", "mix tp", "beside load", and its variant; empty where there is only one.
[[nodiscard]] inline std::string row_scope(const Record& record, bool rounds) {
  std::string scope;
  if (record.sender) {
    scope = fmt::format("pair {} -> {}", *record.sender, *record.receiver);
  } else if (!record.mix.empty()) {
    scope = record.mix.find(' ') == std::string::npos ? "mix " + record.mix : record.mix;
  } else if (record.group) {
    const std::string round = rounds ? fmt::format("round {} ", record.round.value_or(0)) : "";
    scope = fmt::format("{}group {}", round, *record.group);
  }
  if (record.variant.empty()) return scope;
  return scope.empty() ? record.variant : scope + " " + record.variant;
}

/// Puts halves together. Those of several groups or pairs may arrive in turns.
class HalfJoiner {
 public:
  struct Halves {
    bool out_of_place = true;
    bool in_place = true;
  };

  explicit HalfJoiner(Halves halves) : halves_(halves) {}

  /// What is whole with this row; nothing while its other half is to come.
  [[nodiscard]] std::optional<RowHalves> add(const Row& row) {
    const Record& record = row.record;
    RowKey key = row_key(record);
    key.in_place = false;
    RowHalves& line = open_[key];
    (record.in_place ? line.in_place : line.out_of_place) = row;
    if (!record.in_place && halves_.in_place) return std::nullopt;
    RowHalves whole = std::move(line);
    open_.erase(key);
    return whole;
  }

 private:
  Halves halves_;
  std::map<RowKey, RowHalves> open_{};
};

}  // namespace busbar
