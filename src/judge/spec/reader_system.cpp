// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>

#include <fmt/format.h>

#include "judge/spec/reader_parts.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::judge {
namespace {

const std::vector<std::string>& facts() {
  static const std::vector<std::string> kFacts{"gpu",       "gpus_per_node", "nics_per_node",
                                               "processor", "library",       "driver"};
  return kFacts;
}

std::map<std::string, std::vector<std::string>> read_fingerprint(const TomlFields& system) {
  std::map<std::string, std::vector<std::string>> wanted;
  const toml::node* found = system.find("fingerprint");
  if (found == nullptr) return wanted;
  const TomlFields fields(*found, system.origin(), "fingerprint");
  fields.allow_only(facts());
  constexpr int kMost = 100'000;
  for (const auto& [key, node] : fields.entries()) {
    const bool counted = key.ends_with("_per_node");
    wanted[key] = counted ? std::vector{fmt::format("{}", fields.integer(key, 0, kMost, 0))}
                          : one_or_many(fields, key);
  }
  return wanted;
}

std::string beside(std::string_view origin, const std::string& file) {
  const std::filesystem::path path(file);
  if (path.is_absolute()) return file;
  return (std::filesystem::path(origin).parent_path() / path).string();
}

/// A path is relative to the specification, as the baseline's is; a name is a built-in system.
std::string system_of(const TomlFields& ceiling) {
  std::string system = ceiling.text("system");
  if (system.empty()) return system;
  if (system.find('/') != std::string::npos || system.ends_with(".toml")) {
    system = beside(ceiling.origin(), system);
  }
  try {
    static_cast<void>(topo::load_machine(system));
  } catch (const Error& error) {
    throw ceiling.fault("system", error.what());
  }
  return system;
}

}  // namespace

SystemIdentity read_system(const TomlFields& file) {
  const TomlFields fields = table_of(file, "system");
  fields.allow_only({"name", "fingerprint", "nodes"});
  SystemIdentity system{.name = fields.required_text("name"),
                        .fingerprint = read_fingerprint(fields),
                        .nodes = fields.words("nodes"),
                        .fingerprint_place = place_of(fields, "fingerprint")};
  refuse_twice(fields, "nodes", system.nodes);
  return system;
}

CeilingRule read_ceiling(const TomlFields& file) {
  CeilingRule rule;
  if (!file.has("ceiling")) return rule;
  const TomlFields fields = table_of(file, "ceiling");
  fields.allow_only({"scale_up", "scale_out", "model", "in_network_reduction", "system"});
  rule.place = place_of(*file.find("ceiling"));
  if (fields.has("scale_up")) rule.scale_up = fields.positive("scale_up", 0);
  if (fields.has("scale_out")) rule.scale_out = fields.positive("scale_out", 0);
  rule.system = system_of(fields);
  const bool scales = rule.scale_up || rule.scale_out;
  if (scales && !rule.system.empty()) {
    throw fields.fault("system",
                       "system contradicts scale_up and scale_out: the ceiling is of one of them");
  }
  if (!scales && rule.system.empty()) {
    throw fields.fault("system",
                       "[ceiling] needs scale_up or scale_out (GB/s of one GPU and "
                       "direction), or system = \"NAME\"");
  }
  rule.model = fields.one_of("model", {"hierarchical", "ring"}).value_or(0) == 0
                   ? CeilingModel::Hierarchical
                   : CeilingModel::Ring;
  rule.in_network_reduction =
      fields.one_of("in_network_reduction", {"none", "measured"}).value_or(0) == 1;
  return rule;
}

std::optional<BaselineRule> read_baseline(const TomlFields& file) {
  if (!file.has("baseline")) return std::nullopt;
  constexpr int kMostDays = 100'000;
  const TomlFields fields = table_of(file, "baseline");
  fields.allow_only({"file", "max_age_days", "must_match"});
  static_cast<void>(fields.required("max_age_days"));
  static_cast<void>(fields.required("must_match"));
  BaselineRule rule{.file = beside(file.origin(), fields.required_text("file")),
                    .max_age_days = fields.integer("max_age_days", 1, kMostDays, 0),
                    .must_match = fields.words("must_match"),
                    .place = place_of(*file.find("baseline"))};
  refuse_twice(fields, "must_match", rule.must_match);
  return rule;
}

}  // namespace busbar::judge
