// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/report_data.hpp"

namespace busbar {

/// How a rate goes with the number of ranks.
enum class Trend {
  None,     ///< fewer than two numbers of ranks
  Flat,     ///< the greatest and the least differ by kFlat of the greatest or less
  Rising,   ///< no step falls by more than kFlat, and the last is the greatest by more than that
  Falling,  ///< the other way round
  Mixed     ///< up and down
};

/// What a rate may change by, as a share of the greater, and still be the same.
inline constexpr double kFlat = 0.05;

[[nodiscard]] std::string_view name(Trend trend);

/// The trend of rates in GB/s, in the order of their numbers of ranks.
[[nodiscard]] Trend trend_of(std::span<const double> rates_GBps);

/// (greatest - least) / greatest; 0 for fewer than two.
[[nodiscard]] double spread_of(std::span<const double> rates_GBps);

/// Where the lead passes from one of several curves to another: beyond `after`, at `until` at the
/// latest.
struct Crossing {
  Bytes after = 0;        ///< the last size at which the old leader leads
  Bytes until = 0;        ///< the first at which the new one does
  std::size_t loser = 0;  ///< numbers of the curves
  std::size_t winner = 0;
};

/// What two rates must differ by, as a share of the greater, for one to lead; below it they are
/// level.
inline constexpr double kLevel = 0.02;

/// -1, 0 or 1: the second leads, level, the first leads.
[[nodiscard]] int leader(double first_GBps, double second_GBps, double level = kLevel);

/// All changes of the lead of all curves, at sizes that the leader and another curve have; nothing
/// is interpolated. Each curve is by rising size, each size once.
[[nodiscard]] std::vector<Crossing> crossings(std::span<const std::vector<SizePoint>> curves,
                                              double level = kLevel);

/// @name Findings of the curves, one sentence each
/// @{
/// Who leads at the smallest and the largest size that all lines of a panel have.
[[nodiscard]] std::vector<std::string> fastest_findings(const ReportData& data);
/// Between which sizes the lead passes from one line of a panel to another.
[[nodiscard]] std::vector<std::string> crossing_findings(const ReportData& data);
/// Flat, rising or falling with the number of ranks, at the largest size that all of them have.
[[nodiscard]] std::vector<std::string> trend_findings(const ReportData& data);
/// Lines whose highest rate is a share of their bound that is low or suspect.
[[nodiscard]] std::vector<std::string> share_findings(const ReportData& data);
/// A few sentences: one on who leads, one on each system.
[[nodiscard]] std::vector<std::string> short_findings(const ReportData& data);
/// @}

/// The highest rate over the bound; empty where no bound is known.
[[nodiscard]] std::optional<double> best_share(const ReportLine& line);
inline constexpr double kLowShare = 0.6;       ///< below it a system is worse than it should be
inline constexpr double kSuspectShare = 1.02;  ///< above it the bound does not hold

/// The rates of one curve over numbers of ranks at one size: a row of the scaling table.
struct ScalingRow {
  std::string label{};  ///< with "(simulated)"
  std::string system{};
  std::size_t number = 0;  ///< of the line, as in ReportLine
  bool simulated = false;
  std::vector<int> ranks{};
  std::vector<double> rates_GBps{};
  Trend trend = Trend::None;
};

/// Scaling of one collective at the largest size that every line of it has (0 where none has).
struct Scaling {
  std::string collective{};
  Bytes size = 0;
  std::vector<ScalingRow> rows{};
};
[[nodiscard]] std::vector<Scaling> scalings_of(const ReportData& data);

/// Sizes that all lines of a panel have, rising.
[[nodiscard]] std::vector<Bytes> sizes_of_all(const ReportPanel& panel);

}  // namespace busbar
