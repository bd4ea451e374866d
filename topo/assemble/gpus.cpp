// SPDX-License-Identifier: BSD-3-Clause
#include "topo/assemble/gpus.hpp"

#include <cmath>
#include <numeric>

namespace busbar::topo {
namespace {

/// In the order of bus ids, which is nvidia-smi's; by NVML's numbers where they are known.
std::vector<GpuFacts> in_order(std::vector<GpuFacts> gpus) {
  const bool numbered =
      std::ranges::all_of(gpus, [](const GpuFacts& gpu) { return gpu.index >= 0; });
  std::ranges::sort(gpus, [&](const GpuFacts& a, const GpuFacts& b) {
    return numbered ? a.index < b.index : a.bus_id < b.bus_id;
  });
  for (std::size_t i = 0; !numbered && i < gpus.size(); ++i) gpus[i].index = static_cast<int>(i);
  return gpus;
}

std::vector<GpuFacts> named_gpus(const Sources& sources) {
  const SmiProbe& smi = sources.smi;
  if (!smi.gpus.empty()) return smi.gpus;
  if (smi.matrix) return gpus_in(*smi.matrix);
  for (const auto& tree : {sources.nccl, sources.hwloc}) {
    if (tree && !tree->gpus.empty()) return in_order(tree->gpus);
  }
  if (smi.p2p) return gpus_numbered(smi.p2p->gpus);
  return smi.nvlink.value_or(std::vector<GpuFacts>{});
}

/// A name that says what the GPU is, in place of none and of a generic one.
void take_name(GpuEntry& gpu, const GpuFacts& facts) {
  const bool is_better = is_generic_gpu(gpu.name) && !is_generic_gpu(facts.name);
  if (gpu.name.empty() || is_better) gpu.name = facts.name;
}

/// Takes from `tree`, and from its facts of the GPU, what the entry lacks.
void complete(GpuEntry& gpu, const GpuFacts& facts, const HostTree& tree) {
  gpu.bus_id = facts.bus_id;
  take_name(gpu, facts);
  if (gpu.uuid.empty()) gpu.uuid = facts.uuid;
  const PciObject* object = find_pci(tree, gpu.bus_id);
  if (object != nullptr && gpu.numa < 0) gpu.numa = object->numa;
}

/// Takes from `tree` what an entry lacks; entries without bus ids are joined by order.
void join_tree(Graph& graph, std::vector<GpuEntry>& gpus, const HostTree& tree) {
  const std::vector<GpuFacts> others = in_order(tree.gpus);
  const bool by_order =
      std::ranges::all_of(gpus, [](const GpuEntry& gpu) { return gpu.bus_id.empty(); });
  if (others.empty() || (by_order && others.size() != gpus.size())) return;
  if (by_order) {
    assume(graph, LinkKind::Pcie,
           fmt::format("GPUs in the order of {}, since no other source has bus ids; give --query",
                       tree.origin));
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    GpuEntry& gpu = gpus[i];
    const auto found = by_order ? others.begin() + static_cast<std::ptrdiff_t>(i)
                                : std::ranges::find(others, gpu.bus_id, &GpuFacts::bus_id);
    if (found != others.end()) complete(gpu, *found, tree);
  }
}

/// What `nvlink -s` reports of a GPU, with a name that it may lack.
void join_nvlink(GpuEntry& gpu, const std::vector<GpuFacts>& status) {
  const auto found = std::ranges::find_if(status, [&](const GpuFacts& other) {
    return other.uuid.empty() || gpu.uuid.empty() ? other.index == gpu.index
                                                  : other.uuid == gpu.uuid;
  });
  if (found == status.end()) return;
  take_name(gpu, *found);
  if (gpu.uuid.empty()) gpu.uuid = found->uuid;
  gpu.active_links = 0;
  for (const double GBps : found->links) {
    if (GBps > 0) gpu.link_GBps = GBps;
    ++(GBps > 0 ? *gpu.active_links : gpu.dark_links);
  }
}

/// "0" of the column NUMA Affinity; a range says nothing.
void join_affinity(GpuEntry& gpu, const SmiMatrix& matrix) {
  const auto found = std::ranges::find(matrix.gpus, gpu.index);
  if (gpu.numa >= 0 || found == matrix.gpus.end()) return;
  const auto place = static_cast<std::size_t>(found - matrix.gpus.begin());
  gpu.numa = to_number<int>(matrix.numa_affinity[place]).value_or(-1);
}

/// No GPU of any generation has more.
constexpr int kMostLinks = 18;

/// Links of GPUs as counted: between GPUs, to a switch, to the processor.
struct LinkCounts {
  explicit LinkCounts(std::size_t gpus)
      : between(gpus, std::vector<int>(gpus)), to_switch(gpus), to_processor(gpus) {}

