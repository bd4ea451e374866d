// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <sys/statvfs.h>

#include <fmt/format.h>

#include "base/host.hpp"
#include "base/input_file.hpp"
#include "bootstrap/launcher.hpp"
#include "study/doctor/host_check.hpp"

namespace busbar::study {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// As NCCL takes them: the first of the environment, the user's file and the machine's.
std::map<std::string, std::string> nccl_settings(const std::string& root) {
  std::vector<std::string> lines = library_environment();
  const std::string named = variable("NCCL_CONF_FILE");
  const std::string users = root + variable("HOME") + "/.nccl.conf";
  for (const std::string& path : {named.empty() ? users : named, root + "/etc/nccl.conf"}) {
    append(lines, split(read_file(path).value_or(""), '\n'));
  }
  std::map<std::string, std::string> settings;
  for (const std::string& line : lines) {
    const std::size_t equals = line.find('=');
    if (line.starts_with("NCCL_") && equals != std::string::npos) {
      settings.emplace(line.substr(0, equals), trim(line.substr(equals + 1)));
    }
  }
  return settings;
}

/// In the folders of LD_LIBRARY_PATH and of the loader's configuration.
std::vector<std::string> network_plugins(const std::string& root) {
  std::vector<std::string> folders = split(variable("LD_LIBRARY_PATH"), ':');
  for (const std::string& file : paths_below(root, "etc/ld.so.conf{,.d/*.conf}")) {
    append(folders, split(read_file(file).value_or(""), '\n'));
  }
  append(folders, Words{"/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/lib/*-linux-gnu"});
  std::vector<std::string> plugins;
  for (const std::string& folder : folders) {
    if (!folder.starts_with('/')) continue;
    append(plugins, paths_below(root, fmt::format("{}/libnccl-net*.so*", trim(folder))));
  }
  return plugins;
}

std::optional<LauncherView> view_launcher() {
  const MpiSupport* mpi = find_mpi();
  if (mpi == nullptr) return std::nullopt;
  LauncherView view{.library = mpi->library()};
  for (const char* name : {"mpiexec", "mpirun"}) {
    if (is_in_path(name)) view.plain = name;
  }
  if (!view.plain.empty()) {
    const CommandResult version = run_command(view.plain, {"--version"});
    view.plain_version = version.out + version.err;
  }
  try {
    view.own = choose_launcher({.wanted = "auto", .library = &view.library}).program;
  } catch (const Error&) {
    view.own.clear();
  }
  return view;
}

}  // namespace

std::size_t gpu_count(const machine::HostReading& facts) {
  const std::size_t shown = count_of(facts.values, [](const auto& value) {
    return value.first.first == "gpu.driver" && !value.second.text.empty();
  });
  const std::string devices = facts.text({"gpu.devices", ""});
  return shown > 0 ? shown : to_number<std::size_t>(devices).value_or(0);
}

HostView view_host(const std::string& root, const std::string& nvidia_smi) {
  HostView view{.facts = machine::read_host(root, nvidia_smi),
                .nccl = nccl_settings(root),
                .network_plugins = network_plugins(root),
                .processors = processor_quota(root)};
  if (!root.empty()) return view;
  view.interfaces = interface_addresses();
  view.launcher = view_launcher();
  struct statvfs shm {};
  if (statvfs("/dev/shm", &shm) == 0) view.shared_memory = shm.f_blocks * shm.f_frsize;
  return view;
}

void run_collective(const std::string& folder, HostView& view) {
  const std::string visible = variable("CUDA_VISIBLE_DEVICES");
  const std::size_t gpus = visible.empty() ? gpu_count(view.facts) : split(visible, ',').size();
  // RAS reports some time after ranks have connected.
  const std::string options =
      fmt::format("--backend nccl -g {} --launcher local -b 1M -e 1M --duration 2s -T 30", gpus);
  view.run_command = folder + "/allreduce_perf " + options;
  Words words{"NCCL_RUN_DIAGNOSTICS=1", "NCCL_RUN_RAS_DIAGNOSTICS=1", folder + "/allreduce_perf"};
  append(words, split(options, ' '));
  view.run_result = run_command("env", words, Seconds{90});
}

}  // namespace busbar::study
