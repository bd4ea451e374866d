// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/spec/reader_parts.hpp"
#include "model/data_type.hpp"
#include "model/reduce_op.hpp"
#include "study/import/known_collective.hpp"

namespace busbar::judge {
namespace {

std::vector<std::string> read_collectives(const TomlFields& rule) {
  std::vector<std::string> names;
  for (const std::string& word : one_or_many(rule, "collective")) {
    const study::KnownCollective* known = study::find_collective(word);
    if (known == nullptr) {
      throw rule.fault("collective", unknown_word("collective", word, study::collective_names()));
    }
    names.emplace_back(known->name);
  }
  refuse_twice(rule, "collective", names);
  return names;
}

std::string read_type(const TomlFields& rule) {
  std::vector<std::string> names;
  for (const TypeInfo& type : kTypes) names.emplace_back(type.name);
  const auto which = rule.one_of("type", names);
  return which ? names[*which] : Expectation{}.type;
}

std::string read_op(const TomlFields& rule, const std::vector<std::string>& collectives) {
  const std::vector<std::string> names(kOpNames.begin(), kOpNames.end() - 1);
  const auto which = rule.one_of("op", names);
  const bool reduces = std::any_of(
      collectives.begin(), collectives.end(),
      [](const std::string& collective) { return study::find_collective(collective)->reduces; });
  if (which && !reduces) throw rule.fault("op", "op means nothing: no collective here reduces");
  return which ? names[*which] : Expectation{}.op;
}

void read_value(const TomlFields& rule, Expectation& expectation) {
  expectation.value_place = place_of(rule, "value");
  if (expectation.compare != Comparison::Absolute) {
    refuse_without(rule, {"value"}, "compare = \"absolute\"");
  } else if (rule.has("value")) {
    expectation.value = rule.positive("value", 0);
  }
}

void read_misses(const TomlFields& rule, Expectation& expectation) {
  const int most = static_cast<int>(expectation.sizes.size()) - 1;
  if (!rule.has("allow_misses")) return;
  if (expectation.compare == Comparison::Fleet) {
    throw rule.fault("allow_misses", "allow_misses means nothing where compare = \"fleet\"");
  }
  expectation.allow_misses = rule.integer("allow_misses", 0, std::max(most, 0), 0);
}

std::string read_source(const TomlFields& rule) {
  return rule.has("source") ? one_line(join(one_or_many(rule, "source"), " ")) : std::string();
}

std::optional<KnownIssue> read_known_issue(const TomlFields& rule) {
  const toml::node* found = rule.find("known_issue");
  if (found == nullptr) return std::nullopt;
  const TomlFields issue(*found, rule.origin(), "known_issue");
  issue.allow_only({"reason", "until"});
  return KnownIssue{.reason = issue.required_text("reason"), .until = read_day(issue, "until")};
}

const DeviceSetRule& set_of(const TomlFields& rule, const Specification& specification) {
  const std::string id = rule.required_text("device_set");
  std::vector<std::string> known;
  for (const DeviceSetRule& set : specification.device_sets) {
    if (set.id == id) return set;
    known.push_back(set.id);
  }
  throw rule.fault("device_set", unknown_word("device_set", id, known));
}

void read_what(const TomlFields& rule, Expectation& expectation) {
  static_cast<void>(rule.required("compare"));
  expectation.compare = static_cast<Comparison>(
      rule.one_of("compare", {"absolute", "theoretical", "baseline", "fleet"}).value_or(0));
  expectation.metric =
      static_cast<Metric>(rule.one_of("metric", {"busbw", "algbw", "time_us"}).value_or(0));
  expectation.statistic = static_cast<Statistic>(
      rule.one_of("statistic", {"median", "mean", "min", "p90", "p99", "max"}).value_or(0));
  expectation.in_place = rule.one_of("placement", {"out", "in"}).value_or(0) == 1;
}

void check_against_the_rest(const TomlFields& rule, const DeviceSetRule& set,
                            const Expectation& expectation, const Specification& specification) {
  if (expectation.compare == Comparison::Baseline && !specification.baseline) {
    throw rule.fault("compare", "compare = \"baseline\" needs a table [baseline] with its file");
  }
  if (expectation.compare == Comparison::Theoretical &&
      expectation.metric != Metric::BusBandwidth) {
    throw rule.fault("metric",
                     R"(compare = "theoretical" needs metric = "busbw": a ceiling is one of it)");
  }
  const int ranks = known_ranks(set, specification.system);
  if (expectation.metric == Metric::BusBandwidth && ranks == 1) {
    throw rule.fault("device_set",
                     fmt::format("one rank has no bus bandwidth: mend gpus or ranks_per_node of "
                                 "device_set \"{}\", or take metric = \"time_us\"",
                                 set.id));
  }
}

const std::vector<std::string>& rule_keys() {
  static const std::vector<std::string> kKeys{
      "id",      "collective",   "device_set",   "size",          "type",
      "op",      "placement",    "metric",       "statistic",     "compare",
      "value",   "fail_below",   "warn_below",   "warn_above",    "fail_above",
      "max_cv",  "allow_misses", "min_robust_z", "max_fleet_mad", "attribute",
      "confirm", "known_issue",  "source"};
  return kKeys;
}

Expectation read_rule(const toml::node& node, const TomlFields& file,
                      const Specification& specification) {
  const TomlFields rule(node, file.origin(), "[[expect]]");
  rule.allow_only(rule_keys());
  const DeviceSetRule& set = set_of(rule, specification);
  Expectation expectation{.id = rule.required_text("id"),
                          .collectives = read_collectives(rule),
                          .device_set = set.id,
                          .sizes = read_sizes(rule),
                          .type = read_type(rule),
                          .source = read_source(rule),
                          .known_issue = read_known_issue(rule),
                          .place = place_of(node),
                          .size_place = place_of(rule, "size")};
  expectation.op = read_op(rule, expectation.collectives);
  read_what(rule, expectation);
  read_value(rule, expectation);
  expectation.bounds = read_bounds(rule);
  if (rule.has("max_cv")) expectation.max_cv = rule.positive("max_cv", 0);
  if (expectation.max_cv.value_or(0) > 1) {
    throw rule.fault("max_cv", "max_cv is a fraction: 0.02 is 2 %; it must be at most 1");
  }
  read_misses(rule, expectation);
  read_fleet(rule, set, expectation);
  check_against_the_rest(rule, set, expectation, specification);
  return expectation;
}

}  // namespace

std::vector<Expectation> read_expectations(const TomlFields& file,
                                           const Specification& specification) {
  std::vector<Expectation> rules;
  for (const toml::node* node : file.list("expect")) {
    Expectation rule = read_rule(*node, file, specification);
    const bool twice = std::any_of(rules.begin(), rules.end(),
                                   [&](const Expectation& other) { return other.id == rule.id; });
    if (twice) {
      throw fault_at(file.origin(), node->source(),
                     fmt::format("there are two [[expect]] with id = \"{}\"", rule.id));
    }
    rules.push_back(std::move(rule));
  }
  if (rules.empty()) {
    throw file.fault("expect",
                     "the specification needs an [[expect]]: nothing expected is no test");
  }
  return rules;
}

}  // namespace busbar::judge
