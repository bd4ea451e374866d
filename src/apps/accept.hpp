// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "judge/fleet/rehearsal.hpp"
#include "judge/judge.hpp"
#include "judge/observation.hpp"
#include "judge/run/journal.hpp"
#include "judge/spec/lint.hpp"
#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"
#include "machine/host_window.hpp"
#include "model/host_levels.hpp"

namespace busbar {

struct AcceptOptions {
  std::string specification{};       ///< a file or the name of a ready-made one
  std::vector<std::string> files{};  ///< of judge
  std::string output{};              ///< run: a folder
  std::string profile{};
  std::vector<std::string> rules{};  ///< ids of the only ones; empty: all
  std::string setting{};             ///< judge: of rows of several
  std::vector<std::string> hosts{};
  std::string hostfile{};
  std::optional<std::uint64_t> seed{};
  std::optional<Seconds> soak_for{};  ///< --for: how long a soak lasts
  bool soak = false;                  ///< the launches are, or will be, turns of a soak
  bool resume = false;                ///< run: go on in a folder that was begun
  bool serial = false;
  std::optional<int> at_once{};
  std::string launcher{};  ///< as the programs' --launcher; empty: the specification's
  std::string mpiexec{};   ///< path of the launcher; empty: that of PATH
  std::string programs{};  ///< folder of the *_perf; empty: beside busbar
  bool same_machine = false;
  bool strict = false;
  bool verbose = false;
  bool dump_specification = false;
  std::map<std::string, std::string> assumed{};
  std::map<std::string, std::string, std::less<>> outputs{};  ///< files by option: "--json"
  std::vector<std::string> launcher_arguments{};              ///< those after --

  /// @name Of `accept rehearse`, and of the power that `accept lint` prints
  /// @{
  std::optional<int> nodes{};
  std::vector<std::size_t> levels{};  ///< members of a unit, from the narrowest
  std::string fabric{};               ///< a file's CSV of hosts and their units, instead
  judge::Noise noise{};
  std::string noise_text = "0.03";
  std::vector<judge::PlantedFault> faults{};
  std::optional<int> partners{};
  std::optional<int> launches{};
  int fleets = 1;
  bool power = false;
  judge::LaunchTimes times{};
  /// @}
};

/// `busbar accept run` and `soak`: launches, keeps and judges. Throws Error for what ends it.
[[nodiscard]] Status accept_run(const AcceptOptions& options);
/// `busbar accept judge`: judges files of runs.
[[nodiscard]] Status accept_judge(AcceptOptions options);

/// `busbar accept rehearse`: tests a simulated fleet.
[[nodiscard]] Status accept_rehearse(const AcceptOptions& options);
/// How many nodes a rehearsal has, by the options, else by the specification; 0: it is not known.
[[nodiscard]] std::size_t planned_nodes(const judge::Specification& specification,
                                        const AcceptOptions& options);
/// What a plan can find, in a line; that no rule compares pairs, where --nodes asks for it; else
/// empty where the number of nodes is not known, or too low for any comparison.
[[nodiscard]] std::string power_text(const judge::Specification& specification,
                                     const AcceptOptions& options);

/// The specification, profile and rules of the options.
[[nodiscard]] judge::Specification parse_specification(
    const AcceptOptions& options, std::vector<std::string>* all_faults = nullptr);
/// The same, and refuses what `accept lint` refuses.
[[nodiscard]] judge::Specification read_specification(const AcceptOptions& options);

/// Judges observations of nodes, which all must be accounted for; none: the nodes of the
/// specification or of the files.
struct Judge {
  const judge::Specification& specification;
  const AcceptOptions& options;
  std::optional<judge::RunJournal> baseline{};
  std::optional<HostLevels> levels{};

  /// What the observations are judged by. The result refers to all of it.
  [[nodiscard]] judge::JudgeInput input(std::span<const judge::Observation> observations,
                                        const std::vector<std::string>& nodes,
                                        const machine::HostWindows& machines) const;
};
/// Where these hosts are in the fabric by --levels, as a CSV; empty: it is not given.
[[nodiscard]] std::string named_levels(const AcceptOptions& options,
                                       const std::vector<std::string>& hosts);
/// Reads the earlier run if a rule compares with one; `levels` is a CSV. The others must outlive
/// the result.
[[nodiscard]] Judge judge_by(const judge::Specification& specification,
                             const AcceptOptions& options, const std::string& levels);

/// Throws Error (Usage) if a file of an output exists already (except Prometheus', which is
/// replaced), or two outputs have one name.
void check_outputs(const AcceptOptions& options);

/// Prints the verdicts, writes the outputs, those without a name into `folder` unless that is
/// empty, and returns the exit status.
[[nodiscard]] Status conclude(judge::Acceptance acceptance, const std::string& seed,
                              const AcceptOptions& options, const std::string& folder,
                              const judge::Specification& specification);

/// Writes --prometheus, or metrics.prom in the folder of the run, in place of what is there.
void write_metrics(judge::Acceptance acceptance, const AcceptOptions& options,
                   const judge::Specification& specification);

/// "2026-11-21": this day, local.
[[nodiscard]] std::string this_day();

}  // namespace busbar
