// SPDX-License-Identifier: BSD-3-Clause
#include "topo/locality.hpp"

#include <cstdlib>

#include <hwloc.h>

#include "topo/graph/graph.hpp"

namespace busbar::topo {
namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Bitmap common(hwloc_const_bitmap_t one, hwloc_const_bitmap_t other) {
  Bitmap both(hwloc_bitmap_alloc());
  hwloc_bitmap_and(both.get(), one, other);
  return both;
}

/// The one object of a type that contains the whole set, by its logical number.
std::optional<int> containing(const HwlocTopology& topology, hwloc_obj_type_t type,
                              const Bitmap& set) {
  for (const hwloc_obj* object : all_of_type(topology, type)) {
    if (hwloc_bitmap_isincluded(set.get(), object->cpuset) != 0) {
      return static_cast<int>(object->logical_index);
    }
  }
  return std::nullopt;
}

std::vector<int> processors_of(const Bitmap& set) {
  std::vector<int> processors;
  for (int processor = hwloc_bitmap_first(set.get()); processor >= 0;
       processor = hwloc_bitmap_next(set.get(), processor)) {
    processors.push_back(processor);
  }
  return processors;
}

bool bind_process(const HwlocTopology& topology, const Bitmap& set) {
  return hwloc_set_cpubind(topology.get(), set.get(), HWLOC_CPUBIND_PROCESS) == 0;
}

}  // namespace

void FreeTopology::operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }

HwlocTopology new_topology() {
  // 2 hides critical errors too; a value that is there stays.
  static_cast<void>(setenv("HWLOC_HIDE_ERRORS", "2", 0));
  hwloc_topology_t topology = nullptr;
  return HwlocTopology(hwloc_topology_init(&topology) == 0 ? topology : nullptr);
}

HwlocTopology new_topology_with_devices(bool nvml) {
  HwlocTopology topology = new_topology();
  if (!topology) return topology;
  hwloc_topology_set_io_types_filter(topology.get(), HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // CUDA must not start before devices are chosen; hwloc may lack a component, which does no harm.
  for (const char* component : {"cuda", "opencl", "gl", "rsmi", "levelzero", "nvml"}) {
    if (nvml && component == std::string("nvml")) continue;
    static_cast<void>(hwloc_topology_set_components(
        topology.get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component));
  }
  return topology;
}

std::vector<hwloc_obj*> all_of_type(const HwlocTopology& topology, int type) {
  std::vector<hwloc_obj*> objects;
  for (hwloc_obj_t object = nullptr;
       (object = hwloc_get_next_obj_by_type(topology.get(), static_cast<hwloc_obj_type_t>(type),
                                            object)) != nullptr;) {
    objects.push_back(object);
  }
  return objects;
}

Machine::Machine() {
  if (topology_ && hwloc_topology_load(topology_.get()) == 0) return;
  throw runtime_failure("hwloc cannot read this machine's topology; use --bind none");
}

Locality Machine::locality() const {
  const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(topology_.get());
  Bitmap binding(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology_.get(), binding.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    hwloc_bitmap_copy(binding.get(), allowed);
  }
  binding = common(binding.get(), hwloc_topology_get_complete_cpuset(topology_.get()));
  return {.processors = processors_of(binding),
          .bound = hwloc_bitmap_isincluded(allowed, binding.get()) == 0,
          .core = containing(topology_, HWLOC_OBJ_CORE, binding),
          .numa = containing(topology_, HWLOC_OBJ_NUMANODE, binding)};
}

Bytes Machine::last_level_cache() const {
  for (const hwloc_obj_type_t level : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
    Bytes total = 0;
    for (const hwloc_obj* cache : all_of_type(topology_, level)) total += cache->attr->cache.size;
    if (total > 0) return total;
  }
  return 0;
}

std::string Machine::processor_model() const {
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology_.get(), HWLOC_OBJ_PACKAGE, 0);
  const char* model =
      package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
  return model == nullptr ? "unknown processor" : model;
}

/// Those with a processor that this process may use.
std::vector<hwloc_obj*> Machine::usable(Spot spot) const {
  std::vector<hwloc_obj*> objects =
      all_of_type(topology_, spot == Spot::CpuCore ? HWLOC_OBJ_CORE : HWLOC_OBJ_NUMANODE);
  std::erase_if(objects, [&](const hwloc_obj* object) {
    return hwloc_bitmap_intersects(object->cpuset,
                                   hwloc_topology_get_allowed_cpuset(topology_.get())) == 0;
  });
  return objects;
}

int Machine::count(Spot spot) const { return static_cast<int>(usable(spot).size()); }

bool Machine::bind_to(Spot spot, int index, int count) const {
  const std::vector<hwloc_obj*> objects = usable(spot);
  if (objects.empty()) return false;
  const auto places = static_cast<int>(objects.size());
  const int place = count <= places ? index * places / count : index % places;
  return bind_process(topology_, common(objects[static_cast<std::size_t>(place)]->cpuset,
                                        hwloc_topology_get_allowed_cpuset(topology_.get())));
}

std::vector<Core> Machine::cores_near(const std::string& bus_id) const {
  const std::string wanted = normal_bus_id(bus_id);
  const HwlocTopology topology = wanted.empty() ? nullptr : new_topology_with_devices(false);
  if (!topology || hwloc_topology_load(topology.get()) != 0) return {};
  const hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology.get(), wanted.c_str());
  if (device == nullptr) return {};
  const Bitmap near = common(hwloc_get_non_io_ancestor_obj(topology.get(), device)->cpuset,
                             hwloc_topology_get_allowed_cpuset(topology_.get()));
  std::vector<Core> cores;
  for (const hwloc_obj* core : all_of_type(topology, HWLOC_OBJ_CORE)) {
    Core processors = processors_of(common(core->cpuset, near.get()));
    if (!processors.empty()) cores.push_back(std::move(processors));
  }
  return cores;
}

bool Machine::bind_to_processors(const std::vector<int>& processors) const {
  const Bitmap set(hwloc_bitmap_alloc());
  for (const int processor : processors) {
    hwloc_bitmap_set(set.get(), static_cast<unsigned>(processor));
  }
  return !processors.empty() && bind_process(topology_, set);
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
  std::ranges::sort(processors);
  return processors;
}

}  // namespace busbar::topo
