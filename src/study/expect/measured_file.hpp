// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/csv_reader.hpp"
#include "model/collective.hpp"
#include "model/record.hpp"
#include "topo/predict/calibration.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::study {

/// What was measured: rows of a file, or a figure alone.
struct Measured {
  std::string setting{};  ///< of a log's runs, where it has several
  std::optional<double> busbw_GBps{};
  std::vector<Record> records{};
  std::vector<Record> of_all_sizes{};  ///< before `records` were cut to one size
  Facts facts{};
  std::vector<std::string> notes{};  ///< what the user should know of the file
};

/// What --measured names: a figure, or the rows of a collective in a log or CSV, by setting.
/// `size`: of rates whose log has none. Throws Error (Usage) for what is neither.
[[nodiscard]] std::vector<Measured> read_measured(const std::string& text,
                                                  const Collective& collective,
                                                  std::optional<Bytes> size);

/// How measured rows and a machine become curves that a prediction can be compared with.
struct CurveRequest {
  std::string collective{};  ///< if a log does not name it
  std::optional<int> ranks{};
  std::optional<int> gpus_per_process{};  ///< if a log does not name them
};

/// The rows of logs and CSVs by collective and ranks: out of place, else in place. The machine has
/// as many hosts as the ranks need. Throws Error (Usage) for what cannot be read or simulated.
[[nodiscard]] std::vector<topo::MeasuredCurve> curves_of_files(
    const std::vector<std::string>& paths, const topo::EqualHosts& machine,
    const CurveRequest& request);

/// The curve of that many ranks of a machine, without times; the machine has as many hosts as they
/// need, where a network joins them.
[[nodiscard]] topo::MeasuredCurve curve_of(std::string name, const std::string& collective,
                                           int ranks, const topo::EqualHosts& machine,
                                           int gpus_per_process);

/// Columns of a table of errors: what a row is of, then number, median, worst and number above 40 %
/// of the large sizes and of the small ones.
[[nodiscard]] std::vector<std::string> error_columns(std::string first);
/// The errors of several curves together.
[[nodiscard]] std::vector<std::string> error_row(std::string name,
                                                 std::span<const topo::MeasuredCurve> curves);

}  // namespace busbar::study
