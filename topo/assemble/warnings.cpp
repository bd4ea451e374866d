// SPDX-License-Identifier: BSD-3-Clause
#include "topo/assemble/warnings.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::topo {
namespace {

using Words = std::vector<std::string>;

bool has_nvlink(const Graph& graph, const GpuEntry& gpu) {
  return std::any_of(graph.links.begin(), graph.links.end(), [&](const Link& link) {
    return link.from == gpu.node &&
           graph.media[static_cast<std::size_t>(link.medium)].kind == LinkKind::NvLink;
  });
}

bool has_kind(const Graph& graph, NodeKind kind) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return node.kind == kind; });
}

std::string numbers_of(const std::vector<const GpuEntry*>& gpus) {
  Words names;
  for (const GpuEntry* gpu : gpus) names.push_back(fmt::format("GPU{}", gpu->index));
  return join(names, ", ");
}

void warn_of_fabric(Graph& graph, const std::vector<GpuEntry>& gpus) {
  std::vector<const GpuEntry*> without;
  bool expected = false;
  for (const GpuEntry& gpu : gpus) {
    if (!has_nvlink(graph, gpu)) without.push_back(&gpu);
    expected = expected || (gpu.model && gpu.model->always_linked);
  }
  if (without.empty() || gpus.size() < 2) return;
  if (without.size() < gpus.size()) {
    // Bridges join some boards of a PCIe machine and not others; a switch joins all.
    const bool on_board = without.front()->model ? without.front()->model->always_linked
                                                 : has_kind(graph, NodeKind::NvSwitch);
    if (!on_board) return;
    graph.warnings.push_back(
        fmt::format("{} {} no NVLink though others have: off the fabric (nvidia-smi nvlink -s, "
                    "dmesg for Xid, fabric manager's log)",
                    numbers_of(without), without.size() == 1 ? "has" : "have"));
  } else if (expected) {
    graph.warnings.push_back(
        fmt::format("{} is made for NVLink and no GPU shows any: is the fabric manager running "
                    "(systemctl status nvidia-fabricmanager)?",
                    gpus.front().name));
  }
}

void warn_of_dark_links(Graph& graph, const std::vector<GpuEntry>& gpus) {
  for (const GpuEntry& gpu : gpus) {
    const bool suspicious = gpu.dark_links > 0 && gpu.model && gpu.model->always_linked;
    if (!suspicious) continue;
    graph.warnings.push_back(
        fmt::format("GPU{}: {} inactive (nvidia-smi nvlink -s -i {})", gpu.index,
                    counted(static_cast<std::size_t>(gpu.dark_links), "NVLink"), gpu.index));
  }
}

/// Pairs without P2P by the word that nvidia-smi has for it.
void warn_of_p2p(Graph& graph, const std::optional<P2pMatrix>& matrix, std::string_view way) {
  if (!matrix) return;
  std::map<P2pState, Words> pairs;
  for (std::size_t i = 0; i < matrix->cells.size(); ++i) {
    for (std::size_t j = i + 1; j < matrix->cells.size(); ++j) {
      const P2pState state = matrix->cells[i][j];
      if (works(state) != P2p::Off) continue;
      pairs[state].push_back(fmt::format("{}-{}", matrix->gpus[i], matrix->gpus[j]));
    }
  }
  for (const auto& [state, list] : pairs) {
    constexpr std::size_t kMost = 4;
    const std::size_t all = list.size();
    const Words first(list.begin(),
                      list.begin() + static_cast<std::ptrdiff_t>(std::min(all, kMost)));
    graph.warnings.push_back(
        fmt::format("P2P {} is off between {} ({}{}): {} ({}); data goes through host memory", way,
                    counted(all, "pair of GPUs"), join(first, ", "), all > kMost ? ", ..." : "",
                    words(state), label(state)));
  }
}

void warn_of_mig(Graph& graph, const std::vector<GpuEntry>& gpus) {
  std::vector<const GpuEntry*> split;
  for (const GpuEntry& gpu : gpus) {
    if (gpu.mig) split.push_back(&gpu);
  }
  if (split.empty()) return;
  graph.warnings.push_back(fmt::format(
      "MIG is on for {}: NCCL does not join MIG instances; turn it off (nvidia-smi -mig 0) or "
      "choose others by --devices",
      numbers_of(split)));
}

