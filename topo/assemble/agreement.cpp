// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "topo/assemble/gpus.hpp"
#include "topo/graph/constants.hpp"

namespace busbar::topo {
namespace {

/// The GPUs that one source lists.
struct GpuList {
  std::string option{};
  std::vector<GpuFacts> gpus{};
  bool has_links = false;  ///< by `nvlink -s` or -R; some drivers leave GPUs without NVLink out
};

using Problem = std::optional<std::string>;

const GpuFacts* find_gpu(const std::vector<GpuFacts>& gpus, int index) {
  return find_by(gpus, index, &GpuFacts::index);
}

std::vector<GpuList> smi_lists(const SmiProbe& smi) {
  std::vector<GpuList> lists;
  if (smi.matrix) lists.push_back({"--smi", gpus_in(*smi.matrix)});
  if (!smi.gpus.empty()) lists.push_back({"--query", smi.gpus});
  for (const auto& p2p : {smi.p2p_read, smi.p2p_write}) {
    if (p2p) lists.push_back({"--p2p", gpus_numbered(p2p->gpus)});
  }
  if (smi.nvlink && !smi.nvlink->empty()) lists.push_back({"--nvlink", *smi.nvlink, true});
  if (smi.remotes && !smi.remotes->empty()) {
    lists.push_back({"--nvlink (-R)", *smi.remotes, true});
  }
  return lists;
}

/// Names of one GPU by one tool; drivers of different years write some names differently.
bool different_models(const std::string& one, const std::string& other) {
  if (is_generic_gpu(one) || is_generic_gpu(other) || one == other) return false;
  const auto first = gpu_model(one);
  const auto second = gpu_model(other);
  return !first || !second || first->name != second->name;
}

Problem differing_gpus(const GpuList& one, const GpuList& other) {
  const auto has_all = [](const GpuList& list, const GpuList& part) {
    return list.has_links || std::ranges::all_of(part.gpus, [&](const GpuFacts& gpu) {
             return find_gpu(list.gpus, gpu.index) != nullptr;
           });
  };
  if (!has_all(one, other) || !has_all(other, one)) {
    return fmt::format("{} shows {} and {} {}", one.option, counted(one.gpus.size(), "GPU"),
                       other.option, other.gpus.size());
  }
  for (const GpuFacts& here : one.gpus) {
    const GpuFacts* there = find_gpu(other.gpus, here.index);
    if (there == nullptr) continue;
    if (different_models(here.name, there->name)) {
      return fmt::format("GPU{} is {} in {} and {} in {}", here.index, here.name, one.option,
                         there->name, other.option);
    }
    if (!here.bus_id.empty() && !there->bus_id.empty() && here.bus_id != there->bus_id) {
      return fmt::format("GPU{} is at {} in {} and at {} in {}", here.index, here.bus_id,
                         one.option, there->bus_id, other.option);
    }
    if (!here.uuid.empty() && !there->uuid.empty() && here.uuid != there->uuid) {
      return fmt::format("GPU{} has the UUID {} in {} and {} in {}", here.index, here.uuid,
                         one.option, there->uuid, other.option);
    }
  }
  return {};
}

/// NVLinks of a GPU by its row of `topo -m`.
struct RowOfLinks {
  std::set<int> cells{};  ///< that show any
  int sum = 0;
};

RowOfLinks links_in_row(const SmiMatrix& matrix, std::size_t row) {
  RowOfLinks links;
  for (std::size_t column = 0; column < matrix.gpus.size(); ++column) {
    const int count = gpu_link_count(matrix.cells[row][column]);
    if (count == 0) continue;
    links.cells.insert(count);
    links.sum += count;
  }
  return links;
}

/// Whether that many active links can make such a row: all to a switch, or all to peers, or some to
/// a processor (POWER) or to GPUs that this container does not see. Bridges join two boards whole.
bool can_be_one_gpu(const RowOfLinks& row, int active, const std::optional<GpuModel>& model) {
  constexpr int kMostOfMixedMeshes = 6;  // of a V100; later meshes are of four, with equal cells
  constexpr int kMostPeers = 3;
  constexpr int kLinksOfWideBridges = 18;  // join up to four boards
  if (row.sum == active) return true;
  if (row.sum == 0 || active == 0) return false;
  const int cell = *row.cells.begin();
  const bool may_hide =
      row.sum < active && active <= std::max(kMostOfMixedMeshes, kMostPeers * cell);
  if (row.cells.size() > 1) return may_hide && active <= kMostOfMixedMeshes;
  if (cell == active) return true;
  const bool bridged = model && !model->always_linked && model->links < kLinksOfWideBridges;
  return may_hide && !bridged && (active - row.sum) % cell == 0;
}

int active_links(const GpuFacts* gpu) {
  if (gpu == nullptr) return 0;
  return static_cast<int>(std::ranges::count_if(gpu->links, &NvlinkLink::active));
}

std::string nvlinks_text(int count) { return counted(to_size(count), "NVLink"); }

Problem differing_links(const SmiMatrix& matrix, const GpuList& list) {
  for (std::size_t row = 0; row < matrix.gpus.size(); ++row) {
    const int index = matrix.gpus[row];
    const RowOfLinks shown = links_in_row(matrix, row);
    const GpuFacts* gpu = find_gpu(list.gpus, index);
    const int active = active_links(gpu);
    if (can_be_one_gpu(shown, active, gpu_model(gpu == nullptr ? "" : gpu->name))) continue;
    return fmt::format("GPU{} has {} active in {}, and its row of --smi shows {}", index,
                       nvlinks_text(active), list.option,
                       shown.sum == 0 ? "none" : fmt::format("{} in all", shown.sum));
  }
  return {};
}

Problem differing_links(const SmiProbe& smi, const std::vector<GpuList>& lists) {
  if (!smi.matrix || smi.matrix->pcie_only || smi.matrix->gpus.size() < 2) return {};
  Problem problem;
  for (const GpuList& list : lists) {
    if (!problem && list.has_links) problem = differing_links(*smi.matrix, list);
  }
  return problem;
}

/// Tools spell a model differently, so only its generation shows that it is another one.
bool other_generation(const std::string& one, const std::string& other) {
  const auto first = gpu_model(one);
  const auto second = gpu_model(other);
  return first && second && first->nvlink_generation != second->nvlink_generation;
}

/// How GPUs differ that a tree and nvidia-smi have under one PCI address; `any` is set where there
/// are such.
Problem differing_names(const HostTree& tree, std::string_view option, const GpuList& smi,
                        bool& any) {
  for (const GpuFacts& gpu : smi.gpus) {
    const auto found = std::ranges::find(tree.gpus, gpu.bus_id, &GpuFacts::bus_id);
    if (gpu.bus_id.empty() || found == tree.gpus.end()) continue;
    any = true;
    if (other_generation(gpu.name, found->name)) {
      return fmt::format("GPU{} is {} in {} and {} in {}", gpu.index, gpu.name, smi.option,
                         found->name, option);
    }
  }
  return {};
}

/// NVLinks of the GPUs that `nvlink` lists and of those of NCCL's file, in any order.
Problem differing_counts(const HostTree& tree, std::string_view option, const GpuList& smi) {
  std::map<std::string, int> counts;
  for (const NvlinkEnd& end : tree.nvlinks) counts[end.from] += end.count;
  if (counts.empty()) return {};
  const auto is_known = [&](const GpuFacts& gpu) {
    return std::ranges::any_of(
        counts, [&](const auto& entry) { return entry.second == active_links(&gpu); });
  };
  if (std::ranges::any_of(smi.gpus, is_known)) return {};
  return fmt::format("GPU{} has {} active in {}, and no GPU of {} has that many", smi.gpus[0].index,
                     nvlinks_text(active_links(smi.gpus.data())), smi.option, option);
}

/// The GPUs of a PCI tree and those of nvidia-smi. `whole`: the tree has every GPU of the machine,
/// which NCCL's file of a job does not.
Problem differing_tree(const HostTree& tree, std::string_view option, bool whole,
                       const GpuList& smi) {
  if (tree.gpus.empty() || smi.gpus.empty()) return {};
  bool any_found = false;
  if (auto problem = differing_names(tree, option, smi, any_found)) return problem;
  const bool by_bus =
      std::ranges::any_of(smi.gpus, [](const GpuFacts& gpu) { return !gpu.bus_id.empty(); });
  if (by_bus && !any_found) {
    return fmt::format("none of the bus ids in {} is in {}", smi.option, option);
  }
  if (by_bus) return {};
  const bool too_few = whole && tree.gpus.size() < smi.gpus.size();
  if (too_few || (!smi.has_links && tree.gpus.size() > smi.gpus.size())) {
    return fmt::format("{} shows {} and {} {}", option, counted(tree.gpus.size(), "GPU"),
                       smi.option, smi.gpus.size());
  }
  const GpuFacts& gpu = smi.gpus.front();
  if (std::ranges::all_of(tree.gpus, [&](const GpuFacts& other) {
        return other_generation(gpu.name, other.name);
      })) {
    return fmt::format("GPU{} is {} in {}, and {} in {}", gpu.index, gpu.name, smi.option,
                       tree.gpus.front().name, option);
  }
  return smi.has_links ? differing_counts(tree, option, smi) : Problem{};
}

bool has_gpu_link(const Graph& graph, const GpuEntry& gpu) {
  return std::ranges::any_of(graph.links, [&](const Link& link) {
    return link.from == gpu.node && is_gpu_link(link_kind(graph, link));
  });
}

std::string numbers_of(const std::vector<GpuEntry>& gpus) {
  return join_each(gpus, ", ", [](const GpuEntry& gpu) { return fmt::format("GPU{}", gpu.index); });
}

/// Where to look for what has gone wrong with the links of GPUs.
struct FabricHints {
  std::string_view off;   ///< of some GPUs
  std::string_view none;  ///< of all
};
FabricHints fabric_hints(LinkKind kind) {
  if (kind == LinkKind::Xgmi) {
    return {.off = "amd-smi xgmi, dmesg for amdgpu",
            .none = "does dmesg name a fault of amdgpu (dmesg | grep -i xgmi)?"};
  }
  return {.off = "nvidia-smi nvlink -s, dmesg for Xid, fabric manager's log",
          .none = "is the fabric manager running (systemctl status nvidia-fabricmanager)?"};
}

void warn_of_fabric(Graph& graph, const std::vector<GpuEntry>& gpus) {
  const auto without =
      filtered(gpus, [&](const GpuEntry& gpu) { return !has_gpu_link(graph, gpu); });
  const bool expected = std::ranges::any_of(
      gpus, [](const GpuEntry& gpu) { return gpu.model && gpu.model->always_linked; });
  if (without.empty() || gpus.size() < 2) return;
  const LinkKind kind = gpu_link_kind(graph);
  if (without.size() < gpus.size()) {
    // Bridges join some boards of a PCIe machine and not others; a switch joins all.
    const auto& model = without.front().model;
    if (model ? !model->always_linked : find_node(graph, "NVSwitch") < 0) return;
    graph.warnings.push_back(fmt::format("{} {} no {} though others have: off the fabric ({})",
                                         numbers_of(without), without.size() == 1 ? "has" : "have",
                                         gpu_link_text(kind), fabric_hints(kind).off));
  } else if (expected) {
    graph.warnings.push_back(fmt::format("{} is made for {} and no GPU shows any: {}",
                                         gpus.front().name, gpu_link_text(kind),
                                         fabric_hints(kind).none));
  }
}

void warn_of_dark_links(Graph& graph, const std::vector<GpuEntry>& gpus) {
  for (const GpuEntry& gpu : gpus) {
    const bool suspicious = gpu.dark_links > 0 && gpu.model && gpu.model->always_linked;
    if (!suspicious) continue;
    graph.warnings.push_back(fmt::format("GPU{}: {} inactive (nvidia-smi nvlink -s -i {})",
                                         gpu.index, counted(gpu.dark_links, "NVLink"), gpu.index));
  }
}

/// "0-3" for each pair whose cell has this label.
Words pairs_labelled(const P2pMatrix& matrix, std::string_view label) {
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
void warn_of_p2p(Graph& graph, const std::optional<P2pMatrix>& matrix, std::string_view access) {
  if (!matrix) return;
  for (const P2pReason& reason : kP2pReasons) {
    if (works(reason.label) != P2p::Off) continue;
    Words pairs = pairs_labelled(*matrix, reason.label);
    constexpr std::size_t kMost = 4;
    const std::size_t all = pairs.size();
    if (all == 0) continue;
    if (all > kMost) {
      pairs.resize(kMost);
      pairs.emplace_back("...");
    }
    graph.warnings.push_back(
        fmt::format("P2P {} is off between {} of GPUs ({}): {} ({}); data goes through host memory",
                    access, counted(all, "pair"), join(pairs, ", "), reason.text, reason.label));
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
  return (smi.matrix && !smi.matrix->pcie_only) || smi.nvlink || smi.remotes ||
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

/// A hypervisor that shows every GPU under one host bridge hides switches and sockets.
void assume_flat_pcie(Graph& graph, const Sources& sources) {
  if (!sources.smi.matrix && !sources.hwloc && !sources.nccl) return;
  const bool tree_says = (sources.hwloc && sources.hwloc->virtual_machine) ||
                         (sources.nccl && sources.nccl->virtual_machine);
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
  if (!tree_says && !flat) return;
  assume(graph, LinkKind::Pcie,
         "PCIe paths as this virtual machine shows them, which may not be the hardware's");
}

}  // namespace

std::optional<std::string> contradiction(const Sources& sources) {
  std::vector<GpuList> smi = smi_lists(sources.smi);
  for (std::size_t i = 0; i < smi.size(); ++i) {
    for (std::size_t j = i + 1; j < smi.size(); ++j) {
      if (auto problem = differing_gpus(smi[i], smi[j])) return problem;
    }
  }
  if (auto problem = differing_links(sources.smi, smi)) return problem;
  // Of whole lists the one that has bus ids, else the first.
  const auto query = std::ranges::find(smi, "--query", &GpuList::option);
  const auto first = query != smi.end() ? query : smi.begin();
  std::erase_if(smi, [best = first == smi.end() ? "" : first->option](const GpuList& list) {
    return !list.has_links && list.option != best;
  });
  if (sources.hwloc) {
    for (const GpuList& list : smi) {
      if (auto problem = differing_tree(*sources.hwloc, "--hwloc", true, list)) return problem;
    }
    smi.push_back({"--hwloc", sources.hwloc->gpus});
  }
  for (const GpuList& list : smi) {
    if (!sources.nccl) break;
    if (auto problem = differing_tree(*sources.nccl, "--nccl-xml", false, list)) return problem;
  }
  return {};
}

void add_warnings(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources) {
  if (shows_nvlink(sources)) warn_of_fabric(graph, gpus);
  assume_no_nvlink(graph, gpus, sources);
  warn_of_dark_links(graph, gpus);
  warn_of_p2p(graph, sources.smi.p2p_read, "reading");
  warn_of_p2p(graph, sources.smi.p2p_write, "writing");
  warn_of_mig(graph, gpus);
  assume_sockets(graph);
  assume_flat_pcie(graph, sources);
}

}  // namespace busbar::topo
