// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/import/log_table.hpp"

namespace busbar::study {

/// A line of a log without what launchers and CI put before it.
struct LogLine {
  std::size_t number = 0;  ///< from 1
  std::string text{};
  bool whole = true;  ///< false for a last line without an end: the log was cut off there
};

/// The lines of a log. Prefixes of launchers (`[1,0]<stdout>:`, `0:`), times of CI and colours are
/// taken off.
[[nodiscard]] std::vector<LogLine> log_lines(std::string_view text);

/// The words of a line.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

/// The whole word as a finite number that is not negative, with its precision.
[[nodiscard]] std::optional<Printed> printed_number(std::string_view word);
/// The whole word as a whole number that is not negative.
[[nodiscard]] std::optional<std::uint64_t> whole_number(std::string_view word);
/// The same for -1 too: roots.
[[nodiscard]] std::optional<int> small_number(std::string_view word);

/// The value after a word: 8 for `after_word("nGpus 8 minBytes", "nGpus")`.
[[nodiscard]] std::optional<std::uint64_t> number_after(const std::vector<std::string>& words,
                                                        std::string_view word);

/// A command's number of processes (-n, -np, --ntasks), where it is one of mpirun, mpiexec or srun.
[[nodiscard]] std::optional<int> processes_of_command(const std::vector<std::string>& words);

}  // namespace busbar::study
