// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <unistd.h>

#include <fmt/format.h>

#include "apps/accept.hpp"
#include "base/child_process.hpp"
#include "base/host.hpp"
#include "base/hostlist.hpp"
#include "base/interrupt_watch.hpp"
#include "base/text.hpp"
#include "bootstrap/launcher.hpp"
#include "format/progress_line.hpp"
#include "judge/fingerprint.hpp"
#include "judge/fleet/fabric_file.hpp"
#include "judge/run/campaign.hpp"
#include "judge/run/launch_queue.hpp"
#include "judge/spec/reader.hpp"

namespace busbar {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  return fs::is_regular_file(path) && access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> hosts_of_slurm(const std::string& list) {
  const CommandResult result = run_command("scontrol", {"show", "hostnames", list});
  std::vector<std::string> hosts = split(result.out, '\n');
  std::erase(hosts, "");
  if (result.exit_status != 0 || hosts.empty()) {
    throw usage_error(
        "scontrol cannot list the hosts of SLURM_JOB_NODELIST={}: {}; name them with --hosts", list,
        one_line(result.err));
  }
  return hosts;
}

std::vector<std::string> named_hosts(const AcceptOptions& options,
                                     const judge::Specification& specification) {
  if (!options.hosts.empty()) return options.hosts;
  if (!options.hostfile.empty()) return read_host_file("--hostfile", options.hostfile);
  if (!specification.system.nodes.empty()) return specification.system.nodes;
  if (const char* list = std::getenv("SLURM_JOB_NODELIST")) return hosts_of_slurm(list);
  return {"localhost"};
}

/// The nodes of a run: of the command line, else of the specification, else of Slurm, else this
/// one. Throws Error (Usage) if a device set cannot be made of them.
std::vector<std::string> hosts_of_run(const AcceptOptions& options,
                                      const judge::Specification& specification) {
  std::vector<std::string> hosts = named_hosts(options, specification);
  check_host_names("accept run", hosts);
  for (const judge::DeviceSetRule& set : specification.device_sets) {
    const bool joins = set.kind == judge::SetKind::Pairwise || set.kind == judge::SetKind::Rails;
    if (joins && hosts.size() < 2) {
      throw usage_error(
          "device set {} needs two nodes, and there is only {}; name more with --hosts", set.id,
          hosts.front());
    }
  }
  return hosts;
}

/// The measuring programs that the specification needs, all in one folder.
std::vector<fs::path> find_programs(const AcceptOptions& options,
                                    const judge::Specification& specification) {
  std::vector<fs::path> programs;
  const fs::path folder = options.programs.empty() ? fs::path(own_program()).parent_path()
                                                   : fs::absolute(options.programs);
  for (const judge::DeviceSetRule& set : specification.device_sets) {
    for (const std::string& collective : judge::collectives_of(specification, set.id)) {
      programs.push_back(folder / (collective + "_perf"));
      if (is_program(programs.back())) continue;
      throw usage_error(
          "{} not found; build it, or name the folder of the programs with --programs DIR",
          programs.back().string());
    }
  }
  return programs;
}

/// What a program's --version prints, by the words before the colons.
Facts version_facts(const std::string& program) {
  const CommandResult result = run_command(program, {"--version"});
  if (result.exit_status != 0) {
    throw usage_error("{} --version does not run here: {}", program,
                      judge::telling_line(result.err));
  }
  Facts facts;
  for (const std::string& line : split(result.out, '\n')) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) facts[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return facts;
}

/// The MPI library that a program is built with; nothing where it has none.
std::optional<MpiLibrary> library_of(Facts version) {
  const std::string name = version["MPI library"];
  if (name.empty()) {
    return find_mpi() == nullptr ? std::nullopt : std::optional(find_mpi()->library());
  }
  if (name.starts_with("none")) return std::nullopt;
  return mpi_library_of(name);
}

/// A backend that the programs lack makes every launch fail.
void refuse_absent_backend(const std::string& backend, Facts version, const std::string& program) {
  const std::string built = version["backends"];
  const std::vector<std::string> names = split_words(join(split(built, ','), " "));
  if (built.empty() || backend == "auto" || contains(names, backend)) return;
  throw usage_error("[run] backend = \"{}\": {} is built without it; it has: {}{}", backend,
                    program, built,
                    backend == "gloo" ? "; install libgloo-dev and run make again" : "");
}

/// Identified by its --version; one without is assumed to be the launcher that was chosen.
const Launcher* identify(const std::string& program) {
  const CommandResult result = run_command(program, {"--version"});
  return launcher_of_version(result.out.empty() ? result.err : result.out);
}

LauncherChoice of_path(const std::string& path, const LauncherRequest& request,
                       const LauncherChoice& chosen) {
  const bool is_there = path.find('/') != std::string::npos ? is_program(path) : is_in_path(path);
  if (!is_there) throw usage_error("--mpiexec {}: no such program", path);
  const Launcher* known = identify(path);
  if (known == nullptr) known = chosen.launcher;
  if (known == nullptr) {
    throw usage_error(
        "--mpiexec {}: its --version does not name a known launcher; also give --launcher hydra, "
        "openmpi, prrte or srun",
        path);
  }
  LauncherChoice choice = with_program(*known, path, request);
  choice.why = "--mpiexec";
  return choice;
}

/// A launcher that starts programs of another MPI makes as many jobs of one rank.
void refuse_another_mpi(const LauncherChoice& choice, const std::optional<MpiLibrary>& library,
                        const std::string& program) {
  const bool joins = choice.launcher != nullptr && choice.launcher->family != MpiFamily::Other;
  if (!joins || !library || library->family == MpiFamily::Other) return;
  const Launcher* known = identify(choice.program);
  if (known == nullptr || known->family == MpiFamily::Other || known->family == library->family) {
    return;
  }
  throw usage_error(
      "{} is {}, but {} is built with {}: each rank would be a job of its own; name that MPI's "
      "launcher with --mpiexec PATH, or build with the other (make MPI=...)",
      choice.program, known->title, program, library->name);
}

LauncherChoice find_launcher_of(const AcceptOptions& options, const std::string& backend,
                                const std::vector<std::string>& hosts, const std::string& program) {
  const Facts version = version_facts(program);
  refuse_absent_backend(backend, version, program);
  const std::optional<MpiLibrary> library = library_of(version);
  const bool is_named = !options.launcher.empty();
  LauncherRequest request{.wanted = is_named ? options.launcher : "auto",
                          .has_hosts = !std::ranges::all_of(hosts, is_this_host),
                          .library = library ? &*library : nullptr,
                          .option = is_named ? "--launcher" : "accept run",
                          .as_root = geteuid() == 0};
  if (!options.mpiexec.empty()) request.is_program = [](std::string_view) { return true; };
  LauncherChoice choice = choose_launcher(request);
  if (!options.mpiexec.empty()) choice = of_path(options.mpiexec, request, choice);
  refuse_another_mpi(choice, library, program);
  return choice;
}

/// Before anything runs. What --mpiexec names may be a program of the user's own.
void refuse_unresolved(const AcceptOptions& options, const LauncherChoice& launcher,
                       const std::vector<std::string>& hosts) {
  if (!options.mpiexec.empty()) return;
  const Words ssh = ssh_of(launcher, options.launcher_arguments);
  const std::vector<std::string> unknown = unresolved_hosts(hosts, ssh);
  if (unknown.empty()) return;
  throw usage_error(
      "accept run: no address is known for {}, neither by name here nor by ssh's configuration; "
      "correct the name, or add it to DNS, /etc/hosts or ~/.ssh/config",
      hostlist(unknown));
}

/// Printed on stderr with the launcher where there is more than one node.
std::size_t launches_at_once(const AcceptOptions& options, const judge::RunContract& run,
                             const LauncherChoice& launcher, std::size_t nodes) {
  const judge::LaunchLimits limits = judge::probe_launch_limits();
  const judge::AtOnce at_once = options.serial ? judge::choose_at_once(limits, 1, "--serial")
                                : options.at_once
                                    ? judge::choose_at_once(limits, options.at_once, "--at-once")
                                    : judge::choose_at_once(limits, run.at_once, "[run] at_once");
  if (nodes > 1) {
    fmt::print(stderr, "busbar: launches at the same time: {} ({}); launcher: {}\n",
               at_once.launches, at_once.reason, launcher.text());
  }
  judge::allow_launches(limits, std::min(at_once.launches, nodes));
  return at_once.launches;
}

/// Nothing is kept of what is refused before its first launch.
bool run_or_discard(judge::Campaign& campaign, judge::RunFolder& folder, bool resume) {
  try {
    return campaign.run();
  } catch (const Error& error) {
    // The run's files are gone, or the folder is: no mistake on the command line.
    if (!fs::exists(folder.journal_path())) throw Error{Status::Runtime, error.what()};
    const bool is_empty = !resume && folder.journal().lines.empty();
    if (error.status() == Status::Usage && is_empty) folder.discard();
    throw;
  }
}

/// The error of a run that was interrupted, or could not start what it needed.
Error ended_early(const judge::RunFolder& folder, const AcceptOptions& options,
                  const std::optional<std::string>& why) {
  return {Status::Runtime,
          fmt::format("{}: nothing was judged; {} keeps {}: go on with --resume, or judge what "
                      "is there with busbar accept judge {} {}",
                      why.value_or("interrupted"), folder.journal_path(),
                      counted(folder.journal().lines.size(), "line"), options.specification,
                      options.output)};
}

/// Where hosts are in the fabric: --levels, else in a job of Slurm its topology; nothing where that
/// is not known. Throws Error (Usage) where a host is missing.
std::string levels_of_run(const AcceptOptions& options, const std::vector<std::string>& hosts) {
  std::string levels = named_levels(options, hosts);
  if (levels.empty() && std::getenv("SLURM_JOB_ID") != nullptr && is_in_path("scontrol")) {
    const CommandResult topology = run_command("scontrol", {"show", "topology"});
    std::vector<std::string> of_others;
    try {
      levels = judge::fabric_csv(topology.out, "scontrol show topology", of_others);
      static_cast<void>(HostLevels(levels, "scontrol show topology").paths_of(hosts));
    } catch (const Error&) {
      return {};  // it has none, or is of other hosts
    }
  }
  if (!levels.empty()) static_cast<void>(HostLevels(levels, "--levels").paths_of(hosts));
  return levels;
}

judge::RunFolder folder_of(const AcceptOptions& options, const judge::Specification& specification,
                           const std::vector<std::string>& hosts, const std::string& levels,
                           std::uint64_t seed) {
  return {options.output,
          {.specification = options.specification,
           .profile = specification.profile,
           .rules = specification.only,
           .seed = fmt::format("{}", seed),
           .soak = options.soak,
           .nodes = hosts,
           .levels = levels},
          judge::complete_text(judge::find_specification(options.specification)),
          options.resume};
}

void check_runnable(const AcceptOptions& options, const judge::Specification& specification) {
  const std::string never = judge::unreported_error(specification, options.assumed);
  if (!never.empty()) throw usage_error("{}: {}", specification.file, never);
  if (!options.soak || specification.soak) return;
  throw usage_error("{}: a soak needs a table [soak] with size and limits; {} describes it",
                    specification.file, judge::kSpecificationDocument);
}

judge::LaunchSetup setup_of(const AcceptOptions& options, const judge::Specification& specification,
                            const std::vector<std::string>& hosts) {
  const fs::path program = find_programs(options, specification).front();
  judge::LaunchSetup setup{.arguments = options.launcher_arguments,
                           .programs = program.parent_path().string()};
  setup.launcher = find_launcher_of(options, specification.run.backend, hosts, program.string());
  refuse_unresolved(options, setup.launcher, hosts);
  setup.has_groups = std::ranges::any_of(specification.device_sets, [](const auto& set) {
    return set.ranks_per_node > 1 || set.kind != judge::SetKind::PerNode;
  });
  return setup;
}

}  // namespace

