// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/chart.hpp"
#include "format/timeline_file.hpp"
#include "machine/host_window.hpp"
#include "study/plot/curves.hpp"

namespace busbar::study {

/// @name Figures over the size, a panel per number of ranks; empty where the curves do not allow it
/// @{
/// Bus bandwidth, on an axis as in set_rate_axis, with its interval and with what the topology
/// allows.
[[nodiscard]] Chart busbw_figure(const SizeCurves& curves, std::optional<bool> logarithmic = {});
/// Bus bandwidth as percent of the row's own bound.
[[nodiscard]] Chart share_figure(const SizeCurves& curves);
/// Time: median and 99th percentile.
[[nodiscard]] Chart latency_figure(const SizeCurves& curves);
/// @}

/// Bus bandwidth and time over ranks at `size`, or at the largest size that all curves have. The
/// ideal line keeps the bus bandwidth of the fewest ranks. Sizes that were measured in place only
/// are left out. Empty without two numbers of ranks.
[[nodiscard]] Chart scaling_figure(const SizeCurves& curves, std::optional<Bytes> size,
                                   std::optional<bool> logarithmic = {});

/// The rates of ordered pairs, a panel per system, at `size` or at the largest that each has. A
/// pair without a value is a cell without one. `limits`: of the colours in GB/s; without them the
/// data's, widened to round numbers. Empty where no row has a sender and a receiver.
[[nodiscard]] Chart pairs_figure(std::span<const Dataset> datasets, std::optional<Bytes> size,
                                 std::optional<ChartRange> limits);

/// The next round numbers around a range: 1, 2 or 5 times a power of ten apart, five to ten steps.
[[nodiscard]] ChartRange round_limits(double low, double high);

/// Seconds since 1970 of "YYYY-MM-DD HH:MM:SS[.FRACTION]", read as a calendar without time zones;
/// empty where it is something else.
[[nodiscard]] std::optional<double> calendar_seconds(const std::string& text);

/// Names the datasets that have no system and no LABEL by their hosts, so that launches on one
/// machine are one system. Where two of them have the same rows they are compared and keep their
/// own names, but not over time.
void label_by_hosts(std::vector<Dataset>& datasets, bool over_time);

/// Median bus bandwidth at one size over the launches' starts, with a mark where a version of the
/// head changed. Without `size` the size that most launches have, and of those the largest. Empty
/// where no curve has two starts.
[[nodiscard]] Chart history_figure(std::vector<Dataset> datasets, PlotPlacement placement,
                                   std::optional<Bytes> size, std::optional<bool> logarithmic = {});

/// The samples of one size of one collective.
struct SampleSet {
  CurveKey key{};  ///< without ranks, which the file does not have
  Bytes size = 0;
  std::vector<double> times_us{};
  std::map<int, std::vector<double>> times_by_rank_us{};  ///< instead, of --per-rank
};

/// Whether the file's column names are those of --samples or --per-rank; false also where it cannot
/// be read.
[[nodiscard]] bool is_samples_file(const std::string& path);

/// Reads such a CSV. Throws a usage error with file and line where a cell is not a number.
[[nodiscard]] std::vector<SampleSet> read_samples(const std::string& path,
                                                  const std::string& label);

/// With fewer samples than this each is drawn as a point.
inline constexpr std::size_t kFewSamples = 30;

/// A figure of samples, a panel for the smallest, a middle and the largest size, or for `size`.
/// "samples": the share of samples up to a time. "histogram": their density over their times, where
/// there are kFewSamples or more and all took time, which shows modes that the cumulative curve
/// hides. "ranks": the median of each rank's own times, with their middle half; who is last to
/// arrive has the shortest.
[[nodiscard]] Chart sample_figure(std::string_view name, std::span<const SampleSet> sets,
                                  PlotPlacement placement, std::optional<Bytes> size);

/// A file of --timeline.
struct LabelledTimeline {
  std::string label{};  ///< empty: what the head says
  TimelineFile file{};
};

/// The time of the operations over the time of a run: median and 99th percentile of each interval,
/// the levels, the slowdowns, and what went wrong on its hosts meanwhile. A panel for each
/// collective, size and hosts, whose runs follow each other by their start without the time between
/// them.
[[nodiscard]] Chart timeline_figure(std::vector<LabelledTimeline> timelines,
                                    std::span<const machine::HostFault> faults);

/// A file, and the name that the user gives what is in it; empty where there is none.
struct LabelledPath {
  std::string label{};
  std::string path{};
};

/// LABEL=FILE or FILE. A file may have "=" in its name: one that exists is taken whole.
[[nodiscard]] LabelledPath labelled_path(const std::string& word);

struct PlotInput {
  std::vector<Dataset> datasets{};
  std::vector<SampleSet> samples{};
  std::vector<LabelledTimeline> timelines{};
  std::vector<machine::HostFault> faults{};
};

/// Reads FILE or LABEL=FILE: a CSV of rows, or one of --samples, --per-rank, --timeline or --facts.
/// Throws Error (Usage).
[[nodiscard]] PlotInput load_plot_input(std::span<const std::string> words);

/// What is drawn, and of which rows.
struct PlotRequest {
  std::vector<std::string> figures{};  ///< names; none: all that the data allow
  PlotPlacement placement = PlotPlacement::Out;
  std::optional<Bytes> size{};         ///< of scaling, pairs, samples and history
  std::optional<ChartRange> limits{};  ///< of the colours of pairs, in GB/s
  std::optional<bool> log_y{};         ///< of bandwidths; empty: by the curves
};

/// Names of all figures, in their order.
[[nodiscard]] std::vector<std::string> figure_names();

/// The figures that are requested. Throws Error (Usage) where one that was named cannot be drawn,
/// or none at all: the message says what is missing.
[[nodiscard]] std::vector<Chart> make_figures(const PlotInput& input, const PlotRequest& request);

}  // namespace busbar::study