  std::vector<std::vector<int>> between;
  std::vector<int> to_switch;
  std::vector<int> to_processor;
  LinkKind kind = LinkKind::NvLink;

  [[nodiscard]] bool any() const {
    const auto positive = [](int count) { return count > 0; };
    return std::ranges::any_of(to_switch, positive) ||
           std::ranges::any_of(between, [&](const std::vector<int>& row) {
             return std::ranges::any_of(row, positive);
           });
  }
};

/// The place of the GPU with a bus id, or their number where it is not there.
std::size_t place_of(const std::string& bus_id, const std::vector<GpuEntry>& gpus) {
  const auto found = std::ranges::find(gpus, bus_id, &GpuEntry::bus_id);
  return bus_id.empty() ? gpus.size() : static_cast<std::size_t>(found - gpus.begin());
}

LinkCounts from_nccl(const HostTree& tree, const std::vector<GpuEntry>& gpus) {
  LinkCounts counts(gpus.size());
  if (tree.xgmi) counts.kind = LinkKind::Xgmi;
  for (const NvlinkEnd& end : tree.nvlinks) {
    const std::size_t from = place_of(end.from, gpus);
    if (from == gpus.size()) continue;
    const std::size_t to = place_of(end.to, gpus);
    if (end.kind == NvlinkKind::PowerBridge) counts.to_processor[from] += end.count;
    if (end.kind == NvlinkKind::NvSwitch) counts.to_switch[from] += end.count;
    if (end.kind == NvlinkKind::Gpu && to < gpus.size() && to != from) {
      counts.between[from][to] += end.count;
    }
  }
  return counts;
}

/// Links whose other ends no source shows lead to a switch: the most that they can do.
LinkCounts from_active(Graph& graph, const std::vector<GpuEntry>& gpus) {
  LinkCounts counts(gpus.size());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    counts.to_switch[i] = gpus[i].active_links.value_or(0);
  }
  if (counts.any() && gpus.size() > 1) {
    assume(graph, LinkKind::NvLink,
           "every active NVLink leads to a switch that joins the GPUs, which is the most that it "
           "can do: no source shows where it leads; give --smi (nvidia-smi topo -m)");
  }
  return counts;
}

int links_of(const GpuEntry& gpu) {
  if (gpu.active_links) return *gpu.active_links;
  return gpu.model && gpu.model->links > 0 ? gpu.model->links : kMostLinks;
}

/// Whether all GPUs have as many links to each other, of a model whose own number is unknown: a
/// switch or a mesh. Two GPUs have the same bandwidth either way.
bool may_be_switched(const LinkCounts& counts, const std::vector<GpuEntry>& gpus) {
  constexpr std::size_t kFewest = 3;
  if (gpus.size() < kFewest) return false;
  const int cell = counts.between[0][1];
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].active_links || (gpus[i].model && gpus[i].model->links > 0)) return false;
    for (std::size_t j = 0; j < gpus.size(); ++j) {
      if (i != j && counts.between[i][j] != cell) return false;
    }
  }
  return cell > 1;
}

LinkCounts counts_in(const SmiMatrix& matrix) {
  LinkCounts counts(matrix.gpus.size());
  for (std::size_t i = 0; i < matrix.gpus.size(); ++i) {
    for (std::size_t j = 0; j < matrix.gpus.size(); ++j) {
      counts.between[i][j] = gpu_link_count(matrix.cells[i][j]);
      if (matrix.cells[i][j].starts_with("XGMI")) counts.kind = LinkKind::Xgmi;
    }
  }
  return counts;
}

/// rocm-smi does not show how many xGMI links are side by side.
LinkCounts with_peer_links(LinkCounts counts, const std::vector<GpuEntry>& gpus) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (int& count : counts.between[i]) {
      if (count > 0 && gpus[i].model) count = std::max(count, gpus[i].model->peer_links);
    }
  }
  return counts;
}

