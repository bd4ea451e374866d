// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>

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

/// Numbers of ranks, of 2 to 65536, that all printed bus bandwidths of the rows allow: the first
/// and the last of them. Both are 0 where no number does, and where no row has a bandwidth.
struct RanksAllowed {
  int least = 0;
  int most = 0;
};
[[nodiscard]] RanksAllowed ranks_allowed(std::span<const LogRow> rows,
                                         const Collective& collective);

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
