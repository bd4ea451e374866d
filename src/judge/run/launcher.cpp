// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/launcher.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/probes/command.hpp"

namespace busbar::judge {
namespace {

/// So long a launcher may take to end what it has started elsewhere.
constexpr Seconds kGrace{1};
/// MPICH 4.0 over UCX's TCP hangs in MPI_Finalize now and then, when all is measured.
constexpr Seconds kLinger{2};
constexpr std::string_view kFinished = "# finished:";

double seconds_since(Clock::time_point start) { return Seconds(Clock::now() - start).count(); }

/// Wrong data and skipped rows are told by the rows themselves.
bool rows_tell(int exit_status) {
  return exit_status == exit_code(Status::Ok) || exit_status == exit_code(Status::Wrong) ||
         exit_status == exit_code(Status::Skipped);
}

bool has_rows(const std::string& csv) {
  std::size_t lines = 0;
  for (const std::string& line : split(csv, '\n')) {
    if (!line.empty() && !line.starts_with('#')) ++lines;
  }
  return lines > 1;  // the columns' names are one
}

std::string failure_words(const topo::CommandResult& result, Seconds timeout,
                          const std::string& program) {
  if (result.stopped) return "interrupted";
  if (result.lingered) return has_rows(result.out) ? "" : "no row was written";
  if (result.timed_out) return fmt::format("timeout after {:g} s", timeout.count());
  if (result.not_found) return fmt::format("cannot start {}: {}", program, result.err);
  if (rows_tell(result.exit_status)) return has_rows(result.out) ? "" : "no row was written";
  const std::string why = telling_line(result.err);
  return fmt::format("exit {}{}{}", result.exit_status, why.empty() ? "" : ": ", why);
}

void run_next(LaunchResult& launch, const Words& command, Seconds left, Seconds timeout,
              const std::atomic<bool>* stop) {
  const topo::CommandResult result =
      topo::run_command(command.front(), {command.begin() + 1, command.end()},
                        topo::CommandControl{.timeout = left,
                                             .grace = kGrace,
                                             .last_line = std::string(kFinished),
                                             .linger = kLinger,
                                             .endless_stdin = true,
                                             .stop = stop});
  append_csv(launch.csv, result.out);
  launch.log += result.err;
  if (result.lingered) {
    launch.log += fmt::format(
        "busbar: all rows were written, but the job did not end within {:g} s "
        "of the last and was killed\n",
        kLinger.count());
  }
  launch.exit_code = result.lingered ? exit_code(Status::Ok) : result.exit_status;
  launch.timed_out = result.timed_out;
  launch.stopped = result.stopped;
  launch.failure = failure_words(result, timeout, command.front());
}

}  // namespace

void append_csv(std::string& csv, const std::string& more) {
  if (csv.empty()) {
    csv = more;
    return;
  }
  // A whole file ends with "# finished:": now that of the second.
  const std::size_t finished = csv.rfind(kFinished);
  if (finished != std::string::npos) csv.erase(finished);
  if (!csv.ends_with('\n')) csv.erase(csv.rfind('\n') + 1);  // a line that was not finished
  bool has_columns = false;
  for (const std::string& line : split(more, '\n')) {
    const bool is_row = !line.empty() && !line.starts_with('#');
    if ((is_row && has_columns) || line.starts_with(kFinished)) csv += line + '\n';
    has_columns = has_columns || is_row;
  }
}

std::string telling_line(const std::string& log) {
  constexpr std::size_t kMost = 200;
  std::string first;
  for (const std::string& line : split(log, '\n')) {
    const std::string text(trim(line));
    if (text.empty()) continue;
    if (text.find("_perf: ") != std::string::npos) return text.substr(0, kMost);
    if (first.empty()) first = text.substr(0, kMost);
  }
  return first;
}

LaunchResult run_launch(const std::vector<Words>& commands, Seconds timeout,
                        const std::atomic<bool>* stop) {
  LaunchResult launch;
  const Clock::time_point start = Clock::now();
  for (const Words& command : commands) {
    launch.command += (launch.command.empty() ? "" : " && ") + command_text(command);
    const Seconds left = timeout - Seconds(seconds_since(start));
    run_next(launch, command, std::max(left, Seconds{0}), timeout, stop);
    if (!launch.failure.empty()) break;
  }
  launch.seconds = seconds_since(start);
  return launch;
}

std::vector<LaunchResult> run_launches(const std::vector<std::vector<Words>>& launches,
                                       Seconds timeout, const std::atomic<bool>* stop) {
  std::vector<LaunchResult> results(launches.size());
  const auto run = [&](std::size_t i) {
    try {
      results[i] = run_launch(launches[i], timeout, stop);
    } catch (const std::exception& error) {
      results[i].failure = one_line(error.what());  // no process or pipe to be had
      results[i].exit_code = exit_code(Status::Runtime);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < launches.size(); ++i) threads.emplace_back(run, i);
  if (!launches.empty()) run(0);
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace busbar::judge
