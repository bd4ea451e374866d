// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "format/output_file.hpp"
#include "judge/observation.hpp"
#include "judge/run/job.hpp"
#include "judge/run/launch_queue.hpp"
#include "machine/host_window.hpp"

namespace busbar::judge {

/// What was launched, in which order.
struct RunJournal {
  std::string specification{};
  std::string profile{};
  std::vector<std::string> rules{};  ///< the only ones that were asked for; empty: all
  std::string seed{};
  bool soak = false;                 ///< launches are turns of a soak
  std::vector<std::string> nodes{};  ///< all that were to be judged
  std::string levels{};              ///< levels.csv: where they are in the fabric
  /// One launch each, on disk as soon as it has ended, with the rows of its CSV.
  std::vector<Observation> lines{};
  /// CSVs of launches that no line names: the run was killed when it had written them.
  std::vector<std::string> unlisted{};
  machine::HostWindows machines{};   ///< facts of nodes before, between and after launches
  std::vector<std::string> notes{};  ///< notes.txt: of the run, for its verdicts
};

/// Device set, instance, collective, launch, attempt and purpose.
using LaunchKey = std::tuple<std::string, std::string, std::string, int, int, Purpose>;
[[nodiscard]] LaunchKey launch_key(const Observation& line);
[[nodiscard]] LaunchKey launch_key(const LaunchJob& job, const Instance& instance);

/// Reads launches.csv and the CSVs beside it; a launch whose CSV is missing or cannot be read has a
/// failure, and one that was interrupted and made again later is left out. Throws Error (Usage)
/// with file and line, also where two lines have one launch.
[[nodiscard]] RunJournal load_journal(const std::string& path);
/// The head, and one line; RFC 4180.
[[nodiscard]] std::string journal_head(const RunJournal& journal);
[[nodiscard]] std::string journal_row(const Observation& line);

/// Where the timeline of a launch's CSV is: in the folder "timelines" beside it.
[[nodiscard]] std::string timeline_path(const std::string& csv);

/// What `accept run` writes: the specification, the journal, CSV and stderr of every launch.
class RunFolder {
 public:
  /// Begins the journal in a folder that is new or empty; with `resume` a run of the same head (but
  /// for its seed) and specification goes on. Throws Error (Usage).
  RunFolder(std::string path, RunJournal head, const std::string& specification_text,
            bool resume = false);

  /// Whether the run that is resumed has made this launch.
  [[nodiscard]] bool has(const LaunchJob& job) const;

  /// Keeps what a launch wrote, then its lines: they are on disk when this returns.
  void add(std::size_t number, const LaunchJob& job, const LaunchResult& result);

  /// Adds the lines of facts ("# fact: ...") that a program printed on a node to facts.csv.
  void add_facts(const std::string& node, std::string_view output);

  /// Adds a line to notes.txt, and to the journal's notes.
  void add_note(const std::string& line);

  /// Removes the folder, for a run that is refused before its first launch.
  void discard();

  /// The path of a file with these lines, which is written once: hosts or groups of a launch.
  [[nodiscard]] std::string text_file(const std::string& lines, std::string_view ending);

  [[nodiscard]] std::string journal_path() const { return path_ + "/launches.csv"; }
  [[nodiscard]] std::string facts_path() const { return path_ + "/facts.csv"; }
  [[nodiscard]] const RunJournal& journal() const { return journal_; }

 private:
  std::string path_;
  RunJournal journal_;
  std::set<LaunchKey> earlier_{};
  std::map<std::string, std::string> host_files_{};  ///< paths by their lines
  std::optional<OutputFile> file_{};
  std::optional<OutputFile> facts_{};
};

}  // namespace busbar::judge
