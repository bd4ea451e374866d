// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apps/workload_options.hpp"
#include "report/text_table.hpp"
#include "study/workload.hpp"

namespace busbar {

/// Four figures that count, without an exponent where people would not write one.
[[nodiscard]] std::string figure(double value);
[[nodiscard]] std::string percent(double share);
[[nodiscard]] std::string overlap_words(double overlap);
/// "dgx-2 (simulated)"
[[nodiscard]] std::string name_of(const SystemRates& system);

/// Whose throughput stands for the GPU that is meant, and how to give it; only where that is
/// assumed.
[[nodiscard]] std::string assumption(const WorkloadCase& job);

/// The width of plain text in characters; a table is wider only where names are long.
inline constexpr std::size_t kWorkloadColumns = 100;

/// "# " and the text, broken at blanks before kWorkloadColumns; what follows is indented.
[[nodiscard]] std::string comment(std::string_view line);

/// Lines of explanation and a table, plain or Markdown.
[[nodiscard]] std::string section(bool markdown, const std::vector<std::string>& lines,
                                  const TextTable& table);

/// What is reckoned, with which rates and which computing.
[[nodiscard]] std::vector<std::string> head_lines(const WorkloadOptions& options,
                                                  const WorkloadRequest& request);

}  // namespace busbar
