// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/text.hpp"
#include "bootstrap/launcher.hpp"
#include "judge/fleet/confirmation.hpp"
#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// One launch that is to be made: one collective on some nodes, whose rows become one CSV.
struct LaunchJob {
  std::string device_set{};
  std::vector<Instance> instances{};  ///< whose rows it makes: one, or all rails
  int launch = 0;
  int attempt = 0;
  Purpose purpose = Purpose::Measure;
  std::string collective{};
  double soak_s = 0;                    ///< how long it goes on; 0: it is no turn of a soak
  std::vector<NumberedRound> rounds{};  ///< of a pairwise set: who meets, by the place in nodes()

  /// Each rail has all nodes.
  [[nodiscard]] const std::vector<std::string>& nodes() const { return instances.front().nodes; }
};

/// "h1+h2", "all", "rails": of a job, for people and file names.
[[nodiscard]] std::string job_name(const LaunchJob& job);

/// What starts programs on nodes.
struct LaunchSetup {
  LauncherChoice launcher{};
  std::vector<std::string> arguments{};  ///< of the launcher, from the user
  std::string programs{};                ///< the folder of the *_perf
  bool has_groups = false;               ///< some launch has more than one rank
  /// The path of a file with these lines, there when a command is run; `ending`: of its name.
  std::function<std::string(const std::string& lines, std::string_view ending)> text_file{};
};

/// The commands of a job, one per type and geometric progression of sizes, to be run one by one.
[[nodiscard]] std::vector<Words> commands_of(const Specification& specification,
                                             const LaunchSetup& setup, const LaunchJob& job);
/// Prints a program's version on a node, if its name is known there where ranks will meet by it.
[[nodiscard]] Words touch_command(const LaunchSetup& setup, const std::string& collective,
                                  const std::string& node);
/// The node that a launch names which hung or crashed, by what it wrote on stderr; else empty.
[[nodiscard]] std::string breaking_node(std::string_view log, const std::vector<std::string>& nodes,
                                        int ranks_per_node);
/// As a shell would read it.
[[nodiscard]] std::string command_text(const Words& words);

/// Sizes from first to last, each `factor` times the one before.
struct SizeRun {
  Bytes first = 0;
  Bytes last = 0;
  Bytes factor = 2;
};

/// Rising sizes as few geometric progressions.
[[nodiscard]] std::vector<SizeRun> size_runs(const std::vector<Bytes>& sizes);

/// Jobs that share no node and may run at the same time.
using Unit = std::vector<LaunchJob>;

/// All of these nodes, "16 nodes": what a launch of a pairwise set is of.
[[nodiscard]] Instance fleet_instance(std::vector<std::string> nodes);

/// What has turns of a soak, as rounds that share no node: of a pairwise set all pairs.
[[nodiscard]] std::vector<std::vector<Instance>> soaked_rounds(const DeviceSetRule& set,
                                                               std::span<const std::string> nodes);

/// All launches of all sets, shuffled: first those of single nodes, so that what is bad by itself
/// is known before nodes meet. A launch of a pairwise set is of all nodes; in a soak of each pair.
[[nodiscard]] std::vector<Unit> plan_units(const Specification& specification,
                                           std::span<const std::string> nodes,
                                           std::mt19937_64& random, bool soak = false);

/// The launches of noisy instances once more, where the specification has reruns left for them.
[[nodiscard]] std::vector<Unit> rerun_units(const Specification& specification,
                                            std::span<const std::string> nodes,
                                            const Acceptance& acceptance);

}  // namespace busbar::judge
