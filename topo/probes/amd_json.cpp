// SPDX-License-Identifier: BSD-3-Clause
// rocm-smi prints an object: "system" with a member for each pair, and "card0", "card1", ... The
// first versions of amd-smi print a list of GPUs with an object for each table, later ones a list
// of GPUs with a list of links.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "topo/probes/amd_tables.hpp"
#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostGpus = 256;

/// rocm-smi prints warnings around its object.
Json parse_json(std::string_view text, std::string_view origin) {
  const std::size_t begin = std::min(text.find_first_of("[{"), text.size());
  const std::size_t end = std::min(text.find_last_of("]}"), text.size() - 1);
  try {
    return Json::parse(text.substr(begin, begin < end ? end + 1 - begin : text.size()));
  } catch (const Json::exception&) {
    throw amd_fault(origin, "not valid JSON: damaged or cut short");
  }
}

std::string text_of(const Json& value) {
  if (value.is_string()) return std::string(trim(value.get<std::string>()));
  return value.is_primitive() && !value.is_null() ? value.dump() : std::string{};
}

/// The list of GPUs, which later versions put into an object.
const Json* list_of_gpus(const Json& root) {
  if (root.is_array()) return &root;
  for (const char* key : {"gpu_data", "topology"}) {
    if (root.is_object() && root.contains(key) && root.at(key).is_array()) return &root.at(key);
  }
  return nullptr;
}

struct Key {
  AmdTable table;
  std::string_view in_links;   ///< of amd-smi since ROCm 6.2
  std::string_view in_gpu;     ///< of amd-smi before
  std::string_view in_system;  ///< of rocm-smi, in lower case
};
constexpr std::array<Key, 5> kKeys{
    {{AmdTable::Weight, "weight", "weight", "(topology) weight between drm devices"},
     {AmdTable::Hops, "num_hops", "hops", "(topology) hops between drm devices"},
     {AmdTable::Type, "link_type", "link_type", "(topology) link type between drm devices"},
     {AmdTable::Access, "link_status", "link_accessibility", ""},
     {AmdTable::Bandwidth, "bandwidth", "numa_bandwidth", ""}}};

class JsonTables {
 public:
  explicit JsonTables(std::string_view origin) : origin_(origin) {}

  [[nodiscard]] AmdTables read(const Json& root) {
    if (const Json* gpus = list_of_gpus(root)) {
      read_amd_smi(*gpus);
    } else if (root.is_object() && root.contains("system") && root.at("system").is_object()) {
      read_rocm_smi(root);
    } else {
      throw amd_fault(origin_, "this JSON is not a topology of AMD's tools");
    }
    return std::move(tables_);
  }

 private:
  void set(AmdTable table, std::size_t from, std::size_t to, std::string text) {
    const std::size_t n = tables_.gpus.size();
    if (from >= n || to >= n) {
      throw amd_fault(origin_, fmt::format("a link of GPUs {} and {}, of {}", from, to, n));
    }
    auto& rows = tables_.tables[table];
    rows.resize(n, std::vector<std::string>(n));
    rows[from][to] = std::move(text);
  }

  void name_gpus(std::size_t count) {
    if (count == 0 || count > kMostGpus) throw amd_fault(origin_, fmt::format("{} GPUs", count));
    for (std::size_t i = 0; i < count; ++i) tables_.gpus.push_back(fmt::format("GPU{}", i));
  }

  void read_amd_smi(const Json& gpus) {
    name_gpus(gpus.size());
    for (std::size_t from = 0; from < gpus.size(); ++from) {
      const Json& gpu = gpus[from];
      if (!gpu.is_object()) throw amd_fault(origin_, "a GPU is not an object");
      if (gpu.contains("bdf")) tables_.gpus[from] = text_of(gpu["bdf"]);
      if (gpu.contains("links")) {
        read_links(from, gpu["links"]);
      } else {
        read_rows(from, gpu);
      }
    }
  }

