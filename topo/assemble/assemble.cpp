// SPDX-License-Identifier: BSD-3-Clause
#include "topo/assemble/assemble.hpp"

#include "base/host.hpp"
#include "topo/assemble/gpus.hpp"
#include "topo/probes/amd_smi.hpp"

namespace busbar::topo {
namespace {

void add_gpus(Graph& graph, std::vector<GpuEntry>& gpus) {
  for (GpuEntry& gpu : gpus) {
    gpu.node = add_node(graph, {.kind = NodeKind::Gpu,
                                .name = fmt::format("GPU{}", gpu.index),
                                .numa = gpu.numa,
                                .bus_id = gpu.bus_id,
                                .model = gpu.name,
                                .uuid = gpu.uuid});
    graph.devices.push_back(gpu.node);
  }
}

bool knows_all(const std::optional<HostTree>& tree, const std::vector<GpuEntry>& gpus) {
  return tree && std::ranges::all_of(gpus, [&](const GpuEntry& gpu) {
           return find_pci(*tree, gpu.bus_id) != nullptr;
         });
}

bool shows_host(const SmiMatrix& matrix, const std::vector<GpuEntry>& gpus) {
  return matrix.shows_host ||
         std::ranges::any_of(gpus, [](const GpuEntry& gpu) { return gpu.numa >= 0; });
}

void add_host(Graph& graph, std::vector<GpuEntry>& gpus, const Sources& sources) {
  const auto& matrix = sources.smi.matrix;
  if (knows_all(sources.nccl, gpus)) {
    add_host_from_tree(graph, gpus, *sources.nccl);
  } else if (knows_all(sources.hwloc, gpus)) {
    add_host_from_tree(graph, gpus, *sources.hwloc);
  } else if (matrix && matrix->gpus.size() == gpus.size() && shows_host(*matrix, gpus)) {
    add_host_from_labels(graph, gpus, *matrix);
  } else if (sources.nccl || sources.hwloc) {
    add_host_from_tree(graph, gpus, sources.nccl ? *sources.nccl : *sources.hwloc);
  }
}

/// The words of nvidia-smi, where it has reported them for these GPUs; otherwise ours, from the
/// links.
void add_labels(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources) {
  label_devices(graph);
  const auto& matrix = sources.smi.matrix;
  if (!matrix || matrix->gpus.size() != gpus.size() || matrix->pcie_only) return;
  if (gpu_link_kind(graph) == LinkKind::Xgmi || !matrix->bus_ids.empty()) return;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = 0; j < gpus.size(); ++j) graph.labels[i][j] = matrix->cells[i][j];
  }
}

void add_p2p(Graph& graph, const std::optional<P2pMatrix>& matrix) {
  if (!matrix || matrix->cells.size() != graph.devices.size()) return;
  graph.p2p = square_matrix(matrix->cells.size(), [&](std::size_t i, std::size_t j) {
    return works(matrix->cells[i][j]);
  });
}

/// "8x Tesla V100-SXM2-16GB"; different GPUs are listed apart.
std::string title_of(const std::vector<GpuEntry>& gpus) {
  std::vector<std::string> words;
  for (std::size_t first = 0; first < gpus.size();) {
    std::size_t last = first;
    while (last < gpus.size() && gpus[last].name == gpus[first].name) ++last;
    const std::string name = gpus[first].name.empty() ? "GPU" : gpus[first].name;
    words.push_back(fmt::format("{}x {}", last - first, name));
    first = last;
  }
  return words.empty() ? "no GPU" : join(words, ", ");
}

/// In the order in which a fact is taken from them.
std::string source_text(const Sources& sources) {
  std::vector<std::string> words;
  if (sources.nccl) words.push_back(sources.nccl->origin);
  if (!sources.smi.gpus.empty() || sources.smi.matrix) words.push_back(sources.smi.tool);
  if (sources.hwloc) words.push_back(sources.hwloc->origin);
  return join(words, ", ") + (words.size() > 1 ? ": each fact by the first that has it" : "");
}

}  // namespace

Graph assemble(const Sources& sources) {
  Graph graph;
  graph.name = sources.name;
  graph.source = source_text(sources);
  graph.warnings = sources.smi.warnings;
  if (sources.smi.matrix) append(graph.warnings, sources.smi.matrix->notes);
  for (const auto& tree : {sources.nccl, sources.hwloc}) {
    if (tree) append(graph.warnings, tree->warnings);
  }
  std::vector<GpuEntry> gpus = list_gpus(sources, graph);
  graph.title = title_of(gpus);
  add_gpus(graph, gpus);
  add_host(graph, gpus, sources);
  add_nvlinks(graph, gpus, sources);
  add_unplaced_gpus(graph, gpus);
  if (gpus.empty()) graph.devices = nodes_of_kind(graph, NodeKind::Package);
  add_labels(graph, gpus, sources);
  add_p2p(graph, sources.smi.p2p);
  add_warnings(graph, gpus, sources);
  return graph;
}

Sources probe_machine(const std::string& nvidia_smi) {
  Sources sources;
  sources.name = host_name();
  sources.smi = probe_nvidia_smi(nvidia_smi);
  if (sources.smi.gpus.empty() && !sources.smi.matrix) {
    if (auto amd = probe_amd_smi()) sources.smi = std::move(*amd);
  }
  try {
    sources.hwloc = probe_hwloc();
  } catch (const Error& error) {
    sources.smi.warnings.emplace_back(error.what());
  }
  return sources;
}

}  // namespace busbar::topo
