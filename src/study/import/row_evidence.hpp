// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/collective.hpp"
#include "study/import/log_table.hpp"

namespace busbar::study {

/// What the rows of a table tell of their collective, which the log does not name: reduction, root,
/// whether the count is of the whole size or of one of equal parts, what is verified in place, and
/// the bus factor. nccl-tests' source of all versions since 2019 is behind the rules.
class RowEvidence {
 public:
  /// `ranks` where the log or the user tells them.
  RowEvidence(const LogTable& table, std::optional<int> ranks);

  /// False where the collective cannot have printed the rows.
  [[nodiscard]] bool allows(const Collective& collective) const;
  /// Names of all collectives that can have; also hypercube, which is none of ours.
  [[nodiscard]] std::vector<std::string> candidates() const;
  /// False where no bus factor of the collective is that of a good part of the rows.
  [[nodiscard]] bool allows_factor(const Collective& collective) const;
  /// "redop sum, no root, bus bandwidth 1.75 times size over time, on 8 ranks".
  [[nodiscard]] std::string text() const;

 private:
  enum class Answer { Unknown, No, Yes };

  void read_root();
  void read_parts();
  void read_checks();
  [[nodiscard]] bool allows_columns(const Collective& collective) const;

  const LogTable& table_;
  std::vector<LogRow> rows_;  ///< those of as many nodes as the first
  std::optional<int> ranks_;
  bool has_op_column_ = false;
  bool has_root_column_ = false;
  std::string op_{};  ///< of the rows; empty where the log has none
  Answer rooted_ = Answer::Unknown;
  Answer parted_ = Answer::Unknown;
  int parts_ = 0;
  Answer checked_in_place_ = Answer::Unknown;
};

}  // namespace busbar::study
