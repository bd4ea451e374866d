// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/toml_fields.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// What the value of a key must be, beside its type.
struct FieldCheck {
  bool required = false;
  /// The text of another key beside which alone this one may stand, and where required must.
  struct {
    std::string_view key{};
    std::string_view text{};
  } only_with{};
  int least = 0;  ///< of a whole number
  int most = std::numeric_limits<int>::max();
  std::optional<int> automatic{};  ///< the number that "auto" stands for
  bool fraction = false;           ///< at most 1
  bool may_be_zero = false;
  bool one_or_many = false;  ///< a text or a list of different texts; a text is their sentence
  bool hosts = false;        ///< a text as Slurm writes lists of hosts
  bool calendar_date = false;
  std::string_view if_false{};  ///< the two names of a flag that is not true or false
  std::string_view if_true{};
  std::string_view json{};  ///< the member of the dump, where that is not the key
};

template <class T, class Struct>
concept Either = std::same_as<std::remove_const_t<T>, Struct>;

/// @name The keys of each table in the order of the dump
/// One list for the reader, the known keys and the dump: `visit(key, member, FieldCheck)`.
/// @{
void visit_fields(Either<SystemIdentity> auto& system, const auto& visit) {
  visit("name", system.name, {.required = true});
  visit("fingerprint", system.fingerprint);
  visit("nodes", system.nodes);
}

void visit_fields(Either<CeilingRule> auto& ceiling, const auto& visit) {
  visit("model", ceiling.model);
  visit("in_network_reduction", ceiling.in_network_reduction,
        {.if_false = "none", .if_true = "measured"});
  visit("system", ceiling.system, {.required = true});
}

void visit_fields(Either<RunContract> auto& run, const auto& visit) {
  constexpr int kMostLaunches = 10'000;
  visit("launches", run.launches, {.required = true, .least = 1, .most = kMostLaunches});
  visit("min_launches", run.min_launches, {.required = true, .least = 1, .most = kMostLaunches});
  visit("iterations", run.iterations, {.least = 1, .automatic = 0});
  visit("warmup", run.warmup, {.automatic = -1});
  visit("check_data", run.check_data);
  visit("timeout_s", run.timeout_s, {.required = true});
  visit("backend", run.backend);
  visit("reach_timeout_s", run.reach_timeout_s);
  visit("same_machine", run.same_machine);
  visit("at_once", run.at_once, {.least = 1, .most = kMostAtOnce});
}

void visit_fields(Either<NoiseGate> auto& noise, const auto& visit) {
  constexpr int kMostReruns = 100;
  visit("max_cv", noise.max_cv, {.required = true, .fraction = true});
  visit("on_noisy", noise.on_noisy, {.required = true});
  visit("max_reruns", noise.max_reruns,
        {.required = true, .only_with = {"on_noisy", "rerun"}, .most = kMostReruns});
}

void visit_fields(Either<BaselineRule> auto& baseline, const auto& visit) {
  visit("run", baseline.run, {.required = true});
}

void visit_fields(Either<DeviceSetRule> auto& set, const auto& visit) {
  constexpr int kMostRanks = 100'000;
  constexpr int kMostPartners = 1'000;
  visit("id", set.id, {.required = true});
  visit("kind", set.kind, {.required = true});
  visit("gpus", set.gpus);
  visit("ranks_per_node", set.ranks_per_node, {.least = 1, .most = kMostRanks});
  visit("partners", set.partners,
        {.only_with = {"kind", "pairwise"}, .least = 1, .most = kMostPartners});
  visit("env", set.env);
  visit("backend_options", set.backend_options);
  visit("fingerprint", set.fingerprint);
}

void visit_fields(Either<KnownIssue> auto& issue, const auto& visit) {
  visit("reason", issue.reason, {.required = true});
  visit("until", issue.until, {.required = true, .calendar_date = true});
  visit("nodes", issue.nodes, {.hosts = true});
}

void visit_fields(Either<Rule> auto& rule, const auto& visit) {
  visit("id", rule.id, {.required = true});
  visit("collective", rule.collectives, {.required = true, .one_or_many = true});
  visit("device_set", rule.device_set, {.required = true});
  visit("size", rule.sizes, {.required = true});
  visit("type", rule.type);
  visit("placement", rule.in_place, {.if_false = "out", .if_true = "in", .json = "in_place"});
  visit("metric", rule.metric);
  visit("statistic", rule.statistic);
  visit("compare", rule.compare, {.required = true});
  visit("value", rule.value, {.required = true, .only_with = {"compare", "absolute"}});
  visit("source", rule.source, {.one_or_many = true});
  visit("fail_below", rule.bounds.fail_below);
  visit("warn_below", rule.bounds.warn_below);
  visit("warn_above", rule.bounds.warn_above);
  visit("fail_above", rule.bounds.fail_above);
  visit("max_cv", rule.max_cv, {.fraction = true});
  visit("min_robust_z", rule.min_robust_z, {.only_with = {"compare", "fleet"}});
  visit("max_fleet_mad", rule.max_fleet_mad, {.only_with = {"compare", "fleet"}, .fraction = true});
  visit("known_issue", rule.known_issue);
}

void visit_fields(Either<FactRule> auto& rule, const auto& visit) {
  visit("id", rule.id);
  visit("fact", rule.fact, {.required = true});
  visit("instance", rule.instance);
  visit("delta_max", rule.delta_max, {.may_be_zero = true});
  visit("at_least", rule.at_least);
  visit("equals", rule.equals, {.one_or_many = true});
  visit("same", rule.same);
  visit("source", rule.source, {.one_or_many = true});
}

