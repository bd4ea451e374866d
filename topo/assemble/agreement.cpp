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

/// The GPUs that one source lists.
struct GpuList {
  std::string option{};
  std::vector<GpuFacts> gpus{};
  bool whole = true;  ///< lists every GPU of the machine
};

using Problem = std::optional<std::string>;

const GpuFacts* find_gpu(const std::vector<GpuFacts>& gpus, int index) {
  const auto found = std::find_if(gpus.begin(), gpus.end(),
                                  [&](const GpuFacts& gpu) { return gpu.index == index; });
  return found == gpus.end() ? nullptr : &*found;
}

std::vector<GpuList> smi_lists(const SmiProbe& smi) {
  std::vector<GpuList> lists;
  if (smi.matrix) lists.push_back({"--smi", gpus_numbered(smi.matrix->gpus)});
  if (!smi.gpus.empty()) lists.push_back({"--query", smi.gpus});
  for (const auto& p2p : {smi.p2p_read, smi.p2p_write}) {
    if (p2p) lists.push_back({"--p2p", gpus_numbered(p2p->gpus)});
  }
  // Some drivers leave GPUs without NVLink out.
  if (smi.nvlink && !smi.nvlink->empty()) lists.push_back({"--nvlink", *smi.nvlink, false});
  if (smi.remotes && !smi.remotes->empty()) {
    lists.push_back({"--nvlink (-R)", *smi.remotes, false});
  }
  return lists;
}

/// Names of one GPU by one tool; drivers of different years write some names differently.
bool different_models(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty() || one == other) return false;
  const auto first = gpu_model(one);
  const auto second = gpu_model(other);
  return !first || !second || first->name != second->name;
}

