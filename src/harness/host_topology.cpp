// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host_topology.hpp"

#include "base/host.hpp"
#include "model/agreement.hpp"
#include "model/fact.hpp"
#include "topo/assemble/assemble.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace {

/// The first of the ranks of each kernel.
int first_rank_here(Bootstrap& world) {
  const std::vector<BootId> all = world.gather(boot_id());
  const auto mine = std::ranges::find(all, boot_id());
  return static_cast<int>(mine - all.begin());
}

bool has_gpus(const topo::Graph& graph) {
  return !graph.devices.empty() && device(graph, 0).kind == topo::NodeKind::Gpu;
}

/// The first rank asks, and the others get its answer as a system file: nvidia-smi is slow.
topo::Graph probe_once(Bootstrap& host, const std::string& nvidia_smi) {
  topo::Graph graph;
  std::string text;
  if (host.rank() == 0) {
    graph = topo::assemble(topo::probe_machine(nvidia_smi));
    if (has_gpus(graph)) text = topo::write_system(graph);
  }
  host.broadcast_text(text);
  if (host.rank() != 0 && !text.empty()) {
    graph = topo::parse_system(text, "the first rank's topology");
  }
  return graph;
}

/// The number in `graph` of a device, or -1.
int number_of(const topo::Graph& graph, const Device& wanted) {
  for (std::size_t i = 0; i < graph.devices.size(); ++i) {
    const int number = static_cast<int>(i);
    if (topo::uuid_digits(device(graph, number).uuid) == wanted.uuid.data()) return number;
  }
  return -1;
}

topo::Choice choose_here(Bootstrap& host, const HostTopology& here, const Backend& backend,
                         const Options& options) {
  std::set<int> numbers;
  std::array<char, 512> mine{};  // which are visible, as it is sent between ranks
  for (const Device& visible : backend.visible_devices()) {
    const int number = number_of(here.graph, visible);
    if (number < 0) continue;
    numbers.insert(number);
    mine.at(static_cast<std::size_t>(number)) = '1';
  }
  const auto all = host.gather(mine);
  if (!here.missing.empty()) {
    throw usage_error("--devices: nothing is known of the GPUs: {}", here.missing);
  }
  if (std::ranges::any_of(all, [&](const auto& other) { return other != mine; })) {
    throw usage_error(
        "--devices: the launcher shows each rank other GPUs (CUDA_VISIBLE_DEVICES); let all ranks "
        "of a host see the same, or leave --devices out");
  }
  const int most = static_cast<int>(numbers.size());
  const int count = options.share_devices ? std::min(here.ranks, most) : here.ranks;
  return choose_among(here.graph, {numbers.begin(), numbers.end()}, count, *options.devices);
}

}  // namespace

topo::Choice choose_among(const topo::Graph& graph, const std::vector<int>& allowed, int count,
                          topo::Selection request) {
  for (int& number : request.devices) {
    const auto place = std::ranges::find(allowed, number);
    if (place == allowed.end()) {
      const bool hidden = number < static_cast<int>(graph.devices.size());
      throw usage_error("--devices: GPU {} {}; nvidia-smi -L lists them", number,
                        hidden ? "is hidden by CUDA_VISIBLE_DEVICES" : "does not exist");
    }
    number = static_cast<int>(place - allowed.begin());
  }
  if (count > static_cast<int>(allowed.size())) {
    throw usage_error(
        "--devices: {} on a host that shows {}; start {} a host, or let ranks share GPUs by "
        "--share-gpus",
        counted(count, "rank"), counted(allowed.size(), "GPU"), counted(allowed.size(), "rank"));
  }
  topo::Choice choice = topo::select_devices(topo::keep_devices(graph, allowed), count, request);
  const auto number_as_before = [&](std::vector<int>& devices) {
    for (int& number : devices) number = allowed[static_cast<std::size_t>(number)];
  };
  number_as_before(choice.bound.devices);
  for (topo::RatedRing& ring : choice.bound.rings) number_as_before(ring.devices);
  return choice;
}

HostTopology probe_host(Bootstrap& world, const Backend& backend, const Options& options) {
  const auto host = world.split(first_rank_here(world));
  HostTopology here{
      .graph = probe_once(*host, options.nvidia_smi), .ranks = host->size(), .index = host->rank()};
  if (!has_gpus(here.graph)) {
    here.missing = here.graph.warnings.empty()
                       ? "nvidia-smi shows none; --nvidia-smi PATH names another"
                       : here.graph.warnings.front();
    here.graph = {};
  }
  if (!options.devices) return here;
  agree_on(world, [&] { here.choice = choose_here(*host, here, backend, options); });
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
  auto numbers = mapped(devices, [&](const Device& wanted) { return number_of(graph, wanted); });
  return std::ranges::count(numbers, -1) > 0 ? std::nullopt : std::optional{std::move(numbers)};
}

std::string driver_version(std::string_view line) {
  if (!line.starts_with("NVRM version:")) return {};
  for (const std::string& word : split(line, ' ')) {
    const bool number = word.find_first_not_of("0123456789.") == std::string::npos;
    if (number && word.find('.') != std::string::npos) return word;
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> inventory_facts(
    Bootstrap& world, const std::optional<HostTopology>& topology) {
  if (!world.agree(topology.has_value())) return {};
  struct Inventory {
    int gpus = 0;
    int nics = 0;
    std::array<char, 32> driver{};
  } mine;
  for (const topo::Node& node : topology->graph.nodes) {
    if (node.kind == topo::NodeKind::Gpu) ++mine.gpus;
    if (node.kind == topo::NodeKind::Nic) ++mine.nics;
  }
  copy_text(driver_version(first_line_of("/proc/driver/nvidia/version")), mine.driver);
  std::array<std::set<std::string>, 3> values;
  for (const Inventory& host : world.gather_at_root(mine)) {
    if (host.gpus > 0) {  // one without GPUs was not probed
      values[0].insert(fmt::format("{}", host.gpus));
      values[1].insert(fmt::format("{}", host.nics));
    }
    if (host.driver.front() != '\0') values[2].insert(host.driver.data());
  }
  constexpr std::array kInventory{fact::kGpusPerNode, fact::kNicsPerNode, fact::kDriver};
  std::vector<std::pair<std::string, std::string>> facts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values.at(i).empty()) {
      facts.emplace_back(key(kInventory.at(i)), join_all(values.at(i), "; "));
    }
  }
  return facts;
}

}  // namespace busbar