LinkCounts from_matrix(Graph& graph, const SmiMatrix& matrix, const std::vector<GpuEntry>& gpus,
                       bool power) {
  LinkCounts counts = counts_in(matrix);
  if (counts.kind == LinkKind::Xgmi) return with_peer_links(std::move(counts), gpus);
  bool switched = false;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const int row = std::accumulate(counts.between[i].begin(), counts.between[i].end(), 0);
    switched = switched || row > links_of(gpus[i]);
    const int spare = gpus[i].active_links.value_or(row) - row;
    if (power && spare > 0) counts.to_processor[i] = spare;
  }
  if (!switched) {
    if (may_be_switched(counts, gpus)) {
      assume(graph, LinkKind::NvLink,
             fmt::format("NV{} in every cell is links from GPU to GPU, not to a switch; give "
                         "--query or --nvlink",
                         counts.between[0][1]));
    }
    return counts;
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    auto& row = counts.between[i];
    counts.to_switch[i] = *std::ranges::max_element(row);
    std::ranges::fill(row, 0);
  }
  return counts;
}

/// hwloc's figures depend on its version, so they only show that there are links.
LinkCounts from_hwloc(Graph& graph, const NvlinkMatrix& matrix, const std::vector<GpuEntry>& gpus,
                      bool power) {
  LinkCounts counts(gpus.size());
  std::vector<int>& elsewhere = power ? counts.to_processor : counts.to_switch;
  for (std::size_t i = 0; i < matrix.bus_ids.size(); ++i) {
    for (std::size_t j = 0; j < matrix.bus_ids.size(); ++j) {
      const std::size_t from = place_of(matrix.bus_ids[i], gpus);
      const std::size_t to = place_of(matrix.bus_ids[j], gpus);
      if (i == j || from == gpus.size() || matrix.GBps[i][j] <= 0) continue;
      constexpr double kOne = 25;  // GB/s, of NVLink 2 and 3 in every version of hwloc
      const int links = std::max(1, static_cast<int>(std::lround(matrix.GBps[i][j] / kOne)));
      (to < gpus.size() ? counts.between[from][to] : elsewhere[from]) += links;
    }
  }
  if (counts.any()) {
    assume(graph, LinkKind::NvLink,
           "as many NVLinks as hwloc's rates make of 25 GB/s each, which depends on its version; "
           "give --smi or --nvlink");
  }
  return counts;
}

LinkCounts count_links(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources) {
  const bool power = std::ranges::any_of(graph.nodes, [](const Node& node) {
    return node.kind == NodeKind::Package && node.vendor == "ibm";
  });
  if (sources.nccl) {
    LinkCounts counts = from_nccl(*sources.nccl, gpus);
    if (counts.any()) return counts;
  }
  const auto& matrix = sources.smi.matrix;
  if (matrix && !matrix->pcie_only && matrix->gpus.size() == gpus.size()) {
    return from_matrix(graph, *matrix, gpus, power);
  }
  if (sources.hwloc && sources.hwloc->nvlink_matrix) {
    return from_hwloc(graph, *sources.hwloc->nvlink_matrix, gpus, power);
  }
  LinkCounts counts = from_active(graph, gpus);
  const bool shown =
      (sources.nccl && !sources.nccl->nvlinks.empty()) ||
      std::ranges::all_of(gpus, [](const GpuEntry& gpu) { return gpu.active_links.has_value(); });
  graph.gpu_links_known = shown && !counts.any();
  return counts;
}

Medium xgmi_of(Graph& graph, const GpuEntry& gpu) {
  Medium medium = xgmi_medium(gpu.model ? gpu.model->xgmi : XgmiGeneration::None);
  if (!gpu.model || gpu.model->xgmi == XgmiGeneration::None) {
    assume(graph, LinkKind::Xgmi,
           fmt::format("xGMI of {:g} GB/s a link and one between two GPUs (MI210, MI250; MI300X: "
                       "64, MI300A: 2 of 64, MI350X: 76.8), since no source has a GPU's name that "
                       "is known; give --query or --gpu",
                       medium.nominal_GBps));
  }
  return medium;
}

