// SPDX-License-Identifier: BSD-3-Clause
#include "topo/assemble/gpu_list.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::topo {
namespace {

std::vector<GpuEntry> from_query(const std::vector<GpuFacts>& facts) {
  std::vector<GpuEntry> gpus;
  for (const GpuFacts& fact : facts) {
    gpus.push_back({.index = fact.index,
                    .name = fact.name,
                    .uuid = fact.uuid,
                    .bus_id = fact.bus_id,
                    .pcie_generation = fact.pcie_generation,
                    .pcie_width = fact.pcie_width,
                    .mig = fact.mig.value_or(false)});
  }
  return gpus;
}

std::vector<GpuEntry> from_indices(const std::vector<int>& indices) {
  std::vector<GpuEntry> gpus;
  for (const int index : indices) gpus.push_back({.index = index});
  return gpus;
}

/// In the order of bus ids, which is nvidia-smi's; by NVML's numbers where they are told.
std::vector<GpuEntry> from_tree(const HostTree& tree) {
  std::vector<GpuEntry> gpus;
  for (const GpuFact& fact : tree.gpus) {
    gpus.push_back(
        {.index = fact.index, .name = fact.model, .uuid = fact.uuid, .bus_id = fact.bus_id});
  }
  const bool numbered =
      std::all_of(gpus.begin(), gpus.end(), [](const GpuEntry& gpu) { return gpu.index >= 0; });
  std::sort(gpus.begin(), gpus.end(), [&](const GpuEntry& a, const GpuEntry& b) {
    return numbered ? a.index < b.index : a.bus_id < b.bus_id;
  });
  for (std::size_t i = 0; !numbered && i < gpus.size(); ++i) gpus[i].index = static_cast<int>(i);
  return gpus;
}

std::vector<GpuEntry> named_gpus(const Sources& sources) {
  if (!sources.smi.gpus.empty()) return from_query(sources.smi.gpus);
  if (sources.smi.matrix) return from_indices(sources.smi.matrix->gpus);
  if (sources.nccl && !sources.nccl->gpus.empty()) return from_tree(*sources.nccl);
  if (sources.hwloc && !sources.hwloc->gpus.empty()) return from_tree(*sources.hwloc);
  if (sources.smi.p2p_read) return from_indices(sources.smi.p2p_read->gpus);
  std::vector<int> indices;
  if (sources.smi.nvlink) {
    for (const NvlinkGpu& gpu : sources.smi.nvlink->gpus) indices.push_back(gpu.index);
  } else if (sources.smi.remotes) {
    for (const NvlinkRemoteGpu& gpu : sources.smi.remotes->gpus) indices.push_back(gpu.index);
  }
  return from_indices(indices);
}

/// Gives an entry what it lacks: the words of `other`, its GPU in the tree, and its memory node.
void fill_gaps(GpuEntry& gpu, const GpuEntry& other, const HostTree& tree) {
  gpu.bus_id = other.bus_id;
  if (gpu.name.empty()) gpu.name = other.name;
  if (gpu.uuid.empty()) gpu.uuid = other.uuid;
  const int place = find_pci(tree, gpu.bus_id);
  if (place >= 0 && gpu.numa < 0) gpu.numa = tree.pci[static_cast<std::size_t>(place)].numa;
}

/// Takes from `tree` what an entry lacks; entries without bus ids are joined by order.
void join_tree(Graph& graph, std::vector<GpuEntry>& gpus, const HostTree& tree) {
  const std::vector<GpuEntry> others = from_tree(tree);
  const bool by_order =
      std::all_of(gpus.begin(), gpus.end(), [](const GpuEntry& gpu) { return gpu.bus_id.empty(); });
  if (others.empty()) return;
  if (by_order && others.size() != gpus.size()) {
    graph.warnings.push_back(fmt::format(
        "{} has {} and the other sources {}: it is left out; give --query, which has bus "
        "ids",
        tree.origin, counted(others.size(), "GPU"), gpus.size()));
    return;
  }
  if (by_order && !gpus.empty()) {
    assume(graph, LinkKind::Pcie,
           fmt::format("GPUs in the order of {}, since no other source has bus ids; give --query",
                       tree.origin));
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    GpuEntry& gpu = gpus[i];
    const auto same = [&](const GpuEntry& other) { return other.bus_id == gpu.bus_id; };
    const auto found = by_order ? others.begin() + static_cast<std::ptrdiff_t>(i)
                                : std::find_if(others.begin(), others.end(), same);
    if (found != others.end()) fill_gaps(gpu, *found, tree);
  }
}

/// The section of `nvlink -s` or `-R` about a GPU, which lends it the name; null where there is
/// none.
template <typename Section>
const Section* section_of(GpuEntry& gpu, const std::vector<Section>& sections) {
  const auto same = [&](const Section& other) {
    return other.uuid.empty() || gpu.uuid.empty() ? other.index == gpu.index
                                                  : other.uuid == gpu.uuid;
  };
  const auto found = std::find_if(sections.begin(), sections.end(), same);
  if (found == sections.end()) return nullptr;
  if (gpu.name.empty()) gpu.name = found->name;
  if (gpu.uuid.empty()) gpu.uuid = found->uuid;
  return &*found;
}

void join_nvlink(std::vector<GpuEntry>& gpus, const NvlinkStatus& status) {
  for (GpuEntry& gpu : gpus) {
    const NvlinkGpu* found = section_of(gpu, status.gpus);
    if (found == nullptr) continue;
    int active = 0;
    for (const NvlinkLink& link : found->links) {
      if (!link.active()) continue;
      ++active;
      gpu.link_GBps = link.GBps;
    }
    gpu.active_links = active;
    gpu.dark_links = static_cast<int>(found->links.size()) - active;
  }
}

/// "0" of the column NUMA Affinity; a range says nothing.
int number_or_none(const std::string& text) {
  int number = -1;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size() ? number : -1;
}

void join_affinity(std::vector<GpuEntry>& gpus, const SmiMatrix& matrix) {
  for (GpuEntry& gpu : gpus) {
    const auto found = std::find(matrix.gpus.begin(), matrix.gpus.end(), gpu.index);
    const auto place = static_cast<std::size_t>(found - matrix.gpus.begin());
    if (gpu.numa < 0 && place < matrix.numa_affinity.size()) {
      gpu.numa = number_or_none(matrix.numa_affinity[place]);
    }
  }
}

}  // namespace

std::vector<GpuEntry> list_gpus(const Sources& sources, Graph& graph) {
  std::vector<GpuEntry> gpus = named_gpus(sources);
  if (sources.hwloc) join_tree(graph, gpus, *sources.hwloc);
  if (sources.nccl) join_tree(graph, gpus, *sources.nccl);
  if (sources.smi.nvlink) join_nvlink(gpus, *sources.smi.nvlink);
  if (sources.smi.remotes) {
    for (GpuEntry& gpu : gpus) (void)section_of(gpu, sources.smi.remotes->gpus);
  }
  if (sources.smi.matrix) join_affinity(gpus, *sources.smi.matrix);
  for (GpuEntry& gpu : gpus) gpu.model = gpu_model(gpu.name);
  return gpus;
}

}  // namespace busbar::topo
