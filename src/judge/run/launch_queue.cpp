// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/launch_queue.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <iterator>
#include <sys/resource.h>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "base/text.hpp"

namespace busbar::judge {
namespace {

/// Pipes of stdout and stderr.
constexpr std::uint64_t kFilesOfLaunch = 2;
/// The stdin of all launches, the pipes of one that starts, and what is written meanwhile.
constexpr std::uint64_t kFilesBeside = 32;
/// The launcher, an ssh, or an srun with its threads.
constexpr std::uint64_t kProcessesOfLaunch = 8;
constexpr Bytes kMemoryOfLaunch = 32 * kMiB;
/// A launcher and its ssh take some 40 ms of a processor until a node works: all have begun long
/// before reach_timeout_s, and no node counts as one that does not answer since it came too late.
constexpr std::uint64_t kLaunchesOfProcessor = 256;

constexpr std::string_view kFinished = "# finished:";

/// A launcher writes lines of its own, too, such as Hydra's of a bad termination.
bool has_rows(const std::string& csv) {
  const std::vector<std::string> lines = split(csv, '\n');
  const auto names = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("collective,"); });
  return std::any_of(names, lines.end(), [&](const std::string& line) {
    return line != *names && !line.starts_with('#') && line.find(',') != std::string::npos;
  });
}

/// Wrong data and skipped rows are reported by the rows themselves.
std::string failure_text(const CommandResult& result, Seconds timeout) {
  if (result.stopped) return std::string(kInterrupted);
  if (result.timed_out && !result.lingered) {
    return fmt::format("timeout after {:g} s", timeout.count());
  }
  const bool rows_report = result.exit_status == exit_code(Status::Ok) ||
                           result.exit_status == exit_code(Status::Wrong) ||
                           result.exit_status == exit_code(Status::Skipped);
  if (result.lingered || rows_report) {
    if (has_rows(result.out)) return "";
    constexpr std::size_t kMost = 60;
    const std::string first =
        one_line(result.out.substr(0, result.out.find('\n')).substr(0, kMost));
    return "no row was written" + (first.empty() || first.front() == '#'
                                       ? ""
                                       : fmt::format("; standard output begins with '{}'", first));
  }
  const std::string why = telling_line(result.err);
  return fmt::format("exit {}{}{}", result.exit_status, why.empty() ? "" : ": ", why);
}

void add_end(LaunchResult& launch, CommandResult& result, const LaunchControl& control) {
  const std::string banner = take_banner(result.out);
  if (launch.banner.empty()) launch.banner = banner;
  append_csv(launch.csv, result.out);
  launch.log += result.err;
  if (result.lingered) {
    launch.log += fmt::format(
        "busbar: all rows were written, but the job did not end within {:g} s of the last and was "
        "killed\n",
        control.linger.count());
  }
  launch.exit_code = result.lingered    ? exit_code(Status::Ok)
                     : result.stopped   ? kNotMade
                     : result.timed_out ? kTimedOut
                                        : result.exit_status;
  launch.timed_out = result.timed_out;
  launch.failure = failure_text(result, control.timeout);
}

/// Launches from the first to the last, but the next command of one before another launch.
class LaunchQueue {
 public:
  LaunchQueue(std::span<const LaunchCommands> launches, const LaunchControl& control,
              const LaunchEvents& events)
      : launches_(launches), control_(control), events_(events), states_(launches.size()) {
    for (std::size_t number = 0; number < launches.size(); ++number) ready_.push_back(number);
  }

  [[nodiscard]] std::optional<std::string> run() {
    while (loop_.running() > 0 || has_next()) {
      if (auto failure = start_next()) return failure;
      if (is_stopped()) loop_.stop();
      for (CommandLoop::Ended& ended : loop_.wait()) note(ended);
    }
    for (const std::size_t number : ready_) {
      if (states_[number].next == 0) continue;
      states_[number].result.failure = kInterrupted;
      finish(number);
    }
    return {};
  }

 private:
  struct State {
    std::size_t next = 0;  ///< command
    Clock::time_point started{};
    LaunchResult result{};
  };

  [[nodiscard]] bool is_stopped() const { return control_.stop && control_.stop(); }

  [[nodiscard]] bool has_next() const { return !ready_.empty() && !is_stopped(); }

  /// Some, so that the others are watched meanwhile; returns what could not be started.
  [[nodiscard]] std::optional<std::string> start_next() {
    constexpr int kSome = 32;
    for (int i = 0; i < kSome && has_next() && loop_.running() < control_.at_once; ++i) {
      const int error = start(ready_.front());
      if (error != 0) return failure_of(error, ready_.front());
      ready_.pop_front();
      shortage_since_.reset();
    }
    return {};
  }

  /// The next command of a launch: 0, or the error number.
  [[nodiscard]] int start(std::size_t number) {
    State& launch = states_[number];
    const Words& command = launches_[number].at(launch.next);
    const Seconds left = control_.timeout - Seconds(launch.result.seconds);
    const int error = loop_.start(number, command,
                                  {.timeout = std::max(left, Seconds{0}),
                                   .grace = kGrace,
                                   .last_line = std::string(kFinished),
                                   .linger = control_.linger,
                                   .endless_stdin = true});
    if (error != 0) return error;
    launch.started = Clock::now();
    launch.result.command += (launch.next == 0 ? "" : " && ") + command_text(command);
    if (launch.next++ == 0 && events_.begun) events_.begun(number);
    return 0;
  }

