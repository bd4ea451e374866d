// SPDX-License-Identifier: BSD-3-Clause
#include "apps/accept_hosts.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

/// A name per line; what follows it (":8", " slots=8") and comments do not matter.
std::vector<std::string> hosts_of_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw usage_error(fmt::format("--hostfile: cannot read {}", path));
  std::vector<std::string> hosts;
  std::string line;
  while (std::getline(file, line)) {
    line.resize(std::min(line.size(), line.find('#')));
    const std::string_view text = trim(line);
    const std::string host(text.substr(0, text.find_first_of(": \t")));
    const bool known = std::find(hosts.begin(), hosts.end(), host) != hosts.end();
    if (!host.empty() && !known) hosts.push_back(host);
  }
  if (hosts.empty()) throw usage_error(fmt::format("--hostfile: {} names no host", path));
  return hosts;
}

std::vector<std::string> hosts_of_slurm(const std::string& list) {
  const CommandResult result = run_command("scontrol", {"show", "hostnames", list});
  std::vector<std::string> hosts = split(result.out, '\n');
  std::erase(hosts, "");
  if (result.exit_status != 0 || hosts.empty()) {
    throw usage_error(fmt::format(
        "scontrol does not tell the hosts of SLURM_JOB_NODELIST={}: {}; name them by --hosts", list,
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

void check_set(const judge::DeviceSetRule& set, const std::vector<std::string>& hosts) {
  const bool joins = set.kind == judge::SetKind::Pairwise || set.kind == judge::SetKind::Rails;
  if (joins && hosts.size() < 2) {
    throw usage_error(
        fmt::format("device set {} needs two nodes, and there is only {}; name more "
                    "by --hosts",
                    set.id, hosts.front()));
  }
  for (const std::string& node : set.nodes) {
    if (std::find(hosts.begin(), hosts.end(), node) == hosts.end()) {
      throw usage_error(fmt::format(
          "device set {} wants node {}, which is not among the hosts; add it by --hosts", set.id,
          node));
    }
  }
}

}  // namespace

std::vector<std::string> accept_hosts(const AcceptOptions& options,
                                      const judge::Specification& specification) {
  std::vector<std::string> hosts = named_hosts(options, specification);
  for (const judge::DeviceSetRule& set : specification.device_sets) check_set(set, hosts);
  return hosts;
}

}  // namespace busbar