  void read_links(std::size_t from, const Json& links) {
    if (!links.is_array()) throw amd_fault(origin_, "the links of a GPU are not a list");
    for (std::size_t place = 0; place < links.size(); ++place) {
      const Json& link = links.at(place);
      if (!link.is_object()) throw amd_fault(origin_, "a link is not an object");
      const auto number = to_number<std::size_t>(link.contains("gpu") ? text_of(link["gpu"]) : "");
      for (const Key& key : kKeys) {
        const auto found = link.find(std::string(key.in_links));
        if (found != link.end()) set(key.table, from, number.value_or(place), text_of(*found));
      }
    }
  }

  void read_rows(std::size_t from, const Json& gpu) {
    for (const Key& key : kKeys) {
      const auto row = gpu.find(std::string(key.in_gpu));
      if (row == gpu.end() || !row->is_object()) continue;
      for (const auto& [name, value] : row->items()) {
        const auto to =
            to_number<std::size_t>(name.substr(std::min(name.find('_') + 1, name.size())));
        if (!to) throw amd_fault(origin_, fmt::format("{} is not a GPU", in_quotes(name)));
        set(key.table, from, *to, text_of(value));
      }
    }
  }

  void read_rocm_smi(const Json& root) {
    std::size_t count = 0;
    while (root.contains(fmt::format("card{}", count))) ++count;
    name_gpus(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (const auto& [name, value] : root.at(fmt::format("card{}", i)).items()) {
        if (lower(name) != "(topology) numa node") continue;
        tables_.numa.resize(count);
        tables_.numa[i] = text_of(value);
      }
    }
    for (const auto& [name, value] : root.at("system").items()) read_pair(name, text_of(value));
  }

  /// "(Topology) Hops between DRM devices 0 and 1", each pair once.
  void read_pair(const std::string& name, const std::string& text) {
    for (const Key& key : kKeys) {
      if (key.in_system.empty() || !lower(name).starts_with(key.in_system)) continue;
      const std::vector<std::string> words = split_words(name.substr(key.in_system.size()));
      const auto from = to_number<std::size_t>(words.empty() ? "" : words.front());
      const auto to = to_number<std::size_t>(words.size() < 3 ? "" : words[2]);
      if (!from || !to) {
        throw amd_fault(origin_, fmt::format("{} does not name two GPUs", in_quotes(name)));
      }
      set(key.table, *from, *to, text);
      set(key.table, *to, *from, text);
    }
  }

  std::string_view origin_;
  AmdTables tables_{};
};

/// A number with a unit is an object, as sections are.
AmdFields fields_of(const Json& gpu) {
  AmdFields fields;
  const auto is_section = [](const Json& value) {
    return value.is_object() && !value.contains("value");
  };
  const auto add = [&](const std::string& name, const Json& value) {
    if (is_section(value)) return;
    fields.emplace_back(lower(name), text_of(value.is_object() ? value["value"] : value));
  };
  for (const auto& [name, value] : gpu.items()) {
    add(name, value);
    if (!is_section(value)) continue;
    for (const auto& [inner, text] : value.items()) add(fmt::format("{}.{}", name, inner), text);
  }
  return fields;
}

}  // namespace

AmdTables parse_amd_json_tables(std::string_view text, std::string_view origin) {
  return JsonTables(origin).read(parse_json(text, origin));
}

std::vector<AmdFields> parse_amd_json_fields(std::string_view text, std::string_view origin) {
  const Json root = parse_json(text, origin);
  const Json* gpus = list_of_gpus(root);
  if (gpus == nullptr) throw amd_fault(origin, "this JSON has no list of GPUs");
  std::vector<AmdFields> all;
  for (const Json& gpu : *gpus) {
    if (!gpu.is_object()) throw amd_fault(origin, "a GPU is not an object");
    all.push_back(fields_of(gpu));
  }
  return all;
}

}  // namespace busbar::topo
