// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host_topology.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/fixed_text.hpp"
#include "base/text.hpp"
#include "topo/assemble/assemble.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace {

using Words = std::array<char, 512>;  // one line, as it is sent between ranks

Words line_of(std::string_view text) {
  Words words{};
  copy_text(text, words);
  return words;
}

/// Ranks of one kernel have one colour: the first of them.
int host_colour(Bootstrap& world) {
  const auto all = world.gather(line_of(first_line_of("/proc/sys/kernel/random/boot_id")));
  const auto& mine = all[static_cast<std::size_t>(world.rank())];
  return static_cast<int>(std::find(all.begin(), all.end(), mine) - all.begin());
}

bool has_gpus(const topo::Graph& graph) {
  return !graph.devices.empty() && device(graph, 0).kind == topo::NodeKind::Gpu;
}

/// The first rank asks and the others take its word, as a system file: nvidia-smi is slow.
topo::Graph probe_once(Bootstrap& host, const std::string& nvidia_smi) {
  topo::Graph graph;
  std::string text;
  if (host.rank() == 0) {
    graph = topo::assemble(topo::probe_machine(nvidia_smi));
    if (has_gpus(graph)) text = topo::write_system(graph);
  }
  std::size_t size = text.size();
  host.broadcast(size);
  text.resize(size);
  host.broadcast_bytes(std::as_writable_bytes(std::span{text}), 0);
  if (host.rank() != 0 && size > 0) graph = topo::parse_system(text, "the first rank's topology");
  return graph;
}

/// What all ranks of the host may take; nothing where they differ.
std::optional<std::vector<int>> allowed_devices(Bootstrap& host, const topo::Graph& graph,
                                                const std::vector<Device>& visible) {
  std::vector<int> numbers;
  std::string mine;
  for (std::size_t i = 0; i < graph.devices.size(); ++i) {
    const std::string uuid = topo::uuid_digits(device(graph, static_cast<int>(i)).uuid);
    const bool seen = std::any_of(visible.begin(), visible.end(),
                                  [&](const Device& other) { return uuid == other.uuid.data(); });
    mine += seen ? '1' : '0';
    if (seen) numbers.push_back(static_cast<int>(i));
  }
  const auto all = host.gather(line_of(mine));
  const bool same =
      std::all_of(all.begin(), all.end(), [&](const Words& other) { return other == all.front(); });
  return same ? std::optional{numbers} : std::nullopt;
}

topo::Choice choose_here(Bootstrap& host, const HostTopology& here, const Backend& backend,
                         const Options& options) {
  const auto allowed = allowed_devices(host, here.graph, backend.visible_devices());
  if (!here.missing.empty()) {
    throw usage_error(fmt::format("--devices: nothing is known of the GPUs: {}", here.missing));
  }
  if (!allowed) {
    throw usage_error(
        "--devices: the launcher shows each rank other GPUs (CUDA_VISIBLE_DEVICES); let all ranks "
        "of a host see the same, or leave --devices out");
  }
  const int most = static_cast<int>(allowed->size());
  const int count = options.share_devices ? std::min(here.ranks, most) : here.ranks;
  return choose_among(here.graph, *allowed, count, *options.devices);
}

/// Every rank throws what one host cannot do, so that all end alike.
void agree_or_throw(Bootstrap& world, const std::string& obstacle) {
  for (const Words& words : world.gather(line_of(obstacle))) {
    if (words.front() != '\0') throw usage_error(words.data());
  }
}

}  // namespace

topo::Choice choose_among(const topo::Graph& graph, const std::vector<int>& allowed, int count,
                          topo::Selection request) {
  for (int& number : request.devices) {
    const auto place = std::find(allowed.begin(), allowed.end(), number);
    if (place == allowed.end()) {
      const bool hidden = number < static_cast<int>(graph.devices.size());
      throw usage_error(
          fmt::format("--devices: GPU {} {}; nvidia-smi -L lists them", number,
                      hidden ? "is hidden by CUDA_VISIBLE_DEVICES" : "does not exist"));
    }
    number = static_cast<int>(place - allowed.begin());
  }
  if (count > static_cast<int>(allowed.size())) {
    throw usage_error(fmt::format(
        "--devices: {} on a host that shows {}; start {} a host, or let ranks share GPUs by "
        "--share-gpus",
        counted(static_cast<std::size_t>(count), "rank"), counted(allowed.size(), "GPU"),
        counted(allowed.size(), "rank")));
  }
  topo::Choice choice = topo::select_devices(topo::keep_devices(graph, allowed), count, request);
  const auto back = [&](std::vector<int>& devices) {
    for (int& number : devices) number = allowed[static_cast<std::size_t>(number)];
  };
  back(choice.bound.devices);
  for (topo::RatedRing& ring : choice.bound.rings) back(ring.devices);
  return choice;
}

HostTopology probe_host(Bootstrap& world, const Backend& backend, const Options& options) {
  const auto host = world.split(host_colour(world));
  HostTopology here{
      .graph = probe_once(*host, options.nvidia_smi), .ranks = host->size(), .index = host->rank()};
  if (!has_gpus(here.graph)) {
    here.missing = here.graph.warnings.empty()
                       ? "nvidia-smi shows none; --nvidia-smi PATH names another"
                       : here.graph.warnings.front();
    here.graph = {};
  }
  if (!options.devices) return here;
  std::string obstacle;
  try {
    here.choice = choose_here(*host, here, backend, options);
  } catch (const Error& error) {
    obstacle = error.what();
  }
  agree_or_throw(world, obstacle);
  return here;
}

DeviceRequest device_request(const HostTopology& topology, const Options& options) {
  DeviceRequest request{.first = options.first_device, .share = options.share_devices};
  if (!topology.choice) return request;
  const std::vector<int>& set = topology.choice->bound.devices;
  const int number = set[static_cast<std::size_t>(topology.index) % set.size()];
  copy_text(topo::uuid_digits(device(topology.graph, number).uuid), request.uuid);
  return request;
}

std::optional<std::vector<int>> numbers_of(const topo::Graph& graph,
                                           std::span<const Device> devices) {
  std::vector<int> numbers;
  for (const Device& wanted : devices) {
    for (std::size_t i = 0; i < graph.devices.size(); ++i) {
      const std::string uuid = topo::uuid_digits(device(graph, static_cast<int>(i)).uuid);
      if (uuid == wanted.uuid.data()) numbers.push_back(static_cast<int>(i));
    }
  }
  return numbers.size() == devices.size() ? std::optional{numbers} : std::nullopt;
}

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
    Bootstrap& world, const std::optional<HostTopology>& topology) {
  if (!world.agree(topology.has_value())) return {};
  std::set<std::string> gpus;
  std::set<std::string> nics;
  std::set<std::string> drivers;
  for (const Inventory& host : world.gather(inventory_of(*topology))) {
    if (host.gpus > 0) gpus.insert(fmt::format("{}", host.gpus));
    // A host without GPUs was not probed.
    if (host.gpus > 0) nics.insert(fmt::format("{}", host.nics));
    if (host.driver.front() != '\0') drivers.insert(host.driver.data());
  }
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](const char* key, const std::set<std::string>& values) {
    const std::vector<std::string> list(values.begin(), values.end());
    if (!list.empty()) facts.emplace_back(key, join(list, "; "));
  };
  add("gpus-per-node", gpus);
  add("nics-per-node", nics);
  add("driver", drivers);
  return facts;
}

}  // namespace busbar
