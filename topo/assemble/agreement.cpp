// SPDX-License-Identifier: BSD-3-Clause
#include "topo/assemble/agreement.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "topo/graph/constants.hpp"

namespace busbar::topo {
namespace {

/// The GPUs that one source lists; empty texts where it does not have them.
struct GpuSource {
  struct Gpu {
    std::string name{};
    std::string uuid{};
    std::string bus_id{};
  };
  std::string option{};
  std::map<int, Gpu> gpus{};  ///< by nvidia-smi's index
  bool whole = true;          ///< lists every GPU of the machine
};

using Problem = std::optional<std::string>;

/// A source with the GPUs of a list of whatever has an index and perhaps a name and a UUID.
template <typename List>
GpuSource named_source(std::string option, bool whole, const List& list) {
  GpuSource source{.option = std::move(option), .whole = whole};
  for (const auto& gpu : list) source.gpus[gpu.index] = {gpu.name, gpu.uuid, ""};
  return source;
}

GpuSource numbered_source(std::string option, const std::vector<int>& indices) {
  GpuSource source{.option = std::move(option)};
  for (const int index : indices) source.gpus[index] = {};
  return source;
}

std::vector<GpuSource> smi_sources(const SmiProbe& smi) {
  std::vector<GpuSource> sources;
  if (smi.matrix) sources.push_back(numbered_source("--smi", smi.matrix->gpus));
  if (!smi.gpus.empty()) {
    sources.push_back(named_source("--query", true, smi.gpus));
    for (const GpuFacts& gpu : smi.gpus) sources.back().gpus[gpu.index].bus_id = gpu.bus_id;
  }
  if (smi.p2p_read) sources.push_back(numbered_source("--p2p", smi.p2p_read->gpus));
  if (smi.p2p_write) sources.push_back(numbered_source("--p2p", smi.p2p_write->gpus));
  // Some drivers leave GPUs without NVLink out.
  if (smi.nvlink && !smi.nvlink->gpus.empty()) {
    sources.push_back(named_source("--nvlink", false, smi.nvlink->gpus));
  }
  if (smi.remotes && !smi.remotes->gpus.empty()) {
    sources.push_back(named_source("--nvlink (-R)", false, smi.remotes->gpus));
  }
  return sources;
}

/// Names of one GPU by one tool; drivers of different years write some names differently.
bool different_models(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty() || one == other) return false;
  const auto first = gpu_model(one);
  const auto second = gpu_model(other);
  return !first || !second || first->name != second->name;
}

Problem differing_gpus(const GpuSource& one, const GpuSource& other) {
  const auto has_all = [](const GpuSource& source, const GpuSource& part) {
    return std::all_of(part.gpus.begin(), part.gpus.end(),
                       [&](const auto& gpu) { return source.gpus.contains(gpu.first); });
  };
  const bool agree = (!one.whole || has_all(one, other)) && (!other.whole || has_all(other, one));
  if (!agree) {
    return fmt::format("{} shows {} and {} {}", one.option, counted(one.gpus.size(), "GPU"),
                       other.option, other.gpus.size());
  }
  for (const auto& [index, gpu] : one.gpus) {
    const auto found = other.gpus.find(index);
    if (found == other.gpus.end()) continue;
    const GpuSource::Gpu& there = found->second;
    if (different_models(gpu.name, there.name)) {
      return fmt::format("GPU{} is {} in {} and {} in {}", index, gpu.name, one.option, there.name,
                         other.option);
    }
    if (!gpu.uuid.empty() && !there.uuid.empty() && gpu.uuid != there.uuid) {
      return fmt::format("GPU{} has the UUID {} in {} and {} in {}", index, gpu.uuid, one.option,
                         there.uuid, other.option);
    }
  }
  return {};
}

/// NVLinks of a GPU by its row of `topo -m` and by `nvlink -s`.
struct RowOfLinks {
  std::set<int> cells{};  ///< that show any
  int sum = 0;
};

RowOfLinks links_in_row(const SmiMatrix& matrix, std::size_t row) {
  RowOfLinks links;
  for (std::size_t column = 0; column < matrix.gpus.size(); ++column) {
    const int count = nvlink_count(matrix.cells[row][column]);
    if (count == 0) continue;
    links.cells.insert(count);
    links.sum += count;
  }
  return links;
}

/// Whether so many active links can make such a row: all to a switch, or all to peers, or some to a
/// processor (POWER) or to GPUs that this container does not see.
bool can_be_one_gpu(const RowOfLinks& row, int active) {
  constexpr int kMostOfMixedMeshes = 6;  // of a V100; later meshes have equal cells
  if (row.sum == active) return true;
  if (row.sum == 0 || active == 0) return false;
  const int cell = *row.cells.begin();
  if (row.cells.size() > 1) return row.sum < active && active <= kMostOfMixedMeshes;
  if (cell == active) return true;
  return row.sum < active && (active - row.sum) % cell == 0;
}

Problem differing_links(const SmiProbe& smi) {
  if (!smi.matrix || !smi.nvlink || smi.matrix->pcie_only || smi.matrix->gpus.size() < 2) return {};
  for (std::size_t row = 0; row < smi.matrix->gpus.size(); ++row) {
    const int index = smi.matrix->gpus[row];
    const RowOfLinks shown = links_in_row(*smi.matrix, row);
    const auto found = std::find_if(smi.nvlink->gpus.begin(), smi.nvlink->gpus.end(),
                                    [&](const NvlinkGpu& gpu) { return gpu.index == index; });
    const bool listed = found != smi.nvlink->gpus.end();
    if (!listed && smi.nvlink->gpus.empty()) continue;  // an empty text reports nothing
    const auto active = !listed
                            ? 0
                            : std::count_if(found->links.begin(), found->links.end(),
                                            [](const NvlinkLink& link) { return link.active(); });
    if (can_be_one_gpu(shown, static_cast<int>(active))) continue;
    return fmt::format("GPU{} has {} active in --nvlink, and its row of --smi shows {}", index,
                       counted(static_cast<std::size_t>(active), "NVLink"),
                       shown.sum == 0 ? "none" : fmt::format("{} in all", shown.sum));
  }
  return {};
}

/// Tools spell a model differently, so only its generation shows that it is another one.
bool other_generation(const std::string& one, const std::string& other) {
  const auto first = gpu_model(one);
  const auto second = gpu_model(other);
  return first && second && first->nvlink_generation > 0 && second->nvlink_generation > 0 &&
         first->nvlink_generation != second->nvlink_generation;
}

/// The GPUs of a PCI tree and those of nvidia-smi. `whole`: the tree has every GPU of the machine,
/// which NCCL's file of a job does not.
Problem differing_tree(const HostTree& tree, std::string_view option, bool whole,
                       const GpuSource& smi) {
  if (tree.gpus.empty() || smi.gpus.empty()) return {};
  bool by_bus = false;
  bool any_found = false;
  for (const auto& [index, gpu] : smi.gpus) {
    if (gpu.bus_id.empty()) continue;
    by_bus = true;
    const auto found =
        std::find_if(tree.gpus.begin(), tree.gpus.end(),
                     [&id = gpu.bus_id](const GpuFact& fact) { return fact.bus_id == id; });
    if (found == tree.gpus.end()) continue;
    any_found = true;
    if (other_generation(gpu.name, found->model)) {
      return fmt::format("GPU{} is {} in {} and {} in {}", index, gpu.name, smi.option,
                         found->model, option);
    }
  }
  if (by_bus && !any_found) {
    return fmt::format("none of the bus ids in {} is in {}", smi.option, option);
  }
  const bool too_few = whole && tree.gpus.size() < smi.gpus.size();
  if (!by_bus && (too_few || tree.gpus.size() > smi.gpus.size())) {
    return fmt::format("{} shows {} and {} {}", option, counted(tree.gpus.size(), "GPU"),
                       smi.option, smi.gpus.size());
  }
  return {};
}

}  // namespace

std::optional<std::string> contradiction(const Sources& sources) {
  const std::vector<GpuSource> smi = smi_sources(sources.smi);
  for (std::size_t i = 0; i < smi.size(); ++i) {
    for (std::size_t j = i + 1; j < smi.size(); ++j) {
      if (auto problem = differing_gpus(smi[i], smi[j])) return problem;
    }
  }
  if (auto problem = differing_links(sources.smi)) return problem;
  // The list that has bus ids, else any that is whole.
  const auto list = std::find_if(
      smi.begin(), smi.end(), [&](const GpuSource& source) { return source.option == "--query"; });
  const auto& best = list != smi.end() ? list : smi.begin();
  if (best == smi.end() || !best->whole) return {};
  if (sources.hwloc) {
    if (auto problem = differing_tree(*sources.hwloc, "--hwloc", true, *best)) return problem;
  }
  if (sources.nccl) return differing_tree(*sources.nccl, "--nccl-xml", false, *best);
  return {};
}

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
