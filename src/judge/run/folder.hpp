// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "judge/run/job.hpp"
#include "judge/run/journal.hpp"
#include "report/output_file.hpp"

namespace busbar::judge {

/// What `accept run` writes: the specification, the journal, a CSV and where there is any the
/// stderr of every launch.
class RunFolder {
 public:
  /// Makes the folder, which must be new or empty, and begins the journal. Throws Error (Usage).
  RunFolder(std::string path, Journal head, const std::string& specification_text);

  /// Keeps what a launch wrote in files of its number, then its lines: they are on disk when this
  /// returns.
  void add(std::size_t number, const Job& job, const JournalLine& outcome, const std::string& csv,
           const std::string& log);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string journal_path() const { return path_ + "/launches.csv"; }
  /// The head and all lines so far.
  [[nodiscard]] const Journal& journal() const { return journal_; }

 private:
  std::string path_;
  Journal journal_;
  std::optional<OutputFile> file_{};
};

/// Letters, digits, '.', '+' and '-' of a text, at most 60.
[[nodiscard]] std::string file_word(const std::string& text);

}  // namespace busbar::judge
