// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "judge/spec/reader_parts.hpp"
#include "topo/choice/choose.hpp"

namespace busbar::judge {
namespace {

constexpr int kMostRanks = 100'000;
const std::vector<std::string> kSetKeys{"id",    "kind",    "gpus",           "ranks_per_node",
                                        "nodes", "members", "all_pairs_up_to"};

SetKind read_kind(const TomlFields& fields) {
  static_cast<void>(fields.required("kind"));
  const auto word =
      fields.one_of("kind", {"per_node", "pairwise", "rails", "whole", "list"}).value_or(0);
  return static_cast<SetKind>(word);
}

/// The number of GPUs that a list names; 0 for a policy and for none.
int listed_gpus(const TomlFields& fields, const std::string& gpus) {
  if (!fields.has("gpus")) return 0;
  try {
    const topo::Selection selection = topo::parse_selection("gpus", gpus);
    return static_cast<int>(selection.devices.size());
  } catch (const Error& error) {
    throw fields.fault("gpus", error.what());
  }
}

int ranks_of(const TomlFields& fields, const std::string& gpus, const SystemIdentity& system) {
  const int given = fields.integer("ranks_per_node", 1, kMostRanks, 0);
  const int listed = listed_gpus(fields, gpus);
  if (given > 0 && listed > 0 && given != listed) {
    throw fields.fault("ranks_per_node",
                       fmt::format("ranks_per_node = {} contradicts gpus = \"{}\", which are {}",
                                   given, gpus, listed));
  }
  if (given > 0) return given;
  if (listed > 0) return listed;
  const auto fact = system.fingerprint.find("gpus_per_node");
  const int of_system = fact == system.fingerprint.end() ? 0 : std::stoi(fact->second.front());
  if (of_system > 0) return of_system;
  throw fields.fault("ranks_per_node",
                     "[[device_set]] needs ranks_per_node, gpus as a list, or gpus_per_node in the "
                     "fingerprint of [system]");
}

void check_nodes(const TomlFields& fields, const DeviceSetRule& set, const SystemIdentity& system) {
  if (set.kind != SetKind::List) {
    refuse_without(fields, {"nodes"}, "kind = \"list\" (else the nodes are those of [system])");
    return;
  }
  static_cast<void>(fields.required("nodes"));
  if (set.nodes.empty()) throw fields.fault("nodes", "nodes is an empty list");
  refuse_twice(fields, "nodes", set.nodes);
  for (const std::string& node : set.nodes) {
    const auto& all = system.nodes;
    if (all.empty() || std::find(all.begin(), all.end(), node) != all.end()) continue;
    throw fields.fault("nodes", unknown_word("node of [system]", node, all));
  }
}

DeviceSetRule read_set(const toml::node& node, const TomlFields& file,
                       const SystemIdentity& system) {
  const TomlFields fields(node, file.origin(), "[[device_set]]");
  fields.allow_only(kSetKeys);
  DeviceSetRule set{.id = fields.required_text("id"),
                    .kind = read_kind(fields),
                    .gpus = fields.text("gpus"),
                    .nodes = fields.words("nodes"),
                    .place = place_of(node)};
  set.ranks_per_node = ranks_of(fields, set.gpus, system);
  check_nodes(fields, set, system);
  if (set.kind != SetKind::Pairwise) {
    refuse_without(fields, {"members", "all_pairs_up_to"}, "kind = \"pairwise\"");
  }
  static_cast<void>(fields.one_of("members", {"nodes"}));
  set.all_pairs_up_to =
      fields.integer("all_pairs_up_to", 2, std::numeric_limits<int>::max(), set.all_pairs_up_to);
  return set;
}

}  // namespace

std::vector<DeviceSetRule> read_device_sets(const TomlFields& file, const SystemIdentity& system) {
  std::vector<DeviceSetRule> sets;
  for (const toml::node* node : file.list("device_set")) {
    sets.push_back(read_set(*node, file, system));
    const bool twice = std::any_of(sets.begin(), sets.end() - 1, [&](const DeviceSetRule& set) {
      return set.id == sets.back().id;
    });
    if (twice) {
      throw fault_at(file.origin(), node->source(),
                     fmt::format("there are two [[device_set]] with id = \"{}\"", sets.back().id));
    }
  }
  if (sets.empty()) throw file.fault("device_set", "the specification needs a [[device_set]]");
  return sets;
}

}  // namespace busbar::judge
