// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <unistd.h>

#include <fmt/format.h>

#include "apps/accept.hpp"
#include "apps/accept_judging.hpp"
#include "base/child_process.hpp"
#include "base/text.hpp"
#include "judge/run/campaign.hpp"
#include "judge/run/launcher.hpp"
#include "judge/run_facts.hpp"
#include "judge/spec/source.hpp"
#include "report/progress_line.hpp"

namespace busbar {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  return fs::is_regular_file(path) && access(path.c_str(), X_OK) == 0;
}

/// A name per line; anything after it (":8", " slots=8") and comments are ignored.
std::vector<std::string> hosts_of_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw usage_error(fmt::format("--hostfile: cannot read {}", path));
  std::vector<std::string> hosts;
  std::string line;
  while (std::getline(file, line)) {
    line.resize(std::min(line.size(), line.find('#')));
    const std::string_view text = trim(line);
    const std::string host(text.substr(0, text.find_first_of(": \t")));
    if (!host.empty() && !judge::has_node(hosts, host)) hosts.push_back(host);
  }
  if (hosts.empty()) throw usage_error(fmt::format("--hostfile: no host in {}", path));
  return hosts;
}

std::vector<std::string> hosts_of_slurm(const std::string& list) {
  const CommandResult result = run_command("scontrol", {"show", "hostnames", list});
  std::vector<std::string> hosts = split(result.out, '\n');
  std::erase(hosts, "");
  if (result.exit_status != 0 || hosts.empty()) {
    throw usage_error(fmt::format(
        "scontrol cannot list the hosts of SLURM_JOB_NODELIST={}: {}; name them with --hosts", list,
        one_line(result.err)));
  }
  return hosts;
}

std::vector<std::string> named_hosts(const AcceptOptions& options,
                                     const judge::Specification& specification) {
  if (!options.hosts.empty()) return options.hosts;
  if (!options.hostfile.empty()) return hosts_of_file(options.hostfile);
  if (!specification.system.nodes.empty()) return specification.system.nodes;
  if (const char* list = std::getenv("SLURM_JOB_NODELIST")) return hosts_of_slurm(list);
  return {"localhost"};
}

/// The nodes of a run: of the command line, else of the specification, else of Slurm, else this
/// one. Throws Error (Usage) if a device set cannot be made of them.
std::vector<std::string> hosts_of_run(const AcceptOptions& options,
                                      const judge::Specification& specification) {
  std::vector<std::string> hosts = named_hosts(options, specification);
  for (const judge::DeviceSetRule& set : specification.device_sets) {
    const bool joins = set.kind == judge::SetKind::Pairwise || set.kind == judge::SetKind::Rails;
    if (joins && hosts.size() < 2) {
      throw usage_error(
          fmt::format("device set {} needs two nodes, and there is only {}; name more with --hosts",
                      set.id, hosts.front()));
    }
    for (const std::string& node : set.nodes) {
      if (judge::has_node(hosts, node)) continue;
      throw usage_error(fmt::format(
          "device set {} needs node {}, which is not among the hosts; add it with --hosts", set.id,
          node));
    }
  }
  return hosts;
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
          "{} not found; build it, or name the folder of the programs with --programs DIR",
          program.string()));
    }
  }
  return folder.string();
}

std::string find_mpiexec(const AcceptOptions& options) {
  std::string name = options.mpiexec.empty() ? "mpiexec" : options.mpiexec;
  if (name.find('/') != std::string::npos) {
    if (is_program(name)) return name;
    throw usage_error(fmt::format("--mpiexec {}: no such program", name));
  }
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    if (!folder.empty() && is_program(fs::path(folder) / name)) return name;
  }
  throw usage_error(
      fmt::format("{} not found in PATH; install MPICH, or name it with --mpiexec PATH", name));
}

/// The number of launches at a time, printed on stderr where there is more than one node.
std::size_t launches_at_once(const AcceptOptions& options, const judge::RunContract& run,
                             std::size_t nodes) {
  const judge::LaunchLimits limits = judge::probe_launch_limits();
  judge::AtOnce at_once;
  if (options.serial) {
    at_once = judge::choose_at_once(limits, 1, "--serial");
  } else if (options.at_once) {
    at_once = judge::choose_at_once(limits, options.at_once, "--at-once");
  } else if (!run.parallel) {
    at_once = judge::choose_at_once(limits, 1, "[run] parallel");
  } else {
    at_once = judge::choose_at_once(limits, run.at_once, "[run] at_once");
  }
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
  const judge::Specification specification = read_specification(options);
  const Judge judge_now = judge_by(specification, options);
  if (const std::string never = judge::unreported_error(specification, options.assumed);
      !never.empty()) {
    throw usage_error(fmt::format("{}: {}", specification.file, never));
  }
  const std::vector<std::string> hosts = hosts_of_run(options, specification);
  check_outputs(options);
  const judge::LaunchSetup setup{.mpiexec = find_mpiexec(options),
                                 .arguments = options.launcher_arguments,
                                 .programs = find_programs(options, specification)};
  // 32 bits: short enough to be typed again.
  const std::uint64_t seed = options.seed ? *options.seed : std::random_device()();
  judge::RunFolder folder(options.output,
                          {.specification = options.specification,
                           .profile = specification.profile,
                           .rules = specification.only,
                           .seed = fmt::format("{}", seed),
                           .nodes = hosts},
                          judge::complete_text(judge::find_specification(options.specification)));
  const judge::InterruptWatch watch;
  using Seen = std::span<const judge::Observation>;
  const auto refuse = [&](Seen observations) {
    return judge::fingerprint_error(specification, observations, options.assumed);
  };
  // A line per launch: rewritten on a terminal, otherwise only with --verbose.
  ProgressLine progress;
  const auto note = [&](const std::string& launch, const judge::LaunchResult* result) {
    if (result == nullptr) return progress.show(launch);
    if (!options.verbose) return;
    progress.clear();
    fmt::print(
        stderr, "{}: {}\n", launch,
        result->failure.empty() ? fmt::format("{:.1f} s", result->seconds) : result->failure);
  };
  judge::Campaign campaign(
      {.specification = specification,
       .nodes = hosts,
       .setup = setup,
       .at_once = launches_at_once(options, specification.run, hosts.size()),
       .seed = seed,
       .stop = &watch.interrupted(),
       .judge = [&](Seen observations) { return judge_now(observations, hosts); },
       .refuse = refuse,
       .note = note},
      folder);
  const bool finished = campaign.run();
  progress.clear();
  if (!finished) throw ended_early(folder, options, campaign.start_failure());
  if (!campaign.refusal().empty()) {
    fmt::print(stderr, "busbar: nothing more was launched, since every rule is an ERROR: {}\n",
               campaign.refusal());
  }
  return conclude(judge_now(campaign.observations(), hosts), folder.journal().seed, options,
                  options.output, specification);
}

}  // namespace busbar
