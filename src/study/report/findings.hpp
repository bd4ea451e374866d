// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/report/data.hpp"

namespace busbar::study {

/// Where the lead passes from one of several curves to another: beyond `after`, at `until` at the
/// latest.
struct LeadChange {
  Bytes after = 0;        ///< the last size at which the old leader leads
  Bytes until = 0;        ///< the first at which the new one does
  std::size_t loser = 0;  ///< numbers of the curves
  std::size_t winner = 0;
};

/// -1, 0 or 1: the second leads; they are level, which is within 2 % of the greater; the first
/// leads.
[[nodiscard]] int leader(double first_GBps, double second_GBps);

/// All changes of the lead of all curves, at sizes that the leader and another curve have; nothing
/// is interpolated. Each curve is by rising size, each size once.
[[nodiscard]] std::vector<LeadChange> crossings(std::span<const SizeCurve> curves);

/// @name Findings, one sentence each
/// @{
/// Between which sizes the lead passes from one curve to another of as many ranks.
[[nodiscard]] std::vector<std::string> crossing_findings(const ReportData& data);
/// Curves that are below what others published, or whose highest rate is below 60 % of their bound
/// (unless others published as much), or above 102 %; who is last to arrive, and sizes at which a
/// curve falls.
[[nodiscard]] std::vector<std::string> suspect_findings(const ReportData& data);
/// What makes a comparison unsafe: problems of files, wrong data, different versions of libraries,
/// measured beside simulated, different cadence.
[[nodiscard]] std::vector<std::string> comparison_warnings(const ReportData& data);
/// @}

/// The point of the highest rate.
[[nodiscard]] const SizePoint& highest_point(const SizeCurve& curve);
/// The highest rate over the bound; empty where no bound is known.
[[nodiscard]] std::optional<double> best_share(const SizeCurve& curve);

}  // namespace busbar::study
