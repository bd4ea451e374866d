// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/observation.hpp"

namespace busbar::judge {

/// One launch of `accept run` as its journal (launches.csv) keeps it; a line is on disk as soon as
/// the launch has ended.
struct JournalLine {
  std::string device_set{};
  std::string instance{};
  std::vector<std::string> nodes{};
  int group = -1;
  int launch = 0;
  int attempt = 0;
  Purpose purpose = Purpose::Measure;
  std::string collective{};
  std::string file{};     ///< the CSV, relative to the journal's folder; empty: none was written
  std::string failure{};  ///< empty: it went well
  int exit_code = 0;
  double seconds = 0;
  std::string command{};
};

/// A journal: who was asked, in which order.
struct Journal {
  std::string specification{};
  std::string profile{};
  std::vector<std::string> rules{};  ///< the only ones that were asked for; empty: all
  std::string seed{};
  std::vector<std::string> nodes{};  ///< all that were to be judged
  std::vector<JournalLine> lines{};
};

/// Reads launches.csv. Throws Error (Usage) with file and line.
[[nodiscard]] Journal load_journal(const std::string& path);
/// The head, and one line; RFC 4180.
[[nodiscard]] std::string journal_head(const Journal& journal);
[[nodiscard]] std::string journal_row(const JournalLine& line);

/// The journal's CSVs as observations; a CSV that is missing or cannot be read is one with a
/// failure.
[[nodiscard]] std::vector<Observation> observe_journal(const Journal& journal,
                                                       const std::string& folder);
/// The same for the journal's lines beyond those that `observations` already has.
void observe_more(const Journal& journal, const std::string& folder,
                  std::vector<Observation>& observations);

}  // namespace busbar::judge
