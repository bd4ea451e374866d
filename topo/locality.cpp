// SPDX-License-Identifier: BSD-3-Clause
#include "topo/locality.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <hwloc.h>

#include "base/error.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {
namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Bitmap current_binding(hwloc_topology_t topology) {
  Bitmap bitmap(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology, bitmap.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    hwloc_bitmap_copy(bitmap.get(), hwloc_topology_get_allowed_cpuset(topology));
  }
  hwloc_bitmap_and(bitmap.get(), bitmap.get(), hwloc_topology_get_complete_cpuset(topology));
  return bitmap;
}

/// The one object of a type that contains the whole set, by its logical number.
std::optional<int> containing(hwloc_topology_t topology, hwloc_obj_type_t type,
                              hwloc_const_bitmap_t set) {
  for (hwloc_obj_t object = nullptr;
       (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;) {
    if (hwloc_bitmap_isincluded(set, object->cpuset) != 0) {
      return static_cast<int>(object->logical_index);
    }
  }
  return std::nullopt;
}

struct FreeTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, FreeTopology>;

/// Devices treble the time that hwloc takes: only who asks for them waits for them. Nothing where
/// hwloc fails.
Topology topology_with_devices() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  Topology owned(topology);
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // They start drivers, and bus ids are known without; hwloc may lack them, which does no harm.
  for (const char* component : {"cuda", "nvml", "opencl", "gl", "rsmi", "levelzero"}) {
    static_cast<void>(hwloc_topology_set_components(
        topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component));
  }
  return hwloc_topology_load(topology) == 0 ? std::move(owned) : nullptr;
}

/// The objects of a type with a processor that this process may use.
std::vector<hwloc_obj_t> usable(hwloc_topology_t topology, hwloc_obj_type_t type) {
  const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(topology);
  std::vector<hwloc_obj_t> objects;
  for (hwloc_obj_t object = nullptr;
       (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;) {
    if (hwloc_bitmap_intersects(object->cpuset, allowed) != 0) objects.push_back(object);
  }
  return objects;
}

std::vector<int> processors_of(hwloc_const_bitmap_t set) {
  std::vector<int> processors;
  for (int processor = hwloc_bitmap_first(set); processor >= 0;
       processor = hwloc_bitmap_next(set, processor)) {
    processors.push_back(processor);
  }
  return processors;
}

}  // namespace

struct Machine::Implementation {
  hwloc_topology_t topology = nullptr;
};

Machine::Machine() : implementation_(new Implementation) {
  hide_hwloc_errors();
  hwloc_topology_t& topology = implementation_->topology;
  if (hwloc_topology_init(&topology) == 0 && hwloc_topology_load(topology) == 0) return;
  delete implementation_;
  throw runtime_failure("hwloc cannot look at this machine; --bind none goes without");
}

Machine::~Machine() {
  hwloc_topology_destroy(implementation_->topology);
  delete implementation_;
}

Locality Machine::locality() const {
  hwloc_topology_t topology = implementation_->topology;
  const Bitmap binding = current_binding(topology);
  Locality locality;
  locality.processors = processors_of(binding.get());
  locality.bound =
      hwloc_bitmap_isincluded(hwloc_topology_get_allowed_cpuset(topology), binding.get()) == 0;
  locality.core = containing(topology, HWLOC_OBJ_CORE, binding.get());
  locality.numa = containing(topology, HWLOC_OBJ_NUMANODE, binding.get());
  return locality;
}

Bytes Machine::last_level_cache() const {
  hwloc_topology_t topology = implementation_->topology;
  for (const hwloc_obj_type_t level : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
    Bytes total = 0;
    for (hwloc_obj_t cache = nullptr;
         (cache = hwloc_get_next_obj_by_type(topology, level, cache)) != nullptr;) {
      total += cache->attr->cache.size;
    }
    if (total > 0) return total;
  }
  return 0;
}

std::string Machine::processor_model() const {
  hwloc_topology_t topology = implementation_->topology;
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const char* model =
      package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
  return model == nullptr ? "unknown processor" : model;
}

int Machine::cores() const {
  return static_cast<int>(usable(implementation_->topology, HWLOC_OBJ_CORE).size());
}

int Machine::numa_nodes() const {
  return static_cast<int>(usable(implementation_->topology, HWLOC_OBJ_NUMANODE).size());
}

bool Machine::bind_to(int type, int index, int count) const {
  hwloc_topology_t topology = implementation_->topology;
  const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(topology);
  const std::vector<hwloc_obj_t> objects = usable(topology, static_cast<hwloc_obj_type_t>(type));
  if (objects.empty()) return false;
  const auto places = static_cast<int>(objects.size());
  const int place = count <= places ? index * places / count : index % places;
  const Bitmap set(hwloc_bitmap_dup(objects[static_cast<std::size_t>(place)]->cpuset));
  hwloc_bitmap_and(set.get(), set.get(), allowed);
  return hwloc_set_cpubind(topology, set.get(), HWLOC_CPUBIND_PROCESS) == 0;
}

bool Machine::bind_to_core(int index, int count) const {
  return bind_to(HWLOC_OBJ_CORE, index, count);
}

bool Machine::bind_to_numa(int index, int count) const {
  return bind_to(HWLOC_OBJ_NUMANODE, index, count);
}

std::vector<Core> Machine::cores_near(const std::string& bus_id) const {
  const std::string wanted = normal_bus_id(bus_id);
  const Topology topology = wanted.empty() ? nullptr : topology_with_devices();
  if (!topology) return {};
  const hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology.get(), wanted.c_str());
  if (device == nullptr) return {};
  const Bitmap near(
      hwloc_bitmap_dup(hwloc_get_non_io_ancestor_obj(topology.get(), device)->cpuset));
  hwloc_bitmap_and(near.get(), near.get(),
                   hwloc_topology_get_allowed_cpuset(implementation_->topology));
  std::vector<Core> cores;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr;) {
    const Bitmap allowed(hwloc_bitmap_dup(core->cpuset));
    hwloc_bitmap_and(allowed.get(), allowed.get(), near.get());
    if (hwloc_bitmap_iszero(allowed.get()) == 0) cores.push_back(processors_of(allowed.get()));
  }
  return cores;
}

bool Machine::bind_to_processors(const std::vector<int>& processors) const {
  const Bitmap set(hwloc_bitmap_alloc());
  for (const int processor : processors) {
    hwloc_bitmap_set(set.get(), static_cast<unsigned>(processor));
  }
  return !processors.empty() &&
         hwloc_set_cpubind(implementation_->topology, set.get(), HWLOC_CPUBIND_PROCESS) == 0;
}

std::vector<int> share_of(const std::vector<Core>& cores, CoreShare share) {
  const auto places = static_cast<int>(cores.size());
  const bool divided = places / share.count >= share.least;
  const int first = divided ? share.index * places / share.count : 0;
  const int last = divided ? (share.index + 1) * places / share.count : places;
  std::vector<int> processors;
  for (int place = first; place < last; ++place) {
    const Core& core = cores[static_cast<std::size_t>(place)];
    processors.insert(processors.end(), core.begin(), core.end());
  }
  std::sort(processors.begin(), processors.end());
  return processors;
}

void hide_hwloc_errors() {
  // 2 hides critical errors too; a value that is there stays.
  static_cast<void>(setenv("HWLOC_HIDE_ERRORS", "2", 0));
}

}  // namespace busbar::topo
