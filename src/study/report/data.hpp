// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/document.hpp"
#include "study/expect/expect.hpp"
#include "study/plot/curves.hpp"
#include "topo/choice/choose.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::study {

/// A system of the report: from its topology, or from a CSV alone.
struct ReportSystem {
  std::string name{};
  std::optional<topo::Graph> graph{};
  std::string built_in{};                   ///< whose graph it is; empty: of a file, or unknown
  std::vector<topo::SetComparison> sets{};  ///< as topo::summarize has them; all devices first

  /// Why its figures are in doubt: the warnings of its own capture, what the machine lacks before
  /// what the files lack; a built-in system has none.
  [[nodiscard]] std::vector<std::string> doubts() const;
};

/// The contents of a report, before they are text.
struct ReportData {
  std::vector<ReportSystem> systems{};
  std::vector<Dataset> datasets{};
  /// Those of each collective, all-reduce first; in the order of the systems, each by rising ranks.
  /// The bound is that of the rows, else of the topology; it is the same at all sizes.
  std::vector<SizeCurves> collectives{};
  /// What machines like a curve's reach at its largest size: of the curves that NCCL measured on a
  /// known machine of GPUs.
  std::map<CurveKey, Answer> expectations{};
  std::vector<std::string> notes{};           ///< what was left out, and why
  std::vector<std::string> curve_findings{};  ///< sizes at which a curve falls; sentences
};

/// Joins CSVs and systems: the systems given come first, then those that the CSVs name; a built-in
/// system is known by its names, or recognized by the GPUs. Each keeps the label of its CSVs.
[[nodiscard]] ReportData make_report_data(std::vector<Dataset> datasets,
                                          std::vector<topo::Graph> graphs);

/// The curves of one number of ranks after another.
[[nodiscard]] std::vector<SizeCurves> split_by_ranks(const SizeCurves& curves);

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

/// The report as text, tables and charts, which are not drawn yet; the same data give the same
/// document.
[[nodiscard]] Document report_document(const ReportData& data);

/// Stands in every index: an index may be replaced, another page may not.
inline constexpr std::string_view kIndexMark = "busbar report --index,";

/// The index of a folder of runs: a page with the verdicts of its acceptances, the history of each
/// machine and collective, every run, and links to all of them. Reads the folder and those below
/// it: CSVs of runs, verdicts.json of acceptances, and pages. CSVs below a journal (launches.csv)
/// are those of an acceptance, and no runs. Links are relative to the folder; `notes` are of files
/// that cannot be read or lack something. Throws Error (Usage) where there is no run and no
/// acceptance.
[[nodiscard]] Document index_of(const std::string& folder, std::vector<std::string>& notes);

}  // namespace busbar::study