/// Whether a GPU without NVLink in the graph has none in truth: topo -mp and skeletons of NCCL's
/// files leave them out.
bool tells_nvlink(const Sources& sources) {
  const SmiProbe& smi = sources.smi;
  return (smi.matrix && !smi.matrix->pcie_only) || smi.nvlink || smi.remotes ||
         (sources.nccl && !sources.nccl->nvlinks.empty()) ||
         (sources.hwloc && sources.hwloc->nvlink_matrix);
}

/// Between sockets of unknown processors nothing limits.
void assume_sockets(Graph& graph) {
  const bool unknown = std::any_of(graph.links.begin(), graph.links.end(), [&](const Link& link) {
    const Medium& medium = graph.media[static_cast<std::size_t>(link.medium)];
    return medium.kind == LinkKind::Smp && medium.nominal_GBps <= 0;
  });
  if (!unknown) return;
  const bool named = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return node.kind == NodeKind::Package && !node.vendor.empty();
  });
  assume(graph, LinkKind::Smp,
         named ? "no limit between the sockets: there is no public figure for these processors"
               : "no limit between the sockets, since no source names the processors; give --hwloc "
                 "or --nccl-xml");
}

/// Whether any NVLink is in the graph.
bool any_nvlink(const Graph& graph) {
  return std::any_of(graph.links.begin(), graph.links.end(), [&](const Link& link) {
    return graph.media[static_cast<std::size_t>(link.medium)].kind == LinkKind::NvLink;
  });
}

/// Links whose other ends are unknown are left out.
bool ends_are_unknown(const Sources& sources) {
  return sources.nccl && !sources.nccl->nvlinks.empty() &&
         std::all_of(sources.nccl->nvlinks.begin(), sources.nccl->nvlinks.end(),
                     [](const NvlinkEnd& end) { return end.kind == NvlinkKind::Unknown; });
}

/// GPUs that cannot have NVLink need no source for it.
bool may_have_nvlink(const std::vector<GpuEntry>& gpus) {
  return gpus.size() > 1 && std::any_of(gpus.begin(), gpus.end(), [](const GpuEntry& gpu) {
           return !gpu.model || gpu.model->nvlink_generation > 0;
         });
}

void assume_no_nvlink(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources) {
  if (!may_have_nvlink(gpus) || any_nvlink(graph)) return;
  if (!tells_nvlink(sources)) {
    assume(
        graph, LinkKind::Pcie,
        "no NVLink, since no source shows whether there is any; give --smi (nvidia-smi topo -m)");
  } else if (ends_are_unknown(sources) && !sources.smi.matrix) {
    assume(graph, LinkKind::Pcie,
           fmt::format("no NVLink, since {} does not show where those that it has end; give --smi "
                       "(nvidia-smi topo -m)",
                       sources.nccl->origin));
  }
}

/// A hypervisor that shows every GPU under one host bridge hides switches and sockets.
void assume_flat_pcie(Graph& graph, const Sources& sources) {
  const bool tree_says = (sources.hwloc && sources.hwloc->virtual_machine) ||
                         (sources.nccl && sources.nccl->virtual_machine);
  std::size_t bridged = 0;
  std::size_t others = 0;
  for (std::size_t i = 0; i < graph.labels.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (graph.labels[i][j].starts_with("NV")) continue;
      ++(graph.labels[i][j] == "PHB" ? bridged : others);
    }
  }
  constexpr std::size_t kMany = 4;  // on one real host bridge there are hardly more
  const bool flat = graph.labels.size() > kMany && bridged > 0 && others == 0;
  if (!tree_says && !flat) return;
  assume(graph, LinkKind::Pcie,
         "PCIe paths as this virtual machine shows them, which may not be the hardware's");
}

}  // namespace

void add_warnings(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources) {
  if (tells_nvlink(sources)) warn_of_fabric(graph, gpus);
  assume_no_nvlink(graph, gpus, sources);
  warn_of_dark_links(graph, gpus);
  warn_of_p2p(graph, sources.smi.p2p_read, "reading");
  warn_of_p2p(graph, sources.smi.p2p_write, "writing");
  warn_of_mig(graph, gpus);
  assume_sockets(graph);
  assume_flat_pcie(graph, sources);
}

}  // namespace busbar::topo
