// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "base/round_robin.hpp"
#include "judge/spec/specification.hpp"
#include "model/record.hpp"
#include "study/dataset.hpp"
#include "study/import/file_rows.hpp"
#include "study/run_facts.hpp"

namespace busbar::judge {

/// Exit codes of launches: after a timeout, as timeout(1) has it; not made, or not to its end.
inline constexpr int kTimedOut = 124;
inline constexpr int kNotMade = -1;

/// Why a launch was made.
enum class Purpose { Measure, Rerun, Confirm };

constexpr auto enum_names(Purpose) {
  return std::array{Named{Purpose::Measure, "measure"}, Named{Purpose::Rerun, "rerun"},
                    Named{Purpose::Confirm, "confirm"}};
}

/// A launch of one collective on some nodes: its rows, a failure, or of a cut CSV both.
struct Observation {
  std::string device_set{};          ///< id of the specification
  std::string instance{};            ///< "h1", "rail 3", "all", "16 nodes" that meet in pairs
  std::vector<std::string> nodes{};  ///< by name
  int group = -1;                    ///< of Rails: the rows with this group count; -1: all do
  int launch = 0;                    ///< from 0
  int attempt = 0;                   ///< 0 first; a rerun is 1, 2, ...
  Purpose purpose = Purpose::Measure;
  std::string collective{};
  std::string file{};
  std::string failure{};  ///< "timeout after 120 s", "exit 4: ...", "h3 does not answer"
  int exit_code = 0;      ///< kTimedOut where it took too long, kNotMade where nothing ended
  double seconds = 0;
  std::string command{};
  std::string unreachable{};  ///< the node that did not answer, if that is the failure
  Facts facts{};              ///< of the CSV's head
  std::vector<Record> records{};

  [[nodiscard]] study::FileView view() const {
    return {.path = file, .facts = facts, .records = records};
  }
  /// Whether it was made and hung or crashed, which counts against its nodes. What our programs
  /// refuse to do (bad usage, a missing library) does not, nor what the run itself interrupted.
  [[nodiscard]] bool hung_or_crashed() const;
};

/// "x.csv: no row in it", "x.csv: cut off: ..."; empty: the file of a launch is whole.
[[nodiscard]] std::string file_failure(const study::Dataset& dataset);

/// CSVs without a journal, by what their rows have; `notes` names every file that fits no set.
[[nodiscard]] std::vector<Observation> observe_files(const Specification& specification,
                                                     std::span<const study::FileRows> files,
                                                     std::vector<std::string>& notes);

/// One use of a device set: these nodes measure together.
struct Instance {
  std::string name{};                ///< "h1", "h1+h2", "rail 3", "all"
  std::vector<std::string> nodes{};  ///< by name, in the order of the node list
  int group = -1;                    ///< of Rails: the rows with this group count; -1: all do
};

/// What is judged: each node, of a pairwise set too; a rail per rank of a node; or all in one.
[[nodiscard]] std::vector<Instance> instances_of(const DeviceSetRule& set,
                                                 std::span<const std::string> nodes);

/// Two of these nodes: "h1+h2".
[[nodiscard]] Instance pair_instance(std::span<const std::string> nodes, const NumberPair& pair);

/// The names that hosts give themselves, each once; none of a log of another tool.
[[nodiscard]] std::set<std::string> hosts_of(const Observation& observation);

/// Whether set, group and nodes, in any order, are the same. Confirmations are of no instance.
[[nodiscard]] bool belongs_to(const Observation& observation, const DeviceSetRule& set,
                              const Instance& instance);

/// The collectives that rules ask for on a device set, each once.
[[nodiscard]] std::vector<std::string> collectives_of(const Specification& specification,
                                                      const std::string& device_set);

[[nodiscard]] bool has_all(std::span<const std::string> nodes, std::span<const std::string> wanted);

}  // namespace busbar::judge
