// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/csv_reader.hpp"
#include "model/collective.hpp"
#include "model/record.hpp"

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

}  // namespace busbar::study
