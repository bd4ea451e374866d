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
#include <filesystem>
#include <memory>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "bootstrap/launcher.hpp"
#include "bootstrap/mpi_bootstrap.hpp"
#include "harness/host.hpp"
#include "harness/options.hpp"
#include "harness/session.hpp"
#include "harness/simulation.hpp"

namespace busbar {

extern const char* const kProgramCollective;

namespace {

const Collective& collective() { return *find_collective(kProgramCollective); }

void complain(const std::string& program, const std::string& message) {
  if (!message.empty()) fmt::print(stderr, "{}: {}\n", program, one_line(message));
}

/// Lets the lowest rank report an error that several have: it ends the job before the others wake.
void wait_for_lower_ranks(int rank) {
  constexpr int kLongest = 3000;
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(rank * 250, kLongest)));
}

/// Reports once an error that all ranks have. Open MPI's launcher kills all ranks as soon as one
/// exits with an error (MPICH's does not): the others let the first report it.
void complain_once(const std::string& program, const std::string& message) {
  if (speaks_for_the_job()) return complain(program, message);
  if (mpi_library().family != MpiFamily::Mpich) wait_for_lower_ranks(1);
}

/// Prints the reason and ends every rank of the job, from any thread; before MPI is up only this
/// process.
[[noreturn]] void end_job(Bootstrap* bootstrap, const std::string& program,
                          const std::string& message, Status status) {
  const auto launcher = find_launcher();
  const int unconnected_rank = launcher ? launcher->rank : 0;
  wait_for_lower_ranks(bootstrap != nullptr ? bootstrap->rank() : unconnected_rank);
  complain(program, message);
  // Output that the launcher has not read when a rank aborts is lost (Hydra: one line in six).
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (bootstrap != nullptr) bootstrap->abort(exit_code(status));
  std::_Exit(exit_code(status));
}

/// MPICH's mpiexec sometimes dies of SIGPIPE when it forwards the end of its stdin to ranks that
/// have ended: its stdin becomes a pipe that never ends, since it holds the other end itself.
void give_endless_stdin() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return;   // then with what there is
  if (ends[0] == STDIN_FILENO) return;  // it was closed
  static_cast<void>(dup2(ends[0], STDIN_FILENO));
  close(ends[0]);
}

/// -g N outside a launcher: becomes `mpiexec -n N` of itself, or what the MPI library has instead.
void launch_ranks(const Options& options, std::span<char* const> arguments) {
  const std::string ranks = fmt::format("{}", options.launch_ranks);
  if (const auto launcher = find_launcher()) {
    throw usage_error(fmt::format(
        "-g {}: {} has already started the ranks, one per process; leave -g out and start "
        "mpirun -np {} {} ...",
        ranks, launcher->name, ranks, arguments.front()));
  }
  const RankLauncher launcher = find_rank_launcher(mpi_library().family, options.launch_ranks);
  std::vector<std::string> words{launcher.program};
  words.insert(words.end(), launcher.arguments.begin(), launcher.arguments.end());
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string word = arguments[i];
    if (word == "-g" || word == "--ngpus") {
      ++i;  // and its value
    } else if (!word.starts_with("-g") && !word.starts_with("--ngpus=")) {
      words.push_back(word);
    }
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  give_endless_stdin();
  execvp(pointers.front(), pointers.data());
  throw Error{Status::Unavailable, fmt::format("-g {}: cannot start {}: {}; leave -g out", ranks,
                                               launcher.program, std::strerror(errno))};
}

/// A failure of this rank ends the job here and now; what all ranks agree on lets them end in
/// order.
void end_job_unless_shared(Bootstrap& bootstrap, const std::string& program,
                           const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  const Status status = known != nullptr ? known->status() : Status::Runtime;
  const bool shared = status == Status::Usage || status == Status::Unavailable;
  if (shared) return;
  end_job(&bootstrap, program, fmt::format("rank {}: {}", bootstrap.rank(), error.what()), status);
}

/// Runs with MPI up.
int run_ranks(const Options& options, Invocation invocation, const std::string& program) {
  std::unique_ptr<Bootstrap> bootstrap;
  std::atomic<Bootstrap*> live = nullptr;  // what the watchdog's thread may use
  Watchdog watchdog(options.timeout, [&](const std::string& step, Seconds timeout) {
    end_job(live, program,
            fmt::format("timeout: no progress for {:g} s in: {} (-T); finished rows are kept",
                        timeout.count(), step),
            Status::Runtime);
  });
  watchdog.step("starting MPI");
  bootstrap = start_mpi();
  live = bootstrap.get();
  invocation.on_failure = [&](const std::exception& error) {
    end_job_unless_shared(*bootstrap, program, error);
  };
  try {
    return exit_code(run_session(options, collective(), invocation, *bootstrap, watchdog));
  } catch (const std::exception& error) {
    end_job_unless_shared(*bootstrap, program, error);
    throw;
  }
}

int run(std::span<char* const> arguments) {
  const std::string program = std::filesystem::path(arguments.front()).filename().string();
  try {
    CommandLine line = parse_command_line(arguments.subspan(1));
    if (line.print_and_exit) {
      if (speaks_for_the_job()) fmt::print("{}", *line.print_and_exit);
      return exit_code(Status::Ok);
    }
    apply_environment(line.options, [](const char* name) { return std::getenv(name); });
    check_options(line.options);
    const Invocation invocation{.command = join_all(arguments, " "),
                                .environment = library_environment()};
    if (line.options.backend == "sim") {
      return exit_code(run_simulation(line.options, collective(), invocation));
    }
    if (line.options.launch_ranks > 1) launch_ranks(line.options, arguments);
    return run_ranks(line.options, invocation, program);
  } catch (const Error& error) {
    complain_once(program, error.what());
    return exit_code(error.status());
  } catch (const std::exception& error) {
    complain(program, error.what());
    return exit_code(Status::Runtime);
  }
}

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) { return busbar::run({argv, static_cast<std::size_t>(argc)}); }
