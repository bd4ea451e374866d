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
  return !first || !second || first->words != second->words;
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

}  // namespace busbar::topo