Problem differing_gpus(const GpuList& one, const GpuList& other) {
  const auto has_all = [](const GpuList& list, const GpuList& part) {
    return !list.whole || std::all_of(part.gpus.begin(), part.gpus.end(), [&](const GpuFacts& gpu) {
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
    if (!here.uuid.empty() && !there->uuid.empty() && here.uuid != there->uuid) {
      return fmt::format("GPU{} has the UUID {} in {} and {} in {}", here.index, here.uuid,
                         one.option, there->uuid, other.option);
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
    const int count = gpu_link_count(matrix.cells[row][column]);
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
  if (!smi.matrix || smi.matrix->pcie_only || smi.matrix->gpus.size() < 2) return {};
  if (!smi.nvlink || smi.nvlink->empty()) return {};  // an empty text reports nothing
  for (std::size_t row = 0; row < smi.matrix->gpus.size(); ++row) {
    const int index = smi.matrix->gpus[row];
    const RowOfLinks shown = links_in_row(*smi.matrix, row);
    const GpuFacts* gpu = find_gpu(*smi.nvlink, index);
    const auto active = gpu == nullptr
                            ? 0
                            : std::count_if(gpu->links.begin(), gpu->links.end(),
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
                       const GpuList& smi) {
  if (tree.gpus.empty() || smi.gpus.empty()) return {};
  bool by_bus = false;
  bool any_found = false;
  for (const GpuFacts& gpu : smi.gpus) {
    if (gpu.bus_id.empty()) continue;
    by_bus = true;
    const auto same = [&](const GpuFacts& other) { return other.bus_id == gpu.bus_id; };
    const auto found = std::find_if(tree.gpus.begin(), tree.gpus.end(), same);
    if (found == tree.gpus.end()) continue;
    any_found = true;
    if (other_generation(gpu.name, found->name)) {
      return fmt::format("GPU{} is {} in {} and {} in {}", gpu.index, gpu.name, smi.option,
                         found->name, option);
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
  const std::vector<GpuList> smi = smi_lists(sources.smi);
  for (std::size_t i = 0; i < smi.size(); ++i) {
    for (std::size_t j = i + 1; j < smi.size(); ++j) {
      if (auto problem = differing_gpus(smi[i], smi[j])) return problem;
    }
  }
  if (auto problem = differing_links(sources.smi)) return problem;
  // The list that has bus ids, else any that is whole.
  const auto query = std::find_if(smi.begin(), smi.end(),
                                  [](const GpuList& list) { return list.option == "--query"; });
  const auto& best = query != smi.end() ? query : smi.begin();
  if (best == smi.end() || !best->whole) return {};
  if (sources.hwloc) {
    if (auto problem = differing_tree(*sources.hwloc, "--hwloc", true, *best)) return problem;
  }
  if (sources.nccl) return differing_tree(*sources.nccl, "--nccl-xml", false, *best);
  return {};
}

namespace {

using Texts = std::vector<std::string>;

bool has_gpu_link(const Graph& graph, const GpuEntry& gpu) {
  return std::any_of(graph.links.begin(), graph.links.end(), [&](const Link& link) {
    return link.from == gpu.node && is_gpu_link(link_kind(graph, link));
  });
}

std::string numbers_of(const std::vector<const GpuEntry*>& gpus) {
  return join_each(gpus, ", ",
                   [](const GpuEntry* gpu) { return fmt::format("GPU{}", gpu->index); });
}

void warn_of_fabric(Graph& graph, const std::vector<GpuEntry>& gpus) {
  std::vector<const GpuEntry*> without;
  bool expected = false;
  for (const GpuEntry& gpu : gpus) {
    if (!has_gpu_link(graph, gpu)) without.push_back(&gpu);
    expected = expected || (gpu.model && gpu.model->always_linked);
  }
  if (without.empty() || gpus.size() < 2) return;
  if (without.size() < gpus.size()) {
    // Bridges join some boards of a PCIe machine and not others; a switch joins all.
    const bool on_board = without.front()->model ? without.front()->model->always_linked
                                                 : find_node(graph, "NVSwitch") >= 0;
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

/// "0-3" for each pair whose cell has this label.
Texts pairs_labelled(const P2pMatrix& matrix, std::string_view label) {
  Texts pairs;
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
    Texts pairs = pairs_labelled(*matrix, reason.label);
    constexpr std::size_t kMost = 4;
    const std::size_t all = pairs.size();
    if (all == 0) continue;
    if (all > kMost) {
      pairs.resize(kMost);
      pairs.emplace_back("...");
    }
    graph.warnings.push_back(
        fmt::format("P2P {} is off between {} ({}): {} ({}); data goes through host memory", access,
                    counted(all, "pair of GPUs"), join(pairs, ", "), reason.text, reason.label));
  }
}

void warn_of_mig(Graph& graph, const std::vector<GpuEntry>& gpus) {
  std::vector<const GpuEntry*> split;
  for (const GpuEntry& gpu : gpus) {
    if (gpu.mig.value_or(false)) split.push_back(&gpu);
  }
  if (split.empty()) return;
  graph.warnings.push_back(fmt::format(
      "MIG is on for {}: NCCL does not join MIG instances; turn it off (nvidia-smi -mig 0) or "
      "choose others by --devices",
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
  const bool unknown =
      std::any_of(graph.media.begin(), graph.media.end(), [](const Medium& medium) {
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

/// Links whose other ends are unknown are left out.
bool ends_are_unknown(const Sources& sources) {
  return sources.nccl && !sources.nccl->nvlinks.empty() &&
         std::all_of(sources.nccl->nvlinks.begin(), sources.nccl->nvlinks.end(),
                     [](const NvlinkEnd& end) { return end.kind == NvlinkKind::Unknown; });
}

void assume_no_nvlink(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources) {
  const bool any = std::any_of(gpus.begin(), gpus.end(),
                               [&](const GpuEntry& gpu) { return has_gpu_link(graph, gpu); });
  // GPUs that cannot have NVLink need no source for it.
  const bool possible = std::any_of(gpus.begin(), gpus.end(), [](const GpuEntry& gpu) {
    return !gpu.model || gpu.model->nvlink_generation > 0;
  });
  if (gpus.size() < 2 || any || !possible) return;
  if (!shows_nvlink(sources)) {
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
