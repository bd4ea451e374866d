// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/document.hpp"
#include "study/expect/expect.hpp"
#include "study/plot/curves.hpp"
#include "topo/choice/choose.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::study {

/// Bandwidths of sets of k devices of one system. A choice is empty where there are too many sets
/// to compare; `gap` says so.
struct SetsOfSize {
  int k = 0;
  std::optional<topo::Choice> prefix{};
  std::optional<topo::Choice> best{};
  std::optional<topo::Choice> worst{};
  std::vector<topo::SetClass> classes{};  ///< those without a ring by what they fall back on
  std::string gap{};
};

/// A system of the report: from its topology, or from a CSV alone.
struct ReportSystem {
  std::string name{};
  std::optional<topo::Graph> graph{};
  std::string built_in{};          ///< whose graph it is; empty: of a file, or unknown
  std::vector<SetsOfSize> sets{};  ///< by rising k: 2, 4, 8, ... devices and all, every size up to
                                   ///< 8 devices, and the ranks of its CSVs
};

/// What machines like a curve's reach at its largest size.
struct CurveExpectation {
  ExpectRequest request{};
  Answer expected{};
};

/// All curves of one collective at one number of ranks. The bound of each is that of its rows, else
/// of the topology; it is the same at all sizes.
struct ReportPanel {
  std::string collective{};
  int ranks = 0;
  std::vector<SizeCurve> curves{};  ///< in the order of the systems
  /// The expectation of each curve; nothing unless NCCL measured it on a known machine of GPUs.
  std::vector<std::optional<CurveExpectation>> expectations{};

  /// "simulated all-reduce, 8 ranks": where all of a panel is simulated, that is said once, in
  /// front.
  [[nodiscard]] std::string where() const;
  /// The curve's title, without what `where` says.
  [[nodiscard]] std::string title(const SizeCurve& curve) const;
};

/// Why a system's figures are in doubt: the warnings of its own capture, what the machine lacks
/// before what the files lack; a built-in system has none.
[[nodiscard]] std::vector<std::string> doubts_of(const ReportSystem& system);
/// The system's name, marked where it is in doubt.
[[nodiscard]] std::string doubted_name(const ReportSystem& system);

/// The contents of a report, before they are text.
struct ReportData {
  std::vector<ReportSystem> systems{};
  std::vector<Dataset> datasets{};
  std::vector<ReportPanel> panels{};          ///< by collective, then ranks; all-reduce first
  std::vector<std::string> notes{};           ///< what was left out, and why
  std::vector<std::string> curve_findings{};  ///< sizes at which a curve falls; sentences
};

/// Joins CSVs and systems: the systems given come first, then those that the CSVs name; a built-in
/// system is known by its names, or recognized by the GPUs. Each keeps the label of its CSVs.
[[nodiscard]] ReportData make_report_data(std::vector<Dataset> datasets,
                                          std::vector<topo::Graph> graphs);

/// By what an all-reduce exceeds the bound of rings.
[[nodiscard]] std::string_view beyond_rings(const topo::Bound& bound);

/// The report as text, tables and charts, which are not drawn yet; the same data give the same
/// document.
[[nodiscard]] Document report_document(const ReportData& data);

/// The answer of a report: a table of systems by number of devices, and its picture.
[[nodiscard]] Section summary_section(const ReportData& data, const Palette& palette);

/// @name A chart of lying bars: rows from the top down, whose names stand at the left
/// @{
[[nodiscard]] Chart chart_of_rows(std::string title, std::string x_title, double x_high, int width);
/// Returns the number of the new row.
double add_row(Chart& chart, const std::string& name);
/// @}

/// The section that compares what the topologies allow; none without a topology.
[[nodiscard]] std::vector<Section> topology_sections(const ReportData& data,
                                                     const Palette& palette);

/// A section for each system: its parts and links, and what its sets of devices can reach.
[[nodiscard]] std::vector<Section> system_sections(const ReportData& data);

}  // namespace busbar::study