  /// Nothing where waiting may help.
  [[nodiscard]] std::optional<std::string> failure_of(int error, std::size_t number) {
    if (is_shortage(error)) {
      if (loop_.running() > 0) return {};
      if (!shortage_since_) shortage_since_ = Clock::now();
      if (Clock::now() - *shortage_since_ < control_.shortage_patience) return {};
    }
    return fmt::format("cannot start {}: {}", launches_[number].at(states_[number].next).front(),
                       std::generic_category().message(error));
  }

  void note(CommandLoop::Ended& ended) {
    State& launch = states_[ended.number];
    launch.result.seconds += Seconds(Clock::now() - launch.started).count();
    add_end(launch.result, ended.result, control_);
    if (launch.result.failure.empty() && launch.next < launches_[ended.number].size()) {
      ready_.push_front(ended.number);
    } else {
      finish(ended.number);
    }
  }

  void finish(std::size_t number) {
    if (events_.ended) events_.ended(number, states_[number].result);
    states_[number].result = {};
  }

  std::span<const LaunchCommands> launches_;
  const LaunchControl& control_;
  const LaunchEvents& events_;
  std::deque<std::size_t> ready_{};  ///< launches whose next command is to be started
  std::vector<State> states_;
  std::optional<Clock::time_point> shortage_since_{};
  CommandLoop loop_{};
};

}  // namespace

AtOnce choose_at_once(const LaunchLimits& limits, std::optional<int> wanted,
                      const std::string& option) {
  const std::uint64_t taken = limits.used_files + kFilesBeside;
  const std::uint64_t free_files = limits.open_files > taken ? limits.open_files - taken : 0;
  std::vector<AtOnce> bounds{
      {free_files / kFilesOfLaunch, fmt::format("{} open files (ulimit -n)", limits.open_files)},
      {limits.processes / kProcessesOfLaunch,
       fmt::format("{} more processes (ulimit -u, pids.max)", limits.processes)}};
  if (wanted) {
    bounds.push_back({static_cast<std::size_t>(*wanted), option});
  } else {
    bounds.push_back({limits.memory / kMemoryOfLaunch,
                      fmt::format("{} of free memory", format_bytes(limits.memory))});
    bounds.push_back({limits.processors * kLaunchesOfProcessor,
                      fmt::format("{} processors", limits.processors)});
  }
  AtOnce lowest = *std::ranges::min_element(bounds, {}, &AtOnce::launches);
  lowest.launches = std::max<std::size_t>(1, lowest.launches);
  return lowest;
}

LaunchLimits probe_launch_limits() {
  rlimit files{};
  static_cast<void>(::getrlimit(RLIMIT_NOFILE, &files));  // fails for bad addresses only
  const std::filesystem::directory_iterator used("/proc/self/fd");
  const double all = std::max(1U, std::thread::hardware_concurrency());
  const double processors = std::ceil(std::min(all, processor_quota().value_or(all)));
  return {.open_files = files.rlim_max,
          .used_files = static_cast<std::uint64_t>(std::distance(begin(used), end(used))),
          .processes = available_processes(),
          .memory = available_memory(),
          .processors = static_cast<std::uint64_t>(processors)};
}

void allow_launches(const LaunchLimits& limits, std::size_t launches) {
  rlimit files{};
  static_cast<void>(::getrlimit(RLIMIT_NOFILE, &files));
  const rlim_t needed = limits.used_files + kFilesBeside + kFilesOfLaunch * launches;
  files.rlim_cur = std::max(files.rlim_cur, std::min<rlim_t>(needed, files.rlim_max));
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &files));  // up to the hard limit without privilege
}

std::string take_banner(std::string& out) {
  const std::vector<std::string> lines = split(out, '\n');
  const auto find_line = [&](auto from, std::string_view beginning) {
    return std::find_if(from, lines.end(),
                        [&](const std::string& line) { return line.starts_with(beginning); });
  };
  const auto columns = find_line(lines.begin(), "collective,");
  auto begin = std::min(find_line(lines.begin(), "# busbar:"), columns);
  if (begin == lines.end()) return {};
  if (begin == columns) {  // behind the facts of another head
    while (begin != lines.begin() && std::prev(begin)->starts_with('#')) --begin;
  }
  const auto finished = find_line(begin, kFinished);
  const bool is_cut = lines.end() - finished > 1;
  out = join({begin, is_cut ? finished + 1 : lines.end()}, "\n") + (is_cut ? "\n" : "");
  const auto banner = std::find_if(lines.begin(), begin,
                                   [](const std::string& line) { return !trim(line).empty(); });
  return banner == begin ? "" : one_line(trim(*banner));
}

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
    // The line that names the launcher is not the reason of a failure.
    if (text.empty() || text.find("_perf: launcher: ") != std::string::npos) continue;
    if (text.find("_perf: ") != std::string::npos) return text.substr(0, kMost);
    if (first.empty()) first = text.substr(0, kMost);
  }
  return first;
}

std::optional<std::string> run_launches(std::span<const LaunchCommands> launches,
                                        const LaunchControl& control, const LaunchEvents& events) {
  return LaunchQueue(launches, control, events).run();
}

}  // namespace busbar::judge
