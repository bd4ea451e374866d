// SPDX-License-Identifier: BSD-3-Clause
// The main of every *_perf executable. Its collective is in an object that the Makefile generates,
// so that a program that was copied or renamed still knows it.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "base/text.hpp"
#include "bootstrap/launcher.hpp"
#include "bootstrap/mpi_library.hpp"
#include "bootstrap/rendezvous.hpp"
#include "bootstrap/socket.hpp"
#include "bootstrap/solo_bootstrap.hpp"
#include "bootstrap/starter.hpp"
#include "bootstrap/tcp_bootstrap.hpp"
#include "format/csv_reader.hpp"
#include "format/output_file.hpp"
#include "harness/configuration.hpp"
#include "harness/host_facts.hpp"
#include "harness/job.hpp"
#include "harness/options.hpp"
#include "model/agreement.hpp"
#include "model/backend.hpp"

namespace busbar {

extern const char* const kProgramCollective;

namespace {

const Collective& collective() { return *find_collective(kProgramCollective); }

void complain(const std::string& message) {
  if (message.empty()) return;
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name, one_line(message));
}

/// Lets the lowest rank report an error that several have: it ends the job before the others wake,
/// for which Open MPI's launcher takes a second more on a busy machine.
void wait_for_lower_ranks(int rank) {
  const int ms = std::min(500 * rank + 1000 * std::max(rank - 1, 0), 5000);
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

/// Reports once an error that all ranks have, without a job that they could leave together. Most
/// launchers kill all ranks as soon as one exits with an error: the others let the first report it.
void complain_once(const std::string& message) {
  if (speaks_for_the_job()) return complain(message);
  wait_for_lower_ranks(1);
}

/// Prints the reason and ends every rank of the job, from any thread; before MPI is up only this
/// process.
[[noreturn]] void end_job(Bootstrap* bootstrap, const std::string& message, Status status) {
  const auto launcher = find_launcher();
  const int unconnected_rank = launcher ? launcher->rank : 0;
  wait_for_lower_ranks(bootstrap != nullptr ? bootstrap->rank() : unconnected_rank);
  complain(message);
  // Output that the launcher has not read when a rank aborts is lost (Hydra: one line in six).
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (bootstrap != nullptr) bootstrap->abort(exit_code(status));
  std::_Exit(exit_code(status));
}

/// The command line without what only concerned the starting of ranks.
std::vector<std::string> words_of_rank(std::span<char* const> arguments) {
  constexpr std::array<std::string_view, 5> kOfStarting{"-g", "--ngpus", "--launcher", "--hosts",
                                                        "--nodes"};
  std::vector<std::string> words{own_program()};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string word = arguments[i];
    const std::string option = word.substr(0, word.find('='));
    const bool is_one = std::ranges::count(kOfStarting, option) > 0;
    if (is_one) {
      if (option.size() == word.size()) ++i;  // and its value
    } else if (!word.starts_with("-g")) {
      words.push_back(word);
    }
  }
  return words;
}

/// Becomes the launcher. The host file is a descriptor that it inherits: nothing is left behind.
[[noreturn]] void become(const LauncherChoice& choice, RankLaunch launch) {
  if (!launch.hosts.empty()) {
    const int file = memfd_create("hosts", 0);
    const std::string lines = host_lines(choice, launch);
    if (file < 0 || write(file, lines.data(), lines.size()) < 0) {
      throw system_failure("a file of hosts", errno);
    }
    launch.hostfile = fmt::format("/proc/{}/fd/{}", getpid(), file);
  }
  const std::vector<std::string> words = launch_command(choice, launch);
  const int error = become_program(words);
  throw Error{Status::Unavailable, fmt::format("-g {}: cannot start {}: {}; leave -g out",
                                               launch.ranks, words.front(), std::strerror(error))};
}

/// --hosts a,b,c or @FILE.
std::vector<std::string> hosts_of(const Options& options) {
  const bool is_file = options.hosts.size() == 1 && options.hosts.front().starts_with('@');
  if (is_file) return read_host_file("--hosts", options.hosts.front().substr(1));
  check_host_names("--hosts", options.hosts);
  return options.hosts;
}

bool starts_ranks(const Options& options) {
  return options.launch_ranks > 1 || !options.hosts.empty() ||
         options.launcher != Options{}.launcher;
}

/// -g N outside a launcher: starts N ranks of itself.
int launch_ranks(const Options& options, std::span<char* const> arguments) {
  const auto launcher = find_launcher();
  // A shell that srun started is one task.
  if (launcher && (launcher->joins_by == JoinsBy::Mpi || launcher->size > 1)) {
    throw usage_error(
        "-g {0}: {1} has already started the ranks, one per process; leave -g out and start mpirun "
        "-np {0} {2} ...",
        options.launch_ranks, launcher->name, arguments.front());
  }
  const std::vector<std::string> named = hosts_of(options);
  const int hosts = std::max(1, static_cast<int>(named.size()));
  if (options.launch_ranks % hosts != 0) {
    throw usage_error("-g {}: not the same number of ranks on each of {}; give a multiple of {}",
                      options.launch_ranks, counted(named.size(), "host"), hosts);
  }
  const MpiSupport* mpi = find_mpi();
  const LauncherChoice choice =
      choose_launcher({.wanted = options.launcher,
                       .has_hosts = !named.empty(),
                       .library = mpi == nullptr ? nullptr : &mpi->library(),
                       .option = fmt::format("-g {}", options.launch_ranks),
                       .as_root = geteuid() == 0});
  const bool by_itself = options.launcher == Options{}.launcher;
  if (!named.empty() && by_itself) complain("launcher: " + choice.text());
  if (choice.starts_each_rank()) {
    return start_ranks({.ranks = options.launch_ranks,
                        .hosts = named,
                        .words = choice.words,
                        .program = words_of_rank(arguments),
                        .notice = complain});
  }
  become(choice, {.hosts = named,
                  .ranks = options.launch_ranks,
                  .ranks_per_host = options.launch_ranks / hosts,
                  .program = words_of_rank(arguments)});
}

/// The ranks of this job, joined as the command line, the launcher and the build have it.
std::unique_ptr<Bootstrap> join_ranks(const std::optional<Rendezvous>& rendezvous,
                                      const Options& options,
                                      const std::shared_ptr<StepTracker>& tracker) {
  TcpEvents events{.position = [tracker] { return tracker->position(); },
                   .stalled = [tracker] { tracker->request_report(); }};
  const bool watched = options.timeout > Seconds{0};
  if (rendezvous) {
    events.notice = complain;
    events.lost = events.notice;
    return join_by_tcp(*rendezvous, watched ? options.timeout : Options{}.timeout, events);
  }
  if (const MpiSupport* mpi = find_mpi()) {
    return mpi->start(watched ? std::optional{events} : std::nullopt);
  }
  if (const auto launcher = find_launcher()) {
    throw usage_error(
        "{} started this program, which is built without MPI: add --rendezvous HOST:PORT with the "
        "host of rank 0, where all ranks join",
        launcher->name);
  }
  return std::make_unique<SoloBootstrap>();
}

/// A failure of this rank ends the job here and now; what all ranks agree on lets them end in
/// order.
void end_job_unless_agreed(Bootstrap& bootstrap, const std::exception& error) {
  if (dynamic_cast<const AgreedError*>(&error) != nullptr) return;
  const auto* known = dynamic_cast<const Error*>(&error);
  const Status status = known != nullptr ? known->status() : Status::Runtime;
  end_job(&bootstrap, fmt::format("rank {}: {}", bootstrap.rank(), error.what()), status);
}

/// Reports what all ranks have agreed on, before any of them leaves the job. Collective.
int leave_together(Bootstrap& bootstrap, const AgreedError& error) {
  if (bootstrap.rank() == 0) complain(error.what());
  bootstrap.will_exit(exit_code(error.status()));
  return exit_code(error.status());
}

/// After a timeout: which ranks hold the others up, or where this one is, and whom else to ask.
std::string timeout_text(Bootstrap* bootstrap, const Backend* backend, const std::string& step,
                         Seconds timeout) {
  const std::string ranks = bootstrap == nullptr ? "" : bootstrap->describe_stall();
  const std::string where = ranks.empty() ? fmt::format(" in: {} (-T)", step) : " (-T): " + ranks;
  const std::string_view advice = backend == nullptr ? "" : backend->hang_advice();
  return fmt::format("timeout: no progress for {:g} s{}; finished rows are kept{}{}",
                     timeout.count(), where, advice.empty() ? "" : "; ", advice);
}

int run_ranks(const Options& options, Invocation invocation) {
  const auto rendezvous =
      find_rendezvous({.address = options.rendezvous, .rank = options.rank, .ranks = options.ranks},
                      own_environment);
  std::unique_ptr<Bootstrap> bootstrap;
  std::atomic<Bootstrap*> live = nullptr;  // what the watchdog's thread may use
  std::atomic<const Backend*> used = nullptr;
  // Joining by TCP has its own timeout, which names the missing ranks.
  Watchdog watchdog(rendezvous ? std::nullopt : std::optional{options.timeout},
                    [&](const std::string& step, Seconds timeout) {
                      end_job(live, timeout_text(live, used, step, timeout), Status::Runtime);
                    });
  watchdog.step("waiting for the other ranks");
  try {
    bootstrap = join_ranks(rendezvous, options, watchdog.tracker());
  } catch (const Error& error) {
    if (!rendezvous || error.status() != Status::Runtime) throw;
    // Only this rank knows why it could not join. Once one has ended, a launcher ends the others.
    wait_for_lower_ranks(speaks_for_the_job() ? 0 : rendezvous->rank);
    complain(error.what());
    return exit_code(error.status());
  }
  live = bootstrap.get();
  invocation.on_backend = [&](const Backend& backend) { used = &backend; };
  invocation.on_failure = [&](const std::exception& error) {
    end_job_unless_agreed(*bootstrap, error);
  };
  try {
    if (rendezvous) watchdog.start(options.timeout);
    watchdog.step("comparing the command lines of all ranks");
    require_same_command(*bootstrap, rank_command(options, collective()));
    const int code =
        exit_code(run_session(options, collective(), invocation, *bootstrap, watchdog));
    watchdog.step("waiting for the other ranks to be done");
    bootstrap->will_exit(code);
    return code;
  } catch (const AgreedError& error) {
    watchdog.step("waiting for the other ranks to end");
    return leave_together(*bootstrap, error);
  } catch (const std::exception& error) {
    end_job_unless_agreed(*bootstrap, error);
    throw;
  }
}

void require_known_host(const Options& options) {
  if (options.rendezvous.empty()) return;
  const Address address = parse_address("--rendezvous", options.rendezvous);
  if (const auto unknown = find_unknown_host(address.host)) {
    throw usage_error(unknown->text + "; ranks meet by this name: give one that all hosts know");
  }
}

/// Reads the command line and does what needs no other ranks: its exit code; nothing where this
/// process is a rank of a measurement.
std::optional<int> run_alone(std::span<char* const> arguments, CommandLine& line,
                             const Invocation& invocation) {
  line = parse_command_line(arguments.subspan(1));
  // --version with --hosts shows that they can be reached, and with --rendezvous that its host's
  // name is known there.
  if (line.print_and_exit && line.options.hosts.empty()) {
    require_known_host(line.options);
    if (speaks_for_the_job()) fmt::print("{}", *line.print_and_exit);
    if (line.options.facts_path == "-") {
      fmt::print("{}", as_comments(machine::kFactPrefix, own_facts(line.options)));
    }
    flush_standard_output();
    return exit_code(Status::Ok);
  }
  if (line.print_and_exit) return launch_ranks(line.options, arguments);
  require_variables(line.options.variables, arguments);
  const auto lookup = [](const char* name) { return std::getenv(name); };
  apply_environment(line.options, lookup);
  complete_options(line.options, collective(), lookup);
  check_options(line.options);
  if (line.options.backend == "sim") {
    return exit_code(run_simulation(line.options, collective(), invocation));
  }
  if (starts_ranks(line.options)) return launch_ranks(line.options, arguments);
  return std::nullopt;
}

/// A rank that left before MPI is up would leave the others waiting for it: ranks of one MPI job
/// meet before they end, and the mistake of one is reported by rank 0 as the mistake of all is. The
/// exit code; nothing where this rank is to report it alone.
std::optional<int> report_mistake_together(const Error& mistake, std::span<char* const> arguments) {
  const auto launcher = find_launcher();
  const MpiSupport* mpi = find_mpi();
  const bool by_tcp = std::ranges::any_of(
      arguments, [](std::string_view word) { return word.starts_with("--rendezvous"); });
  const bool meets = launcher && launcher->joins_by == JoinsBy::Mpi && launcher->size > 1 &&
                     mpi != nullptr && !by_tcp && mistake.status() == Status::Usage;
  if (!meets) return std::nullopt;
  std::unique_ptr<Bootstrap> bootstrap;
  try {
    bootstrap = mpi->start({});
  } catch (const Error&) {  // no ranks of this MPI
  }
  if (!bootstrap || bootstrap->size() == 1) {  // the mistake is this process's own
    complain(mistake.what());
    return exit_code(mistake.status());
  }
  try {
    require_same_command(*bootstrap, {.mistake = mistake.what()});
  } catch (const AgreedError& error) {
    return leave_together(*bootstrap, error);
  }
  return std::nullopt;
}

int run(std::span<char* const> arguments) {
  try {
    CommandLine line;
    const Invocation invocation{.arguments = {arguments.begin(), arguments.end()},
                                .environment = library_environment()};
    try {
      if (const auto code = run_alone(arguments, line, invocation)) return *code;
    } catch (const Error& error) {
      if (const auto code = report_mistake_together(error, arguments)) return *code;
      throw;
    }
    return run_ranks(line.options, invocation);
  } catch (const Error& error) {
    complain_once(error.what());
    return exit_code(error.status());
  } catch (const std::exception& error) {
    complain(error.what());
    return exit_code(Status::Runtime);
  }
}

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) {
  busbar::reserve_standard_streams();
  busbar::Words words = busbar::mapped<std::string>(std::span(argv, static_cast<std::size_t>(argc)),
                                                    busbar::decoded_word);
  const std::vector<char*> arguments = busbar::pointers_to(words);
  return busbar::run(std::span(arguments).first(words.size()));
}
