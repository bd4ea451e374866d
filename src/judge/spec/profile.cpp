// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include "base/removed_words.hpp"
#include "base/text.hpp"
#include "judge/spec/reader.hpp"

namespace busbar::judge {
namespace {

template <class Listed>
std::vector<std::string> ids_of(const std::vector<Listed>& rules) {
  return mapped(rules, &Listed::id);
}

/// The listed rules; all if the key is absent.
void choose_rules(const TomlFields& profile, Specification& spec) {
  if (!profile.has("expect")) return;
  const std::vector<std::string> known = ids_of(spec.rules);
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
  std::vector<std::string> known = ids_of(spec.rules);
  append(known, ids_of(spec.facts));
  for (const std::string& id : rules) {
    if (contains(known, id)) continue;
    const std::string near = nearest_word(id, known);
    throw usage_error("--rule {}: {} has no such rule; there are {}{}", id, spec.file,
                      join(known, ", "),
                      near.empty() ? "" : fmt::format("; did you mean {}?", near));
  }
  std::erase_if(spec.rules, [&](const Rule& rule) { return !contains(rules, rule.id); });
  std::erase_if(spec.facts, [&](const FactRule& rule) { return !contains(rules, rule.id); });
  spec.only = ids_of(spec.rules);
  append(spec.only, ids_of(spec.facts));
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
  const FieldReader reader(profile, FieldReader::Mode::Part);
  visit_fields(spec.run, reader);
  visit_fields(spec.noise, reader);
  check_run(profile, spec.run);
  if (spec.noise.on_noisy != OnNoisy::Rerun) {
    refuse_without(profile, "max_reruns", "on_noisy", "rerun");
  }
  return spec;
}

Error unknown_profile(std::string_view origin, const std::string& profile,
                      const std::vector<std::string>& there) {
  const std::string what = there.empty() ? "it has none; run it without --profile"
                                         : "--profile takes one of: " + join(there, ", ");
  return usage_error("{}: there is no [profile.{}]; {}", origin, profile, what);
}

}  // namespace

void check_run(const TomlFields& table, const RunContract& run) {
  if (run.backend == "sim") {
    throw table.fault("backend", removed_word("[run]", "backend = \"sim\""));
  }
  if (run.min_launches <= run.launches) return;
  const std::string_view key = table.has("min_launches") ? "min_launches" : "launches";
  throw table.fault(key, "min_launches ({}) is more than launches ({}): there could be no verdict",
                    run.min_launches, run.launches);
}

Specification with_profile(const TomlFields& file, const Specification& specification,
                           const std::string& profile, const std::vector<std::string>& rules,
                           Faults& faults) {
  std::vector<std::string> there;
  std::optional<Specification> wanted;
  const bool is_whole = faults.count() == 0;  // else what is missing would be a fault of profiles
  const auto read_one = [&](const std::string& key, const toml::node& node) {
    there.push_back(key);
    const std::vector<std::string> keys{"expect", "launches",  "min_launches", "iterations",
                                        "warmup", "timeout_s", "max_cv",       "max_reruns"};
    const TomlFields fields(node, file.origin(), "[profile]");
    for (const Error& unknown : fields.unknown_keys(keys)) faults.add(unknown);
    if (!is_whole) return;
    Specification applied = apply(fields, specification, key, {});
    if (key != (profile.empty() ? "standard" : profile)) return;
    wanted = rules.empty() ? std::move(applied) : apply(fields, specification, key, rules);
  };
  if (file.has("profile")) {
    const TomlFields profiles(*file.find("profile"), file.origin(), "[profile]");
    for (const Error& unknown : profiles.unknown_keys({"quick", "standard", "full"})) {
      faults.add(unknown);
    }
    for (const auto& [key, node] : profiles.entries()) {
      if (key != "quick" && key != "standard" && key != "full") continue;
      faults.collect([&, &key = key, &node = node] { read_one(key, *node); });
    }
  }
  if (wanted || faults.count() > 0) return wanted.value_or(specification);
  if (!profile.empty()) throw unknown_profile(file.origin(), profile, there);
  Specification whole = specification;
  if (!rules.empty()) {
    keep_only(rules, whole);
    drop_unused_sets(whole);
  }
  return whole;
}

}  // namespace busbar::judge
