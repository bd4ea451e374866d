// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include "model/collective.hpp"
#include "study/import/log_table.hpp"

namespace busbar::study {

/// Size over time in GB/s, as far as the digits of a log tell it.
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

/// Bus bandwidth over size over time, by the row whose digits tell most.
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

}  // namespace busbar::study