Medium medium_of(Graph& graph, const GpuEntry& gpu, LinkKind kind) {
  if (kind == LinkKind::Xgmi) return xgmi_of(graph, gpu);
  const bool known = gpu.model && gpu.model->nvlink_generation > 0;
  Medium medium = known ? nvlink_medium(gpu.model->nvlink_generation, gpu.model->small_links)
                        : nvlink_medium(0);
  medium.reported_GBps = gpu.link_GBps;
  if (known) return medium;
  if (gpu.link_GBps > 0) {
    medium.nominal_GBps = nominal_nvlink_GBps(gpu.link_GBps);
    medium.source = "nvidia-smi nvlink -s";
  } else {
    assume(graph, LinkKind::NvLink,
           fmt::format("NVLink of {:g} GB/s a link (generations 2 to 4; A40, RTX A6000, RTX 3090: "
                       "14.06, Blackwell: 50), since no source has its rate or a GPU's name that "
                       "is known; give --query, --gpu or --nvlink",
                       medium.nominal_GBps));
  }
  return medium;
}

void add_switch(Graph& graph, const std::vector<GpuEntry>& gpus, const LinkCounts& counts) {
  const bool any = std::ranges::any_of(counts.to_switch, [](int count) { return count > 0; });
  if (!any) return;
  const bool all_known =
      std::ranges::all_of(gpus, [](const GpuEntry& gpu) { return gpu.model.has_value(); });
  if (!all_known) {
    assume(graph, LinkKind::NvLink,
           "the switch does not add (no NVLS), since no source names the GPUs; give --query or "
           "--gpu");
  }
  const bool reduces = std::ranges::all_of(
      gpus, [](const GpuEntry& gpu) { return gpu.model && gpu.model->nvlink_generation >= 4; });
  const int node =
      add_node(graph, {.kind = NodeKind::NvSwitch, .name = "NVSwitch", .reduces = reduces});
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (counts.to_switch[i] == 0) continue;
    add_cable(graph, gpus[i].node, node, add_medium(graph, medium_of(graph, gpus[i], counts.kind)),
              counts.to_switch[i]);
  }
}

}  // namespace

std::vector<GpuFacts> gpus_numbered(const std::vector<int>& indices) {
  return mapped(indices, [](int index) { return GpuFacts{.index = index}; });
}

std::vector<GpuFacts> gpus_in(const SmiMatrix& matrix) {
  std::vector<GpuFacts> gpus = gpus_numbered(matrix.gpus);
  for (std::size_t i = 0; i < matrix.bus_ids.size(); ++i) gpus[i].bus_id = matrix.bus_ids[i];
  return gpus;
}

std::vector<GpuEntry> list_gpus(const Sources& sources, Graph& graph) {
  auto gpus = mapped(named_gpus(sources), [](const GpuFacts& facts) { return GpuEntry{facts}; });
  for (const auto& tree : {sources.nccl, sources.hwloc}) {
    if (tree) join_tree(graph, gpus, *tree);
  }
  for (GpuEntry& gpu : gpus) {
    if (sources.smi.nvlink) join_nvlink(gpu, *sources.smi.nvlink);
    if (sources.smi.matrix) join_affinity(gpu, *sources.smi.matrix);
    if (!sources.gpu.empty()) gpu.name = sources.gpu;
    const bool is_amd = sources.smi.tool != SmiProbe{}.tool || (sources.nccl && sources.nccl->xgmi);
    if (gpu.name.empty() && is_amd) gpu.name = kUnnamedAmdGpu;
    gpu.model = gpu_model(gpu.name);
  }
  return gpus;
}

void add_nvlinks(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources) {
  const LinkCounts counts = count_links(graph, gpus, sources);
  add_switch(graph, gpus, counts);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const auto medium = [&] { return add_medium(graph, medium_of(graph, gpus[i], counts.kind)); };
    for (std::size_t j = i + 1; j < gpus.size(); ++j) {
      // Each end reports its links; a file with one end only is believed.
      const int links = std::max(counts.between[i][j], counts.between[j][i]);
      if (links > 0) add_cable(graph, gpus[i].node, gpus[j].node, medium(), links);
    }
    if (counts.to_processor[i] == 0) continue;
    const int package = nearest(graph, gpus[i].node, NodeKind::Package);
    if (package >= 0) add_cable(graph, gpus[i].node, package, medium(), counts.to_processor[i]);
  }
}

}  // namespace busbar::topo
