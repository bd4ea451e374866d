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
  const bool by_hwloc = knows_all(sources.hwloc, gpus) && !knows_all(sources.nccl, gpus);
  const auto& tree = by_hwloc || !sources.nccl ? sources.hwloc : sources.nccl;
  const bool has_matrix = matrix && matrix->gpus.size() == gpus.size();
  if (has_matrix && !knows_all(tree, gpus) && shows_host(*matrix, gpus)) {
    add_host_from_labels(graph, gpus, *matrix);
  } else if (tree) {
    add_host_from_tree(graph, gpus, *tree);
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

bool has_gpu_link(const Graph& graph, const GpuEntry& gpu) {
  return std::ranges::any_of(graph.links, [&](const Link& link) {
    return link.from == gpu.node && is_gpu_link(link_kind(graph, link));
  });
}

std::string numbers_of(const std::vector<GpuEntry>& gpus) {
  return join_each(gpus, ", ", [](const GpuEntry& gpu) { return fmt::format("GPU{}", gpu.index); });
}

void warn_of_fabric(Graph& graph, const std::vector<GpuEntry>& gpus) {
  const auto without =
      filtered(gpus, [&](const GpuEntry& gpu) { return !has_gpu_link(graph, gpu); });
  const bool expected = std::ranges::any_of(
      gpus, [](const GpuEntry& gpu) { return gpu.model && gpu.model->always_linked; });
  if (without.empty() || gpus.size() < 2) return;
  const LinkKind kind = gpu_link_kind(graph);
  const bool xgmi = kind == LinkKind::Xgmi;
  if (without.size() < gpus.size()) {
    // Bridges join some boards of a PCIe machine and not others; a switch joins all.
    const auto& model = without.front().model;
    if (model ? !model->always_linked : find_node(graph, "NVSwitch") < 0) return;
    graph.warnings.push_back(
        fmt::format("{} {} no {} though others have: off the fabric ({})", numbers_of(without),
                    without.size() == 1 ? "has" : "have", gpu_link_text(kind),
                    xgmi ? "amd-smi xgmi, dmesg for amdgpu"
                         : "nvidia-smi nvlink -s, dmesg for Xid, fabric manager's log"));
  } else if (expected) {
    graph.warnings.push_back(fmt::format(
        "{} is made for {} and no GPU shows any: {}", gpus.front().name, gpu_link_text(kind),
        xgmi ? "does dmesg name a fault of amdgpu (dmesg | grep -i xgmi)?"
             : "is the fabric manager running (systemctl status nvidia-fabricmanager)?"));
  }
}

void warn_of_dark_links(Graph& graph, const std::vector<GpuEntry>& gpus) {
  for (const GpuEntry& gpu : gpus) {
    if (gpu.dark_links == 0 || !gpu.model || !gpu.model->always_linked) continue;
    graph.warnings.push_back(fmt::format("GPU{}: {} inactive (nvidia-smi nvlink -s -i {})",
                                         gpu.index, counted(gpu.dark_links, "NVLink"), gpu.index));
  }
}

Words pairs_of(const P2pMatrix& matrix, std::string_view label) {
  Words pairs;
  for (std::size_t i = 0; i < matrix.cells.size(); ++i) {
    for (std::size_t j = i + 1; j < matrix.cells.size(); ++j) {
      if (matrix.cells[i][j] != label) continue;
      pairs.push_back(fmt::format("{}-{}", matrix.gpus[i], matrix.gpus[j]));
    }
  }
  return pairs;
}

/// Pairs without P2P, by the reason.
void warn_of_p2p(Graph& graph, const std::optional<P2pMatrix>& matrix) {
  if (!matrix) return;
  for (const P2pReason& reason : kP2pReasons) {
    if (works(reason.label) != P2p::Off) continue;
    constexpr std::size_t kMost = 4;
    Words pairs = pairs_of(*matrix, reason.label);
    const std::size_t all = pairs.size();
    if (all == 0) continue;
    if (all > kMost) {
      pairs.resize(kMost);
      pairs.emplace_back("...");
    }
    graph.warnings.push_back(
        fmt::format("P2P is off between {} of GPUs ({}): {} ({}); data goes through host memory",
                    counted(all, "pair"), join(pairs, ", "), reason.text, reason.label));
  }
}

void warn_of_mig(Graph& graph, const std::vector<GpuEntry>& gpus) {
  const auto split = filtered(gpus, [](const GpuEntry& gpu) { return gpu.mig.value_or(false); });
  if (split.empty()) return;
  graph.warnings.push_back(
      fmt::format("MIG is on for {}: NCCL does not join MIG instances; turn it off (nvidia-smi "
                  "-mig 0) or choose others by --devices",
                  numbers_of(split)));
}

/// Whether a GPU without NVLink in the graph has none in truth: topo -mp and skeletons of NCCL's
/// files leave them out.
bool shows_nvlink(const Sources& sources) {
  const SmiProbe& smi = sources.smi;
  return (smi.matrix && !smi.matrix->pcie_only) || smi.nvlink ||
         (sources.nccl && !sources.nccl->nvlinks.empty()) ||
         (sources.hwloc && sources.hwloc->nvlink_matrix);
}

/// Between sockets of unknown processors nothing limits.
void assume_sockets(Graph& graph) {
  const bool unknown = std::ranges::any_of(graph.media, [](const Medium& medium) {
    return medium.kind == LinkKind::Smp && medium.nominal_GBps <= 0;
  });
  if (!unknown) return;
  const bool named = std::ranges::any_of(graph.nodes, [](const Node& node) {
    return node.kind == NodeKind::Package && !node.vendor.empty();
  });
  assume(graph, LinkKind::Smp,
         named ? "no limit between the sockets: there is no public figure for these processors"
               : "no limit between the sockets, since no source names the processors; give --hwloc "
                 "or --nccl-xml");
}

void assume_no_nvlink(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources) {
  const bool any =
      std::ranges::any_of(gpus, [&](const GpuEntry& gpu) { return has_gpu_link(graph, gpu); });
  // GPUs that cannot have NVLink need no source for it.
  const bool possible = std::ranges::any_of(gpus, [](const GpuEntry& gpu) {
    return !gpu.model || gpu.model->nvlink_generation > 0 ||
           gpu.model->xgmi != XgmiGeneration::None;
  });
  if (gpus.size() < 2 || any || !possible) return;
  if (!shows_nvlink(sources)) {
    assume(
        graph, LinkKind::Pcie,
        gpu_link_kind(graph) == LinkKind::Xgmi
            ? "no xGMI, since no source shows whether there is any; give --smi (amd-smi topology)"
            : "no NVLink, since no source shows whether there is any; give --smi (nvidia-smi topo "
              "-m)");
  } else if (sources.nccl && !sources.nccl->nvlinks.empty() && !sources.smi.matrix &&
             set_of(sources.nccl->nvlinks, &NvlinkEnd::kind) == std::set{NvlinkKind::Unknown}) {
    // Links whose other ends are unknown are left out.
    assume(graph, LinkKind::Pcie,
           fmt::format("no NVLink, since {} does not show where those that it has end; give --smi "
                       "(nvidia-smi topo -m)",
                       sources.nccl->origin));
  }
}

bool is_virtual(const Sources& sources) {
  return (sources.hwloc && sources.hwloc->virtual_machine) ||
         (sources.nccl && sources.nccl->virtual_machine);
}

/// A hypervisor that shows every GPU under one host bridge hides switches and sockets.
void assume_flat_pcie(Graph& graph, const Sources& sources) {
  if (!sources.smi.matrix && !sources.hwloc && !sources.nccl) return;
  std::size_t bridged = 0;
  std::size_t others = 0;
  for (std::size_t i = 0; i < graph.labels.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (gpu_link_count(graph.labels[i][j]) > 0) continue;
      ++(graph.labels[i][j] == "PHB" ? bridged : others);
    }
  }
  constexpr std::size_t kMany = 4;  // on one real host bridge there are hardly more
  const bool flat = graph.labels.size() > kMany && bridged > 0 && others == 0;
  if (!is_virtual(sources) && !flat) return;
  assume(graph, LinkKind::Pcie,
         "PCIe paths as this virtual machine shows them, which may not be the hardware's");
}

/// Adds to the graph's warnings what a person should know before trusting it (GPUs made for NVLink
/// without any, one off the fabric, inactive links, P2P that is off, MIG), and to its assumptions
/// what no source shows: NVLink at all, the link between sockets, a virtual machine's PCIe.
void add_warnings(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources) {
  if (shows_nvlink(sources)) warn_of_fabric(graph, gpus);
  assume_no_nvlink(graph, gpus, sources);
  warn_of_dark_links(graph, gpus);
  warn_of_p2p(graph, sources.smi.p2p);
  warn_of_mig(graph, gpus);
  assume_sockets(graph);
  assume_flat_pcie(graph, sources);
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
