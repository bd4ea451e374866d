// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/removed_words.hpp"
#include "base/text.hpp"
#include "judge/spec/field_reader.hpp"
#include "machine/machine_fact.hpp"
#include "model/collective.hpp"
#include "model/data_type.hpp"
#include "topo/choice/choose.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::judge {
namespace {

/// The file in which a key's value stands: paths are relative to it.
std::string file_of(const TomlFields& table, std::string_view key) {
  const std::string file = place_of(table, key).file;
  return file.empty() ? std::string(table.origin()) : file;
}

TomlFields table_of(const TomlFields& file, std::string_view key) {
  const toml::node* found = file.find(key);
  if (found == nullptr) {
    throw file.fault(key, "the specification needs a table [{}]; {} describes it", key,
                     kSpecificationDocument);
  }
  return {*found, file.origin(), fmt::format("[{}]", key)};
}

/// Reads a table as a struct; `check(fields, struct)` runs if it has no faults.
template <class Struct, class Check>
void read_table(const TomlFields& file, std::string_view key, auto& value, Faults& faults,
                const Check& check) {
  faults.collect([&] {
    const TomlFields fields = table_of(file, key);
    value = read_checked<Struct>(fields, faults, [&](Struct& read) { check(fields, read); });
  });
}

/// A path is relative to the file, as the baseline's is; a name is a built-in system.
void check_ceiling(const TomlFields& ceiling, CeilingRule& rule) {
  std::string& system = rule.system;
  if (system.find('/') != std::string::npos || system.ends_with(".toml")) {
    system = beside(file_of(ceiling, "system"), system);
  }
  try {
    static_cast<void>(topo::load_machine(system));
  } catch (const Error& error) {
    throw ceiling.fault("system", error.what());
  }
}

/// Contradictions in [run], of which a profile may change numbers.
void check_run(const TomlFields& table, const RunContract& run) {
  if (run.backend == "sim") {
    throw table.fault("backend", removed_word("[run]", "backend = \"sim\""));
  }
  if (run.min_launches <= run.launches) return;
  const std::string_view key = table.has("min_launches") ? "min_launches" : "launches";
  throw table.fault(key, "min_launches ({}) is more than launches ({}): there could be no verdict",
                    run.min_launches, run.launches);
}

/// The number of GPUs that a list names; 0 for a policy and for none.
int listed_gpus(const TomlFields& fields, const std::string& gpus) {
  if (gpus.empty()) return 0;
  try {
    return static_cast<int>(topo::parse_selection("gpus", gpus).devices.size());
  } catch (const Error& error) {
    throw fields.fault("gpus", error.what());
  }
}

/// As given, of the list of GPUs, or of the fingerprint.
int ranks_per_node(const TomlFields& fields, const DeviceSetRule& set,
                   const SystemIdentity& system) {
  const int given = set.ranks_per_node;
  const int listed = listed_gpus(fields, set.gpus);
  if (given > 0 && listed > 0 && given != listed) {
    throw fields.fault("ranks_per_node",
                       "ranks_per_node = {} contradicts gpus = \"{}\", which are {}", given,
                       set.gpus, listed);
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

/// `system`: null where it could not be read.
DeviceSetRule read_set(const TomlFields& fields, const TextPlace& place,
                       const SystemIdentity* system, Faults& faults) {
  const auto check = [&](DeviceSetRule& set) {
    if (system != nullptr) set.ranks_per_node = ranks_per_node(fields, set, *system);
  };
  auto set = read_checked<DeviceSetRule>(fields, faults, check);
  set.place = place;
  return set;
}

/// Tables of a list, each with an id of its own; without those that have faults.
template <class Listed, class Read>
std::vector<Listed> read_list(const TomlFields& file, const std::string& key, Faults& faults,
                              const Read& read) {
  std::vector<Listed> rules;
  const std::string what = fmt::format("[[{}]]", key);
  const auto read_one = [&](const toml::node& node) {
    const std::size_t before = faults.count();
    Listed rule = read(TomlFields(node, file.origin(), what), place_of(node, file.origin()));
    // cppcheck-suppress knownConditionTrueFalse ; it does not see that `read` adds faults
    if (faults.count() > before) return;
    if (any_has(rules, rule.id, &Listed::id)) {
      throw fault_at(file.origin(), node.source(),
                     fmt::format("there are two {} with id = \"{}\"", what, rule.id));
    }
    rules.push_back(std::move(rule));
  };
  const std::size_t before = faults.count();
  faults.collect([&] {
    for (const toml::node* node : file.list(key)) faults.collect([&] { read_one(*node); });
    if (!rules.empty() || faults.count() > before) return;
    throw file.fault(key, "the specification has no {}", what);
  });
  return rules;
}

void read_collectives(const TomlFields& fields, Rule& rule) {
  for (std::string& word : rule.collectives) {
    const Collective* known = find_collective(word);
    if (known == nullptr) {
      throw fields.fault("collective", unknown_word("collective", word, collective_names()));
    }
    word = known->name;
  }
  refuse_twice(fields, "collective", rule.collectives);
}

/// fail_below <= warn_below < warn_above <= fail_above of those that are there.
void check_bounds(const TomlFields& fields, const Bounds& bounds) {
  using NamedBound = std::pair<std::string_view, std::optional<double>>;
  NamedBound last;
  for (const NamedBound& bound : {NamedBound{"fail_below", bounds.fail_below},
                                  {"warn_below", bounds.warn_below},
                                  {"warn_above", bounds.warn_above},
                                  {"fail_above", bounds.fail_above}}) {
    const auto& [key, value] = bound;
    if (!value) continue;
    const bool may_equal = last.first.ends_with("_below") == key.ends_with("_below");
    const double least = last.second.value_or(-1);
    const bool rises = may_equal ? least <= *value : least < *value;
    if (!rises) {
      throw fields.fault(key, "{} = {} must be {} {} = {}", key, *value,
                         may_equal ? "at least" : "above", last.first, *last.second);
    }
    last = bound;
  }
  if (last.second) return;
  throw fields.fault(
      "id", "the rule has no bound: give fail_below, warn_below, warn_above or fail_above");
}

/// Members are compared by their scatter, pairs by ranks.
void check_fleet(const TomlFields& fields, const DeviceSetRule& set, Rule& rule) {
  static_cast<void>(fields.required("fail_below"));
  for (const char* key : {"min_robust_z", "max_fleet_mad"}) {
    if (set.kind != SetKind::Pairwise) {
      static_cast<void>(fields.required(key));
    } else if (fields.has(key)) {
      rule.ignored.emplace_back(key);
    }
  }
  if (rule.metric == Metric::Time) {
    throw fields.fault("metric",
                       R"(compare = "fleet" needs a bandwidth: metric = "busbw" or "algbw")");
  }
  if (set.kind == SetKind::Whole) {
    throw fields.fault("compare",
                       R"(compare = "fleet" needs several sets of nodes: {} is "{}", which is one)",
                       set.id, name(set.kind));
  }
  if (*rule.bounds.fail_below >= 1) {
    throw fields.fault("fail_below", "fail_below of a fleet's median must be below 1");
  }
}

/// The set of a rule; null where it has faults of its own, and stands only in the file.
const DeviceSetRule* set_of(const TomlFields& fields, const Specification& specification,
                            const std::vector<std::string>& ids) {
  const std::string id = fields.required_text("device_set");
  const DeviceSetRule* const set = find_by(specification.device_sets, id, &DeviceSetRule::id);
  if (set != nullptr || contains(ids, id)) return set;
  throw fields.fault("device_set", unknown_word("device_set", id, ids));
}

/// What depends on the set.
void check_with_set(const TomlFields& fields, const DeviceSetRule& set, Rule& rule,
                    const Specification& specification) {
  if (rule.compare == RuleKind::Fleet) check_fleet(fields, set, rule);
  if (rule.compare == RuleKind::Baseline && !specification.baseline) {
    throw fields.fault("compare", "compare = \"baseline\" needs a table [baseline] with its run");
  }
  if (rule.compare == RuleKind::Theoretical && rule.metric != Metric::BusBandwidth) {
    throw fields.fault(
        "metric", R"(compare = "theoretical" needs metric = "busbw": ceilings are bus bandwidths)");
  }
  const bool none = std::ranges::any_of(rule.collectives, [](const std::string& collective) {
    return find_collective(collective)->bus_factor(1) == 0;
  });
  if (rule.metric == Metric::BusBandwidth && none &&
      shape_of(set, specification.system).ranks == 1) {
    throw fields.fault("device_set",
                       "one rank has no bus bandwidth: change gpus or ranks_per_node of device_set "
                       "\"{}\", or take metric = \"time_us\"",
                       set.id);
  }
}

/// `ids`: of all device sets of the file.
Rule read_rule(const TomlFields& fields, const TextPlace& place, const Specification& specification,
               const std::vector<std::string>& ids, Faults& faults) {
  const std::size_t before = faults.count();
  auto rule = read_fields<Rule>(fields, &faults);
  rule.place = place;
  rule.size_place = place_of(fields, "size");
  rule.value_place = fields.has("value") ? place_of(fields, "value") : place;
  faults.collect([&] {
    read_collectives(fields, rule);
    static_cast<void>(fields.one_of("type", mapped<std::string>(kTypes, &TypeInfo::name)));
  });
  const DeviceSetRule* set = nullptr;
  faults.collect([&] { set = set_of(fields, specification, ids); });
  if (faults.count() > before) return rule;
  faults.collect([&] { check_bounds(fields, rule.bounds); });
  if (set == nullptr) return rule;
  faults.collect([&] { check_with_set(fields, *set, rule, specification); });
  return rule;
}

FactRule read_fact_rule(const TomlFields& fields, Faults& faults) {
  const auto check = [&](FactRule& rule) {
    const machine::MachineFact* fact = machine::find_fact(rule.fact);
    if (fact == nullptr) {
      throw fields.fault(
          "fact", "{}; busbar facts --list has them",
          unknown_word("fact", rule.fact,
                       mapped<std::string>(machine::machine_facts(), &machine::MachineFact::name)));
    }
    std::vector<std::string> limits;
    for (const char* key : {"delta_max", "at_least", "equals", "same"}) {
      if (fields.has(key)) limits.emplace_back(key);
    }
    if (limits.size() != 1) {
      throw fields.fault(
          "fact",
          R"([[expect_fact]] needs one limit: delta_max, at_least, equals or same = "fleet")");
    }
    if (rule.delta_max && !machine::is_counter(*fact)) {
      throw fields.fault("delta_max", "delta_max needs a counter, which {} is not", rule.fact);
    }
    static_cast<void>(fields.one_of("same", {"fleet"}));
  };
  auto rule = read_checked<FactRule>(fields, faults, check);
  if (rule.id.empty()) rule.id = rule.fact;
  return rule;
}

/// The ids that a list has, whatever else is wrong with it.
std::vector<std::string> ids_in(const toml::table& table, std::string_view key) {
  std::vector<std::string> ids;
  const toml::array* list = table[key].as_array();
  if (list == nullptr) return ids;
  for (const toml::node& one : *list) {
    if (const auto id = toml::node_view{one}["id"].value<std::string>()) ids.push_back(*id);
  }
  return ids;
}

// ---- profiles -----------------------------------------------------------------------------------

std::vector<std::string> profile_names() { return {"quick", "standard", "full"}; }

/// The listed rules; all if the key is absent.
void choose_rules(const TomlFields& profile, Specification& spec) {
  if (!profile.has("expect")) return;
  const std::vector<std::string> known = mapped(spec.rules, &Rule::id);
  const std::vector<std::string> ids = one_or_many(profile, "expect");
  for (const std::string& id : ids) {
    if (!contains(known, id)) throw profile.fault("expect", unknown_word("id", id, known));
  }
  std::erase_if(spec.rules, [&](const Rule& rule) { return !contains(ids, rule.id); });
}

/// What no rule of the profile needs is not measured.
void drop_unused_sets(Specification& spec) {
  std::erase_if(spec.device_sets, [&](const DeviceSetRule& set) {
    return !any_has(spec.rules, set.id, &Rule::device_set);
  });
}

/// Of rules of facts too, which every profile has.
void keep_only(const std::vector<std::string>& rules, Specification& spec) {
  std::vector<std::string> known = mapped(spec.rules, &Rule::id);
  append(known, mapped(spec.facts, &FactRule::id));
  for (const std::string& id : rules) {
    if (contains(known, id)) continue;
    const std::string near = nearest_word(id, known);
    throw usage_error("--rule {}: {} has no such rule; there are {}{}", id, spec.file,
                      join(known, ", "),
                      near.empty() ? "" : fmt::format("; did you mean {}?", near));
  }
  std::erase_if(spec.rules, [&](const Rule& rule) { return !contains(rules, rule.id); });
  std::erase_if(spec.facts, [&](const FactRule& rule) { return !contains(rules, rule.id); });
  spec.only = mapped(spec.rules, &Rule::id);
  append(spec.only, mapped(spec.facts, &FactRule::id));
}

/// With `rules` these stay, whichever the profile chooses.
Specification apply(const TomlFields& profile, Specification spec, const std::string& name,
                    const std::vector<std::string>& rules) {
  spec.profile = name;
  if (rules.empty()) {
    choose_rules(profile, spec);
  } else {
    keep_only(rules, spec);
  }
  if (spec.rules.empty()) {
    throw profile.fault("expect", "no rule is left: a profile without rules tests nothing");
  }
  drop_unused_sets(spec);
  const FieldReader reader(profile);
  visit_fields(spec.run, reader);
  visit_fields(spec.noise, reader);
  check_run(profile, spec.run);
  if (spec.noise.on_noisy != OnNoisy::Rerun) {
    refuse_without(profile, "max_reruns", "on_noisy", "rerun");
  }
  return spec;
}

Specification with_rules(Specification specification, const std::vector<std::string>& rules) {
  if (rules.empty()) return specification;
  keep_only(rules, specification);
  drop_unused_sets(specification);
  return specification;
}

std::string instead_of_profile(const std::vector<std::string>& there) {
  return there.empty() ? "it has none; run it without --profile"
                       : "--profile takes one of: " + join(there, ", ");
}

/// A specification with only the rules of a profile, or `rules`, and its numbers. Checks every
/// profile of the file if the rest has no faults.
Specification with_profile(const TomlFields& file, const Specification& specification,
                           const std::string& profile, const std::vector<std::string>& rules,
                           Faults& faults) {
  std::vector<std::string> there;
  std::optional<Specification> wanted;
  const bool is_whole = faults.count() == 0;  // else what is missing would be a fault of profiles
  const std::string chosen = profile.empty() ? "standard" : profile;
  const auto read_one = [&](const std::string& key, const toml::node& node) {
    there.push_back(key);
    const std::vector<std::string> keys{"expect", "launches",  "min_launches", "iterations",
                                        "warmup", "timeout_s", "max_cv",       "max_reruns"};
    const TomlFields fields(node, file.origin(), "[profile]");
    faults.add(fields.unknown_keys(keys));
    if (!is_whole) return;
    static_cast<void>(apply(fields, specification, key, {}));
    if (key == chosen) wanted = apply(fields, specification, key, rules);
  };
  if (file.has("profile")) {
    const TomlFields profiles(*file.find("profile"), file.origin(), "[profile]");
    faults.add(profiles.unknown_keys(profile_names()));
    for (const auto& [key, node] : profiles.entries()) {
      if (!contains(profile_names(), key)) continue;
      faults.collect([&, &key = key, &node = node] { read_one(key, *node); });
    }
  }
  if (wanted || faults.count() > 0) return wanted.value_or(specification);
  if (!profile.empty()) {
    throw usage_error("{}: there is no [profile.{}]; {}", file.origin(), profile,
                      instead_of_profile(there));
  }
  return with_rules(specification, rules);
}

}  // namespace

Specification parse_specification(std::string_view text, const std::string& origin,
                                  const std::string& profile, const std::vector<std::string>& rules,
                                  std::vector<std::string>* all_faults) {
  const toml::table table = complete_table(text, origin);
  const TomlFields file(table, origin, "the specification");
  std::vector<std::string> keys = keys_of<Specification>();
  append(keys, std::vector{"schema", "based_on", "profile"});
  Faults faults;
  faults.add(file.unknown_keys(keys));
  Specification specification{.file = origin};
  Specification& s = specification;
  const std::size_t before = faults.count();
  read_table<SystemIdentity>(file, "system", s.system, faults, [](const auto& fields, auto& read) {
    read.fingerprint_place = place_of(fields, "fingerprint");
  });
  const SystemIdentity* system = faults.count() == before ? &s.system : nullptr;
  if (file.has("ceiling")) {
    read_table<CeilingRule>(file, "ceiling", s.ceiling, faults, check_ceiling);
  }
  read_table<RunContract>(file, "run", s.run, faults, check_run);
  read_table<NoiseGate>(file, "noise", s.noise, faults, [](const auto&, const auto&) {});
  if (file.has("baseline")) {
    read_table<BaselineRule>(file, "baseline", s.baseline, faults,
                             [&](const auto& fields, auto& read) {
                               read.run = beside(file_of(fields, "run"), read.run);
                               read.place = place_of(file, "baseline");
                             });
  }
  s.device_sets = read_list<DeviceSetRule>(file, "device_set", faults,
                                           [&](const auto& fields, const auto& place) {
                                             return read_set(fields, place, system, faults);
                                           });
  const std::vector<std::string> ids = ids_in(table, "device_set");
  s.rules = read_list<Rule>(file, "expect", faults, [&](const auto& fields, const auto& place) {
    return read_rule(fields, place, s, ids, faults);
  });
  if (file.has("soak")) {
    read_table<SoakRule>(file, "soak", s.soak, faults, [](const auto& fields, const auto& read) {
      if (read.sizes.size() != 1) throw fields.fault("size", "a soak is of one size");
    });
  }
  if (file.has("expect_fact")) {
    s.facts = read_list<FactRule>(
        file, "expect_fact", faults,
        [&](const auto& fields, const auto&) { return read_fact_rule(fields, faults); });
  }
  faults.collect([&] { s = with_profile(file, s, profile, rules, faults); });
  if (faults.count() == 0) return specification;
  if (all_faults != nullptr) *all_faults = faults.lines();
  const std::string more = faults.count() == 1
                               ? ""
                               : fmt::format(" (and {}: busbar accept lint {})",
                                             counted(faults.count() - 1, "more error"), origin);
  throw usage_error(faults.lines().front() + more);
}

std::vector<Specification> parse_profiles(std::string_view text, const std::string& origin) {
  const toml::table table = complete_table(text, origin);
  std::vector<Specification> profiles;
  for (const std::string& name : profile_names()) {
    if (!table["profile"][name].is_table()) continue;
    profiles.push_back(parse_specification(text, origin, name));
  }
  return profiles;
}

}  // namespace busbar::judge
