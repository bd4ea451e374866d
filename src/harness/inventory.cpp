// SPDX-License-Identifier: BSD-3-Clause
#include "harness/inventory.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/fixed_text.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

/// Of one host, as it is sent between ranks.
struct Inventory {
  int gpus = 0;
  int nics = 0;
  std::array<char, 32> driver{};
};

Inventory inventory_of(const HostTopology& topology) {
  Inventory inventory;
  for (const topo::Node& node : topology.graph.nodes) {
    if (node.kind == topo::NodeKind::Gpu) ++inventory.gpus;
    if (node.kind == topo::NodeKind::Nic) ++inventory.nics;
  }
  copy_text(driver_version(first_line_of("/proc/driver/nvidia/version")), inventory.driver);
  return inventory;
}

bool is_version(const std::string& word) {
  return word.find('.') != std::string::npos &&
         word.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace

std::string driver_version(std::string_view line) {
  if (!line.starts_with("NVRM version:")) return {};
  const std::vector<std::string> words = split(line, ' ');
  const auto found = std::find_if(words.begin(), words.end(), is_version);
  return found == words.end() ? std::string{} : *found;
}

std::vector<std::pair<std::string, std::string>> inventory_facts(
    Bootstrap& everyone, const std::optional<HostTopology>& topology) {
  if (!everyone.agree(topology.has_value())) return {};
  std::set<std::string> gpus;
  std::set<std::string> nics;
  std::set<std::string> drivers;
  for (const Inventory& host : everyone.gather(inventory_of(*topology))) {
    if (host.gpus > 0) gpus.insert(fmt::format("{}", host.gpus));
    // Without GPUs nobody looked at the host.
    if (host.gpus > 0) nics.insert(fmt::format("{}", host.nics));
    if (host.driver.front() != '\0') drivers.insert(host.driver.data());
  }
  std::vector<std::pair<std::string, std::string>> facts;
  const auto tell = [&](const char* key, const std::set<std::string>& values) {
    const std::vector<std::string> list(values.begin(), values.end());
    if (!list.empty()) facts.emplace_back(key, join(list, "; "));
  };
  tell("gpus-per-node", gpus);
  tell("nics-per-node", nics);
  tell("driver", drivers);
  return facts;
}

}  // namespace busbar
