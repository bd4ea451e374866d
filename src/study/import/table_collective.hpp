// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/collective.hpp"
#include "study/import/log.hpp"

namespace busbar::study {

/// Size over time in GB/s, as exactly as the digits of a log allow.
struct Range {
  double low = 0;
  double high = 0;
};

/// Size over the half's time, or over the time that its algorithm bandwidth implies (-C). Nothing
/// where it has neither, or no byte is moved.
[[nodiscard]] std::optional<Range> rate_range(Bytes size, const LogHalf& half);

/// Whether a printed bandwidth can be a rate of the range times a factor.
[[nodiscard]] bool can_be(const Printed& printed, const Range& rate, double factor);

/// True where a good part of the printed bus bandwidths is not size over time times the factor: all
/// of them, or two and a quarter. One damaged row is none.
[[nodiscard]] bool contradicts(std::span<const LogRow> rows, double factor);

/// Bus bandwidth over size over time, by the row whose digits are most exact.
[[nodiscard]] std::optional<double> measured_factor(std::span<const LogRow> rows);

/// Numbers of ranks, of 2 to 65536, that all printed bus bandwidths of the rows allow: the first
/// and the last of them. Both are 0 where no number does, and where no row has a bandwidth.
struct RanksAllowed {
  int least = 0;
  int most = 0;
};
[[nodiscard]] RanksAllowed ranks_allowed(std::span<const LogRow> rows,
                                         const Collective& collective);

/// True where algorithm bandwidths are by nccl-tests' definition of before June 2020, which had the
/// bus factor of all-gather and reduce-scatter in them already.
[[nodiscard]] bool has_old_algbw(std::span<const LogRow> rows, const Collective& collective,
                                 int ranks);

/// What the rows of a table show of their collective, which the log does not name: reduction, root,
/// whether the count is of the whole size or of one of equal parts, what is verified in place, and
/// the bus factor. nccl-tests' source of all versions since 2019 is behind the rules.
class RowEvidence {
 public:
  /// `ranks` where the log or the user gives them.
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
  void read_root();
  void read_parts();
  void read_checks();
  [[nodiscard]] bool allows_columns(const Collective& collective) const;

  const LogTable& table_;
  std::vector<LogRow> rows_;  ///< those of as many nodes as the first
  std::optional<int> ranks_;
  std::string op_{};  ///< of the rows; empty where the log has none
  std::optional<bool> rooted_{};
  std::optional<bool> parted_{};  ///< the count is of one of equal parts
  int parts_ = 0;
  std::optional<bool> checked_in_place_{};
};

/// The collective of a table, and who said it.
struct TableCollective {
  const Collective* collective = nullptr;
  std::string source{};  ///< "--collective", or what its rows show; empty where the log names it
  bool inferred = false;
};

/// The collective that the log names, or the user, or that the rows leave as the only one. Throws
/// Error (Usage) where there is none, where several are left, and where a good part of the rows
/// contradicts the user's. `place` is for the message, `given` and `ranks` are the user's.
[[nodiscard]] TableCollective collective_of(const LogTable& table, const std::string& place,
                                            const std::string& given, std::optional<int> ranks);

}  // namespace busbar::study