void visit_fields(Either<SoakRule> auto& rule, const auto& visit) {
  constexpr int kDay = 86'400;
  visit("size", rule.sizes, {.required = true});
  visit("turn_s", rule.turn_s, {.least = 1, .most = kDay});
  visit("level_max", rule.level_max, {.fraction = true});
  visit("drift_max", rule.drift_max, {.fraction = true});
  visit("dips_max", rule.dips_max);
  visit("recover_s_max", rule.recover_s_max);
}

void visit_fields(Either<Specification> auto& specification, const auto& visit) {
  visit("system", specification.system);
  visit("ceiling", specification.ceiling);
  visit("run", specification.run);
  visit("noise", specification.noise);
  visit("baseline", specification.baseline);
  visit("device_set", specification.device_sets);
  visit("expect", specification.rules);
  visit("expect_fact", specification.facts);
  visit("soak", specification.soak);
}
/// @}

template <class T>
concept TableOfFields = requires(T& table) {
  visit_fields(table, [](std::string_view, auto&, const FieldCheck& = {}) {});
};

/// What is wrong with a file: reading goes on, so that all of it is found at once.
class Faults {
 public:
  /// Runs a step of reading and keeps the Error (Usage) that it throws.
  void collect(const std::function<void()>& step);
  void add(const std::vector<Error>& faults);
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] std::size_t count() const { return lines_.size(); }

 private:
  std::vector<std::string> lines_{};  ///< each once
};

/// Where a value stands; `origin` is the specification's own file.
[[nodiscard]] TextPlace place_of(const toml::node& node, std::string_view origin);
/// Where a key's value stands; nowhere (0:0) where it is missing.
[[nodiscard]] TextPlace place_of(const TomlFields& table, std::string_view key);

/// A text, or a list of texts, as a list; refuses an empty one and one that is there twice.
[[nodiscard]] std::vector<std::string> one_or_many(const TomlFields& table, std::string_view key);
/// Throws where a text is there twice.
void refuse_twice(const TomlFields& table, std::string_view key, std::vector<std::string> texts);
/// Throws where the key is there: "KEY is only valid with OTHER = "TEXT"".
void refuse_without(const TomlFields& table, std::string_view key, std::string_view other,
                    std::string_view text);

/// Reads the keys that a table has into the fields of a struct; what is missing stays. Throws Error
/// (Usage) with file:line:column for values that the field's check refuses.
class FieldReader {
 public:
  /// Of a part of a table: whatever keys there are.
  explicit FieldReader(const TomlFields& table) : table_(table) {}
  /// Of a whole table with these keys; `faults` collects. What is misspelt is not also missing.
  FieldReader(const TomlFields& table, const std::vector<std::string>& keys, Faults* faults);

  void operator()(std::string_view key, auto& value, const FieldCheck& check = {}) const {
    const auto step = [&] {
      if (is_whole_) check_presence(key, check);
      if (table_.has(key)) read(key, value, check);
    };
    if (faults_ == nullptr) return step();
    faults_->collect(step);
  }

 private:
  /// Throws where a key must or must not be there.
  void check_presence(std::string_view key, const FieldCheck& check) const;
  void read(std::string_view key, std::string& value, const FieldCheck& check) const;
  void read(std::string_view key, bool& value, const FieldCheck& check) const;
  void read(std::string_view key, int& value, const FieldCheck& check) const;
  void read(std::string_view key, double& value, const FieldCheck& check) const;
  void read(std::string_view key, std::vector<std::string>& value, const FieldCheck& check) const;
  void read(std::string_view key, std::vector<Bytes>& value, const FieldCheck& check) const;
  void read(std::string_view key, Fingerprint& value, const FieldCheck& check) const;
  void read(std::string_view key, VariableMap& value, const FieldCheck& check) const;

  template <class T>
  void read(std::string_view key, std::optional<T>& value, const FieldCheck& check) const;

  template <NamedEnum Enum>
  void read(std::string_view key, Enum& value, const FieldCheck& /*check*/) const {
    value = table_.value<Enum>(key).value_or(enum_names(Enum{}).front().value);
  }

  const TomlFields& table_;
  bool is_whole_ = false;
  Faults* faults_ = nullptr;
  std::vector<std::string> misspelt_{};  ///< what the unknown keys of the table seem to mean
};

template <TableOfFields Struct>
[[nodiscard]] std::vector<std::string> keys_of() {
  std::vector<std::string> keys;
  Struct fields;
  visit_fields(fields, [&](std::string_view key, const auto&, const FieldCheck& = {}) {
    keys.emplace_back(key);
  });
  return keys;
}

/// A table as a struct; refuses keys that are not of its fields.
template <TableOfFields Struct>
[[nodiscard]] Struct read_fields(const TomlFields& table, Faults* faults = nullptr) {
  Struct value;
  visit_fields(value, FieldReader(table, keys_of<Struct>(), faults));
  return value;
}

/// The same with faults; `check(value)` runs if there were none.
template <TableOfFields Struct, class Check>
[[nodiscard]] Struct read_checked(const TomlFields& table, Faults& faults, const Check& check) {
  const std::size_t before = faults.count();
  auto value = read_fields<Struct>(table, &faults);
  if (faults.count() == before) faults.collect([&] { check(value); });
  return value;
}

template <class T>
void FieldReader::read(std::string_view key, std::optional<T>& value,
                       const FieldCheck& check) const {
  if constexpr (TableOfFields<T>) {
    value = read_fields<T>({table_.required(key), table_.origin(), std::string(key)});
  } else {
    read(key, value.emplace(), check);
  }
}

}  // namespace busbar::judge
