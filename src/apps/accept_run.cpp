// SPDX-License-Identifier: BSD-3-Clause
#include "apps/accept_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <unistd.h>

#include <fmt/format.h>

#include "apps/accept_hosts.hpp"
#include "apps/accept_judging.hpp"
#include "apps/accept_outputs.hpp"
#include "base/text.hpp"
#include "judge/run/campaign.hpp"
#include "judge/run/launcher.hpp"
#include "judge/run_facts.hpp"
#include "report/progress_line.hpp"

namespace busbar {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  return fs::is_regular_file(path) && access(path.c_str(), X_OK) == 0;
}

/// The folder of the measuring programs, in which all that the specification needs are.
std::string find_programs(const AcceptOptions& options, const judge::Specification& specification) {
  const fs::path folder = options.programs.empty()
                              ? fs::read_symlink("/proc/self/exe").parent_path()
                              : fs::absolute(options.programs);
  for (const judge::DeviceSetRule& set : specification.device_sets) {
    for (const std::string& collective : judge::collectives_of(specification, set.id)) {
      const fs::path program = folder / (collective + "_perf");
      if (is_program(program)) continue;
      throw usage_error(fmt::format(
          "there is no {}; build it, or name the folder of the programs by --programs DIR",
          program.string()));
    }
  }
  return folder.string();
}

std::string find_mpiexec(const AcceptOptions& options) {
  std::string name = options.mpiexec.empty() ? "mpiexec" : options.mpiexec;
  if (name.find('/') != std::string::npos) {
    if (is_program(name)) return name;
    throw usage_error(fmt::format("--mpiexec {}: there is no such program", name));
  }
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    if (!folder.empty() && is_program(fs::path(folder) / name)) return name;
  }
  throw usage_error(
      fmt::format("there is no {} in PATH; install MPICH, or name it by --mpiexec PATH", name));
}

std::uint64_t seed_of(const AcceptOptions& options) {
  if (options.seed) return *options.seed;
  return std::random_device()();  // 32 bits: short enough to be typed again
}

/// A line per launch: rewritten on a terminal, else only where it was asked for.
class Teller {
 public:
  explicit Teller(bool verbose) : verbose_(verbose) {}

  void operator()(const judge::LaunchNote& note) {
    const std::string place = fmt::format("{}/{} {}", note.number, note.planned, note.what);
    if (!note.ended) {
      line_.show(place);
    } else if (verbose_) {
      line_.clear();
      fmt::print(stderr, "{}: {}\n", place,
                 note.failure.empty() ? fmt::format("{:.1f} s", note.seconds) : note.failure);
    }
  }
  void clear() { line_.clear(); }

 private:
  bool verbose_;
  ProgressLine line_{};
};

/// The number of launches at a time, printed on stderr where there is more than one node.
std::size_t launches_at_once(const AcceptOptions& options,
                             const judge::Specification& specification, std::size_t nodes) {
  const judge::LaunchLimits limits = judge::probe_launch_limits();
  const judge::AtOnce at_once =
      options.at_once ? judge::choose_at_once(limits, options.at_once, "--at-once")
                      : judge::choose_at_once(limits, specification.run.at_once, "[run] at_once");
  if (nodes > 1) {
    fmt::print(stderr, "busbar: launches at the same time: {} ({})\n", at_once.launches,
               at_once.reason);
  }
  judge::allow_launches(limits, std::min(at_once.launches, nodes));
  return at_once.launches;
}

/// Of a run that was interrupted, or could not start what it needed.
Error ended_early(const judge::RunFolder& folder, const AcceptOptions& options,
                  const std::optional<std::string>& why) {
  return {Status::Runtime,
          fmt::format("{}: nothing was judged; {} of {} are kept: busbar accept judge {} {}",
                      why.value_or("interrupted"), counted(folder.journal().lines.size(), "line"),
                      folder.journal_path(), options.specification, options.output)};
}

}  // namespace

Status accept_run(const AcceptOptions& options) {
  const SpecificationSource source = find_specification(options.specification);
  const AcceptJudging judging(read_specification(source, options.profile, options.rules),
                              options.assumed);
  const judge::Specification& specification = judging.specification();
  if (const std::string never = judge::unreported_error(specification, options.assumed);
      !never.empty()) {
    throw usage_error(fmt::format("{}: {}", source.path, never));
  }
  const std::vector<std::string> hosts = accept_hosts(options, specification);
  const AcceptOutputs outputs = outputs_in(options.output, options.outputs);
  check_outputs(options.outputs);
  const judge::LaunchSetup setup{.mpiexec = find_mpiexec(options),
                                 .arguments = options.launcher_arguments,
                                 .programs = find_programs(options, specification)};
  const std::uint64_t seed = seed_of(options);
  judge::RunFolder folder(options.output,
                          {.specification = options.specification,
                           .profile = specification.profile,
                           .rules = specification.only,
                           .seed = fmt::format("{}", seed),
                           .nodes = hosts},
                          source.text);
  const judge::InterruptWatch watch;
  Teller teller(options.verbose);
  const auto judge_now = [&](std::span<const judge::Observation> observations) {
    return judging.judge(observations, hosts);
  };
  judge::Campaign campaign({.specification = specification,
                            .nodes = hosts,
                            .setup = setup,
                            .parallel = specification.run.parallel && !options.serial,
                            .at_once = launches_at_once(options, specification, hosts.size()),
                            .seed = seed,
                            .stop = &watch.interrupted(),
                            .judge = judge_now,
                            .refuse =
                                [&](std::span<const judge::Observation> observations) {
                                  return judge::fingerprint_error(specification, observations,
                                                                  options.assumed);
                                },
                            .note = [&](const judge::LaunchNote& note) { teller(note); }},
                           folder);
  const bool finished = campaign.run();
  teller.clear();
  if (!finished) throw ended_early(folder, options, campaign.start_failure());
  if (!campaign.refusal().empty()) {
    fmt::print(stderr, "busbar: nothing more was launched, since every rule is an ERROR: {}\n",
               campaign.refusal());
  }
  return conclude(judge_now(campaign.observations()), folder.journal().seed, options, outputs,
                  specification);
}

}  // namespace busbar
