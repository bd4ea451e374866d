// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "study/plot_curves.hpp"
#include "topo/choice/choose.hpp"
#include "topo/graph/graph.hpp"

namespace busbar {

/// Bandwidths of sets of k devices of one system. A choice is empty where there are too many sets
/// to compare; `gap` says so.
struct SetsOfSize {
  int k = 0;
  std::optional<topo::Choice> prefix{};
  std::optional<topo::Choice> best{};
  std::optional<topo::Choice> worst{};
  std::vector<topo::SetClass> classes{};
  std::string gap{};
};

/// A system of the report: from its topology, or from a CSV alone.
struct ReportSystem {
  std::string name{};
  std::optional<topo::Graph> graph{};
  std::vector<SetsOfSize> sets{};  ///< by rising k
};

/// One curve: the median over launches at each size.
struct ReportLine {
  std::string system{};
  std::size_t number = 0;  ///< among its system's lines of this collective
  std::string label{};     ///< the system, and what distinguishes it from other lines of the panel
  std::string words{};     ///< the label, and "(simulated)" where it is
  CurveKey key{};
  std::vector<SizePoint> points{};  ///< by rising size
  std::set<Bytes> gaps{};           ///< sizes that were skipped or failed
  std::optional<double> bound_GBps{};
  std::string limit{};  ///< what the bound is of, in words
};

/// All curves of one collective at one number of ranks.
struct ReportPanel {
  std::string collective{};
  int ranks = 0;
  std::vector<ReportLine> lines{};  ///< in the order of the systems
};

/// The contents of a report, before they are text.
struct ReportData {
  std::vector<ReportSystem> systems{};
  std::vector<Dataset> datasets{};
  std::vector<ReportPanel> panels{};  ///< by collective, then ranks
  std::vector<std::string> notes{};   ///< what was left out, and why
};

/// Joins CSVs and systems: the systems given come first, then those that the CSVs name; a built-in
/// system is known by its name.
[[nodiscard]] ReportData make_report_data(std::vector<Dataset> datasets,
                                          std::vector<topo::Graph> graphs);

/// Bandwidths of sets of a machine: of 2, 4, 8, ... devices and all, of every size up to 8 devices,
/// and of `also`.
[[nodiscard]] std::vector<SetsOfSize> sets_of(const topo::Graph& graph,
                                              const std::set<int>& also = {});

/// The rate at a size; empty where the line has none there.
[[nodiscard]] std::optional<double> rate_at(const ReportLine& line, Bytes size);
/// Whether the rate at a size was measured in place only, on a line out of place.
[[nodiscard]] bool is_in_place_at(const ReportLine& line, Bytes size);

/// By what an all-reduce exceeds the bound of rings.
[[nodiscard]] std::string_view beyond_rings(const topo::Bound& bound);

}  // namespace busbar
