// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/spec/reader_parts.hpp"

namespace busbar::judge {
namespace {

const std::vector<std::string>& profile_names() {
  static const std::vector<std::string> kNames{"quick", "standard", "full"};
  return kNames;
}

bool is_in(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> ids_of(const std::vector<DeviceSetRule>& sets) {
  std::vector<std::string> ids;
  for (const DeviceSetRule& set : sets) ids.push_back(set.id);
  return ids;
}

std::vector<std::string> ids_of(const std::vector<Expectation>& rules) {
  std::vector<std::string> ids;
  for (const Expectation& rule : rules) ids.push_back(rule.id);
  return ids;
}

/// The ids that a key lists, each of which there is.
std::vector<std::string> chosen(const TomlFields& profile, std::string_view key,
                                const std::vector<std::string>& known) {
  std::vector<std::string> ids = one_or_many(profile, key);
  for (const std::string& id : ids) {
    if (!is_in(known, id)) throw profile.fault(key, unknown_word("id", id, known));
  }
  return ids;
}

void choose_rules(const TomlFields& profile, Specification& spec) {
  if (profile.has("expect")) {
    const auto ids = chosen(profile, "expect", ids_of(spec.expectations));
    std::erase_if(spec.expectations, [&](const Expectation& rule) { return !is_in(ids, rule.id); });
  }
  if (!profile.has("device_sets")) return;
  const auto sets = chosen(profile, "device_sets", ids_of(spec.device_sets));
  for (const Expectation& rule : spec.expectations) {
    if (is_in(sets, rule.device_set) || !profile.has("expect")) continue;
    throw profile.fault("expect", fmt::format("rule \"{}\" needs device_set \"{}\", which "
                                              "device_sets of this profile leaves out",
                                              rule.id, rule.device_set));
  }
  std::erase_if(spec.expectations,
                [&](const Expectation& rule) { return !is_in(sets, rule.device_set); });
  for (const std::string& set : sets) {
    const bool used = std::any_of(spec.expectations.begin(), spec.expectations.end(),
                                  [&](const Expectation& rule) { return rule.device_set == set; });
    if (!used) {
      throw profile.fault("device_sets",
                          fmt::format("no rule of this profile is for device_set \"{}\"", set));
    }
  }
}

/// What no rule of the profile needs is not measured.
void drop_unused_sets(Specification& spec) {
  std::erase_if(spec.device_sets, [&](const DeviceSetRule& set) {
    return std::none_of(spec.expectations.begin(), spec.expectations.end(),
                        [&](const Expectation& rule) { return rule.device_set == set.id; });
  });
}

void limit_sizes(const TomlFields& profile, Specification& spec) {
  if (!profile.has("max_size")) return;
  Bytes most = 0;
  try {
    most = parse_bytes("max_size", profile.required_text("max_size"));
  } catch (const Error& error) {
    throw profile.fault("max_size", error.what());
  }
  for (Expectation& rule : spec.expectations) {
    std::erase_if(rule.sizes, [&](Bytes size) { return size > most; });
    if (rule.sizes.empty()) {
      throw profile.fault("max_size", fmt::format("max_size leaves no size of rule \"{}\"; name "
                                                  "the rules that stay in expect = [...]",
                                                  rule.id));
    }
    const int misses = static_cast<int>(rule.sizes.size()) - 1;
    rule.allow_misses = std::min(rule.allow_misses, misses);
  }
}

/// `known` are the ids that may have a value.
void read_values(const TomlFields& profile, const std::vector<std::string>& known,
                 Specification& spec) {
  const toml::node* found = profile.find("values");
  if (found == nullptr) return;
  const TomlFields values(*found, profile.origin(), "values");
  values.allow_only(known);
  for (Expectation& rule : spec.expectations) {
    if (!values.has(rule.id)) continue;
    if (rule.compare != Comparison::Absolute) {
      throw values.fault(rule.id,
                         fmt::format("a value means nothing for rule \"{}\", which is compared "
                                     "with another reference",
                                     rule.id));
    }
    rule.value = values.positive(rule.id, 0);
    rule.value_place = place_of(values, rule.id);
  }
}

void need_values(std::string_view origin, const Specification& spec) {
  for (const Expectation& rule : spec.expectations) {
    if (rule.compare != Comparison::Absolute || rule.value) continue;
    throw usage_error(fmt::format(R"({}:{}:{}: rule "{}" needs value, since compare = "absolute")",
                                  origin, rule.place.line, rule.place.column, rule.id));
  }
}

/// Only the rules that were asked for.
void keep_only(const std::vector<std::string>& rules, Specification& spec) {
  const std::vector<std::string> known = ids_of(spec.expectations);
  for (const std::string& id : rules) {
    if (is_in(known, id)) continue;
    const std::string near = nearest_word(id, known);
    throw usage_error(fmt::format("--rule {}: {} has no such rule; there are {}{}", id, spec.file,
                                  join(known, ", "),
                                  near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
  std::erase_if(spec.expectations, [&](const Expectation& rule) { return !is_in(rules, rule.id); });
  for (const Expectation& rule : spec.expectations) spec.only.push_back(rule.id);
}

/// With `rules` these stay, whichever the profile chooses.
Specification apply(const TomlFields& profile, Specification spec, const std::string& name,
                    const std::vector<std::string>& rules) {
  profile.allow_only({"device_sets", "expect", "launches", "min_launches", "iterations", "warmup",
                      "timeout_s", "max_cv", "max_reruns", "max_size", "values"});
  spec.profile = name;
  std::vector<std::string> valued = ids_of(spec.expectations);
  if (rules.empty()) {
    choose_rules(profile, spec);
    valued = ids_of(spec.expectations);
  } else {
    keep_only(rules, spec);
  }
  if (spec.expectations.empty()) {
    throw profile.fault("expect", "no rule is left: a profile without rules tests nothing");
  }
  drop_unused_sets(spec);
  read_run_numbers(profile, spec.run);
  read_noise_numbers(profile, spec.noise);
  limit_sizes(profile, spec);
  read_values(profile, valued, spec);
  need_values(profile.origin(), spec);
  return spec;
}

Error unknown_profile(std::string_view origin, const std::string& profile,
                      const std::vector<std::string>& there) {
  const std::string what = there.empty()
                               ? "it has none; run it without --profile"
                               : fmt::format("--profile takes one of: {}", join(there, ", "));
  return usage_error(fmt::format("{}: there is no [profile.{}]; {}", origin, profile, what));
}

}  // namespace

Specification with_profile(const TomlFields& file, const Specification& specification,
                           const std::string& profile, const std::vector<std::string>& rules) {
  std::vector<std::string> there;
  std::optional<Specification> wanted;
  const std::string name = profile.empty() ? "standard" : profile;
  if (file.has("profile")) {
    const TomlFields profiles(*file.find("profile"), file.origin(), "[profile]");
    profiles.allow_only(profile_names());
    for (const auto& [key, node] : profiles.entries()) {
      there.push_back(key);
      const TomlFields fields(*node, file.origin(), fmt::format("[profile.{}]", key));
      Specification applied = apply(fields, specification, key, {});
      if (key != name) continue;
      wanted = rules.empty() ? std::move(applied) : apply(fields, specification, key, rules);
    }
  }
  if (wanted) return *wanted;
  if (!profile.empty()) throw unknown_profile(file.origin(), profile, there);
  Specification whole = specification;
  if (!rules.empty()) {
    keep_only(rules, whole);
    drop_unused_sets(whole);
  }
  need_values(file.origin(), whole);
  return whole;
}

}  // namespace busbar::judge
