// SPDX-License-Identifier: BSD-3-Clause
#include "base/host.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <limits>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// The number that a text begins with; "max" is none: no limit.
std::optional<Bytes> number_in(std::string_view text) {
  const std::vector<std::string> words = split_words(text);
  return words.empty() ? std::nullopt : to_number<Bytes>(words.front());
}

/// This process's cgroup and all above it, deepest first, as folders: those of version 2, and those
/// of version 1 that a controller has.
std::vector<std::string> cgroup_folders(const std::string& root, std::string_view controller) {
  const std::string mount = root + "/sys/fs/cgroup";
  const std::string own_mount = fmt::format("{}/{}", mount, controller);
  std::ifstream file = open_input(root + "/proc/self/cgroup");
  std::vector<std::string> folders;
  for (std::string line; std::getline(file, line);) {
    // "4:cpu,cpuacct:/job", "0::/pod:cri-containerd:1"
    const std::size_t number_end = line.find(':');
    const std::size_t names_end = line.find(":/", number_end);
    if (names_end == std::string::npos) continue;
    const std::size_t begin = std::min(number_end + 1, names_end);
    const std::vector<std::string> names = split(line.substr(begin, names_end - begin), ',');
    const bool is_own = std::ranges::find(names, controller) != names.end();
    if (!is_own && !line.starts_with("0:")) continue;
    for (std::string path = line.substr(names_end + 1); path.size() > 1;
         path.erase(path.rfind('/'))) {
      folders.push_back((is_own ? own_mount : mount) + path);
    }
  }
  folders.insert(folders.end(),
                 {mount, own_mount});  // in a container the own group is mounted here
  return folders;
}

/// Threads of all processes of this process's user.
std::uint64_t threads_of_user(const std::string& root) {
  std::uint64_t threads = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/proc", error)) {
    struct stat status {};
    const bool own = number_in(entry.path().filename().string()) &&
                     stat(entry.path().c_str(), &status) == 0 && status.st_uid == geteuid();
    if (!own) continue;
    const std::filesystem::directory_iterator tasks(entry.path() / "task", error);
    threads += static_cast<std::uint64_t>(std::distance(begin(tasks), end(tasks)));
  }
  return threads;
}

std::uint64_t processes_of_user_left(const std::string& root) {
  rlimit limit{};
  const bool limited = geteuid() != 0 && getrlimit(RLIMIT_NPROC, &limit) == 0;
  if (!limited || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const std::uint64_t used = threads_of_user(root);
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

/// What a limit file leaves over a usage file, or no limit.
Bytes room(const std::string& limit_file, const std::string& usage_file) {
  const auto limit = number_in(first_line_of(limit_file));
  const auto used = number_in(first_line_of(usage_file));
  if (!limit || !used) return kUnlimited;
  return *limit > *used ? *limit - *used : 0;
}

Bytes memory_available_in_machine(const std::string& root) {
  std::ifstream file = open_input(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("MemAvailable:")) continue;
    return number_in(line.substr(line.find(':') + 1)).value_or(0) * kKiB;
  }
  return 0;
}

}  // namespace

Bytes available_memory(const std::string& root) {
  Bytes available = memory_available_in_machine(root);
  for (const std::string& folder : cgroup_folders(root, "memory")) {
    available =
        std::min({available, room(folder + "/memory.max", folder + "/memory.current"),
                  room(folder + "/memory.limit_in_bytes", folder + "/memory.usage_in_bytes")});
  }
  return available;
}

std::uint64_t available_processes(const std::string& root) {
  std::uint64_t available = processes_of_user_left(root);
  for (const std::string& folder : cgroup_folders(root, "pids")) {
    available = std::min(available, room(folder + "/pids.max", folder + "/pids.current"));
  }
  return available;
}

std::optional<double> processor_quota(const std::string& root) {
  std::optional<double> quota;
  for (const std::string& folder : cgroup_folders(root, "cpu")) {
    const std::string line = first_line_of(folder + "/cpu.max");
    const auto granted = number_in(line);
    const auto period = number_in(line.substr(std::min(line.find(' '), line.size())));
    if (!granted || !period || *period == 0) continue;
    const double processors = static_cast<double>(*granted) / static_cast<double>(*period);
    quota = std::min(quota.value_or(processors), processors);
  }
  return quota;
}

BootId boot_id() {
  BootId id{};
  copy_text(first_line_of("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string kernel_release() {
  utsname system{};
  uname(&system);
  return fmt::format("{} {} {}", system.sysname, system.release, system.machine);
}

Disturbances disturbances() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {.minor_faults = static_cast<double>(usage.ru_minflt),
          .involuntary_switches = static_cast<double>(usage.ru_nivcsw)};
}

std::string own_program() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return path.string();
  throw Error{
      Status::Unavailable,
      fmt::format("/proc/self/exe, which names this program: {}; mount /proc", error.message())};
}

std::string local_time() {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time(nullptr)));
}

std::vector<std::string> library_environment() {
  constexpr std::array kKept{
      "NCCL_",       "UCX_", "MPIR_", "MPICH_", "OMPI_MCA_", "FI_", "CUDA_VISIBLE_DEVICES",
      "CUDA_DEVICE_"};
  // What Open MPI's mpirun sets for its ranks: session names that differ in every launch.
  constexpr std::array kOfTheLauncher{
      "OMPI_MCA_orte_", "OMPI_MCA_ess",
      "OMPI_MCA_pmix=", "OMPI_MCA_initial_wdir=", "OMPI_MCA_shmem_RUNTIME_QUERY_hint="};
  std::vector<std::string> found;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto begins_text = [&](const char* prefix) { return text.starts_with(prefix); };
    if (std::ranges::any_of(kKept, begins_text) &&
        std::ranges::none_of(kOfTheLauncher, begins_text)) {
      found.emplace_back(text);
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace busbar
