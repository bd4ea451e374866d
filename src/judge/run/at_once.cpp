// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/at_once.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "harness/host.hpp"

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

std::uint64_t launches_by_files(const LaunchLimits& limits) {
  const std::uint64_t taken = limits.used_files + kFilesBeside;
  return limits.open_files > taken ? (limits.open_files - taken) / kFilesOfLaunch : 0;
}

std::uint64_t used_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<std::uint64_t>(std::distance(begin(files), end(files)));
}

std::uint64_t processors() {
  const double all = std::max(1U, std::thread::hardware_concurrency());
  return static_cast<std::uint64_t>(std::ceil(std::min(all, processor_quota().value_or(all))));
}

}  // namespace

AtOnce choose_at_once(const LaunchLimits& limits, std::optional<int> wanted,
                      const std::string& option) {
  struct Bound {
    std::uint64_t launches;
    std::string reason;
  };
  std::vector<Bound> bounds{
      {launches_by_files(limits), fmt::format("{} open files (ulimit -n)", limits.open_files)},
      {limits.processes / kProcessesOfLaunch,
       fmt::format("{} more processes (ulimit -u, pids.max)", limits.processes)}};
  if (wanted) {
    bounds.push_back({static_cast<std::uint64_t>(*wanted), option});
  } else {
    bounds.push_back({limits.memory / kMemoryOfLaunch,
                      fmt::format("{} of free memory", format_bytes(limits.memory))});
    bounds.push_back({limits.processors * kLaunchesOfProcessor,
                      fmt::format("{} processors", limits.processors)});
  }
  const auto lowest = std::min_element(
      bounds.begin(), bounds.end(),
      [](const Bound& left, const Bound& right) { return left.launches < right.launches; });
  return {.launches = std::max<std::size_t>(1, lowest->launches), .reason = lowest->reason};
}

LaunchLimits probe_launch_limits() {
  rlimit files{};
  static_cast<void>(::getrlimit(RLIMIT_NOFILE, &files));  // fails for bad addresses only
  return {.open_files = files.rlim_max,
          .used_files = used_files(),
          .processes = available_processes(),
          .memory = available_memory(),
          .processors = processors()};
}

void allow_launches(const LaunchLimits& limits, std::size_t launches) {
  rlimit files{};
  static_cast<void>(::getrlimit(RLIMIT_NOFILE, &files));
  const rlim_t needed = limits.used_files + kFilesBeside + kFilesOfLaunch * launches;
  files.rlim_cur = std::max(files.rlim_cur, std::min<rlim_t>(needed, files.rlim_max));
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &files));  // up to the hard limit everyone may
}

}  // namespace busbar::judge
