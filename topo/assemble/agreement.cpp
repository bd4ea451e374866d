// SPDX-License-Identifier: BSD-3-Clause
#include "topo/assemble/gpus.hpp"

namespace busbar::topo {
namespace {

/// The GPUs that one source lists.
struct GpuList {
  std::string_view option{};
  std::vector<GpuFacts> gpus{};
  bool part = false;  ///< without the GPUs that have no NVLink, as some drivers print it
  bool tree = false;  ///< of another tool, which spells names differently
};

using Problem = std::optional<std::string>;

std::vector<GpuList> lists_of(const Sources& sources) {
  const SmiProbe& smi = sources.smi;
  std::vector<GpuList> lists;
  if (smi.matrix) lists.push_back({.option = "--smi", .gpus = gpus_in(*smi.matrix)});
  lists.push_back({.option = "--query", .gpus = smi.gpus});
  if (smi.p2p) lists.push_back({.option = "--p2p", .gpus = gpus_numbered(smi.p2p->gpus)});
  if (smi.nvlink) lists.push_back({.option = "--nvlink", .gpus = *smi.nvlink, .part = true});
  if (sources.hwloc) {
    lists.push_back({.option = "--hwloc", .gpus = sources.hwloc->gpus, .tree = true});
  }
  if (sources.nccl) {
    lists.push_back({.option = "--nccl-xml", .gpus = sources.nccl->gpus, .tree = true});
  }
  std::erase_if(lists, [](const GpuList& list) { return list.gpus.empty(); });
  return lists;
}

bool has_addresses(const GpuList& list) {
  return std::ranges::any_of(list.gpus, [](const GpuFacts& gpu) { return !gpu.bus_id.empty(); });
}

/// Names of two models, or for a tool that spells them differently of two generations.
bool different_names(const std::string& one, const std::string& other, bool tree) {
  if (is_generic_gpu(one) || is_generic_gpu(other) || one == other) return false;
  const auto first = gpu_model(one);
  const auto second = gpu_model(other);
  if (!tree && (!first || !second)) return true;
  return first && second &&
         (first->nvlink_generation != second->nvlink_generation ||
          (!tree && first->name != second->name));
}

/// The same GPU in another list; null where it is not there.
const GpuFacts* find_in(const GpuList& list, const GpuFacts& gpu, bool by_address) {
  if (!by_address) return gpu.index < 0 ? nullptr : find_by(list.gpus, gpu.index, &GpuFacts::index);
  return gpu.bus_id.empty() ? nullptr : find_by(list.gpus, gpu.bus_id, &GpuFacts::bus_id);
}

/// The GPU of the same number in another list, if it is at another address there.
const GpuFacts* moved_in(const GpuList& list, const GpuFacts& gpu) {
  const GpuFacts* same = find_in(list, gpu, false);
  const bool known = same != nullptr && !gpu.bus_id.empty() && !same->bus_id.empty();
  return known && gpu.bus_id != same->bus_id ? same : nullptr;
}

Problem differing(const GpuList& one, const GpuList& other) {
  const bool by_address = has_addresses(one) && has_addresses(other);
  const auto too_few = [&](const GpuList& list, const GpuList& than) {
    return !by_address && !list.part && list.gpus.size() < than.gpus.size();
  };
  if (too_few(one, other) || too_few(other, one)) {
    return fmt::format("{} shows {} and {} {}", one.option, counted(one.gpus.size(), "GPU"),
                       other.option, other.gpus.size());
  }
  bool any = !by_address;
  const bool tree = one.tree || other.tree;
  for (const GpuFacts& here : one.gpus) {
    const GpuFacts* same = tree ? nullptr : moved_in(other, here);
    if (same != nullptr) {
      return fmt::format("GPU{} is at {} in {} and at {} in {}", here.index, here.bus_id,
                         one.option, same->bus_id, other.option);
    }
    const GpuFacts* there = find_in(other, here, by_address);
    any = any || there != nullptr;
    if (there == nullptr || !different_names(here.name, there->name, tree)) {
      continue;
    }
    return fmt::format("GPU{} is {} in {}, and {} in {}", std::max(here.index, there->index),
                       here.name, one.option, there->name, other.option);
  }
  if (any) return {};
  return fmt::format("none of the bus ids in {} is in {}", one.option, other.option);
}

/// A GPU that has NVLinks in the matrix and none by `nvlink -s`, or the other way round.
Problem differing_links(const SmiProbe& smi) {
  if (!smi.matrix || !smi.nvlink || smi.nvlink->empty()) return {};
  if (smi.matrix->pcie_only || smi.matrix->gpus.size() < 2) return {};
  for (std::size_t row = 0; row < smi.matrix->gpus.size(); ++row) {
    const int index = smi.matrix->gpus[row];
    const auto& cells = smi.matrix->cells[row];
    const auto shown = std::ranges::find_if(
        cells, [](const std::string& cell) { return gpu_link_count(cell) > 0; });
    const GpuFacts* gpu = find_by(*smi.nvlink, index, &GpuFacts::index);
    const std::size_t active =
        gpu == nullptr ? 0 : count_of(gpu->links, [](double GBps) { return GBps > 0; });
    if ((active > 0) == (shown != cells.end())) continue;
    return fmt::format("GPU{} has {} active in --nvlink, and its row of --smi shows {}", index,
                       counted(active, "NVLink"), shown == cells.end() ? "none" : *shown);
  }
  return {};
}

}  // namespace

std::optional<std::string> contradiction(const Sources& sources) {
  const std::vector<GpuList> lists = lists_of(sources);
  const bool known = std::ranges::any_of(
      lists, [](const GpuList& list) { return !list.tree && has_addresses(list); });
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (std::size_t j = i + 1; j < lists.size(); ++j) {
      // A list with addresses stands for nvidia-smi's others: NCCL's file may have a job's GPUs
      // only.
      if (lists[j].tree && known && !has_addresses(lists[i])) continue;
      if (auto problem = differing(lists[i], lists[j])) return problem;
    }
  }
  return differing_links(sources.smi);
}

}  // namespace busbar::topo