Status accept_run(const AcceptOptions& options) {
  const judge::Specification specification = read_specification(options);
  check_runnable(options, specification);
  const std::vector<std::string> hosts = hosts_of_run(options, specification);
  check_outputs(options);
  judge::LaunchSetup setup = setup_of(options, specification, hosts);
  // 32 bits: short enough to be typed again.
  const std::uint64_t seed = options.seed ? *options.seed : std::random_device()();
  const std::string levels = levels_of_run(options, hosts);
  const Judge judge = judge_by(specification, options, levels);
  judge::RunFolder folder = folder_of(options, specification, hosts, levels, seed);
  setup.text_file = [&](const auto& lines, auto ending) { return folder.text_file(lines, ending); };
  InterruptWatch watch;
  const auto input = [&](std::span<const judge::Observation> observations) {
    return judge.input(observations, hosts, folder.journal().machines);
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
       .at_once = launches_at_once(options, specification.run, setup.launcher, hosts.size()),
       .seed = to_number<std::uint64_t>(folder.journal().seed).value_or(seed),
       .soak_s = options.soak ? std::optional(options.soak_for->count()) : std::nullopt,
       .stop = [&] { return watch.wait() != 0; },
       .input = input,
       .note = note,
       .warn =
           [&](const std::string& line) {
             progress.clear();
             fmt::print(stderr, "busbar: {}\n", line);
           },
       .after_turn =
           [&] {
             write_metrics(judge::judge_all(input(folder.journal().lines)), options, specification);
           }},
      folder);
  const bool finished = run_or_discard(campaign, folder, options.resume);
  progress.clear();
  if (!finished) throw ended_early(folder, options, campaign.start_failure());
  if (!campaign.refusal().empty()) {
    fmt::print(stderr, "busbar: nothing more was launched, since every rule is an ERROR: {}\n",
               campaign.refusal());
  }
  judge::Acceptance acceptance = judge::judge_all(input(folder.journal().lines));
  append(acceptance.head.notes, folder.journal().notes);
  return conclude(std::move(acceptance), folder.journal().seed, options, options.output,
                  specification);
}

}  // namespace busbar
