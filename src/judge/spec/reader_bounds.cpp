// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <fmt/format.h>

#include "judge/spec/reader_parts.hpp"

namespace busbar::judge {
namespace {

struct NamedBound {
  std::string_view key{};
  std::optional<double> value{};
};

bool is_lower(std::string_view key) { return key.ends_with("_below"); }

void check_pair(const TomlFields& rule, const NamedBound& lower, const NamedBound& upper) {
  const bool may_equal = is_lower(lower.key) == is_lower(upper.key);
  const bool rises = may_equal ? *lower.value <= *upper.value : *lower.value < *upper.value;
  if (rises) return;
  throw rule.fault(upper.key,
                   fmt::format("{} = {} must be {} {} = {}", upper.key, *upper.value,
                               may_equal ? "at least" : "above", lower.key, *lower.value));
}

/// fail_below <= warn_below < warn_above <= fail_above of those that are there.
void check_order(const TomlFields& rule, const Bounds& bounds) {
  const std::array<NamedBound, 4> rising{{{"fail_below", bounds.fail_below},
                                          {"warn_below", bounds.warn_below},
                                          {"warn_above", bounds.warn_above},
                                          {"fail_above", bounds.fail_above}}};
  const NamedBound* last = nullptr;
  for (const NamedBound& bound : rising) {
    if (!bound.value) continue;
    if (last != nullptr) check_pair(rule, *last, bound);
    last = &bound;
  }
  if (last != nullptr) return;
  throw rule.fault("id",
                   "the rule has no bound: give fail_below, warn_below, warn_above or "
                   "fail_above; there is no tolerance that is not written down");
}

std::optional<double> bound_of_key(const TomlFields& rule, std::string_view key) {
  if (!rule.has(key)) return std::nullopt;
  return rule.positive(key, 0);
}

void read_confirm(const TomlFields& rule, const DeviceSetRule& set, Expectation& expectation) {
  const toml::node* found = rule.find("confirm");
  if (found == nullptr) return;
  if (set.kind != SetKind::Pairwise) {
    throw rule.fault("confirm",
                     fmt::format("confirm needs a device set of kind = \"pairwise\": {} is \"{}\", "
                                 "where no partner can be changed",
                                 set.id, name(set.kind)));
  }
  constexpr int kMost = 100;
  const TomlFields confirm(*found, rule.origin(), "confirm");
  confirm.allow_only({"partner", "repeats"});
  static_cast<void>(confirm.required("repeats"));
  static_cast<void>(confirm.one_of("partner", {"known_good"}));
  expectation.confirm_repeats = confirm.integer("repeats", 1, kMost, 0);
}

}  // namespace

Bounds read_bounds(const TomlFields& rule) {
  const Bounds bounds{.fail_below = bound_of_key(rule, "fail_below"),
                      .warn_below = bound_of_key(rule, "warn_below"),
                      .warn_above = bound_of_key(rule, "warn_above"),
                      .fail_above = bound_of_key(rule, "fail_above")};
  check_order(rule, bounds);
  return bounds;
}

void read_fleet(const TomlFields& rule, const DeviceSetRule& set, Expectation& expectation) {
  if (expectation.compare != Comparison::Fleet) {
    refuse_without(rule, {"min_robust_z", "max_fleet_mad", "attribute", "confirm"},
                   "compare = \"fleet\"");
    return;
  }
  for (const char* key : {"fail_below", "min_robust_z", "max_fleet_mad"}) {
    static_cast<void>(rule.required(key));
  }
  if (expectation.metric == Metric::Time) {
    throw rule.fault("metric",
                     "compare = \"fleet\" needs a bandwidth: metric = \"busbw\" or "
                     "\"algbw\"");
  }
  if (set.kind == SetKind::Whole || set.kind == SetKind::List) {
    throw rule.fault("compare", fmt::format("compare = \"fleet\" needs several sets of nodes: {} "
                                            "is \"{}\", which is one",
                                            set.id, name(set.kind)));
  }
  if (*expectation.bounds.fail_below >= 1) {
    throw rule.fault("fail_below", "fail_below of a fleet's median must be below 1");
  }
  expectation.min_robust_z = rule.positive("min_robust_z", 0);
  expectation.max_fleet_mad = rule.positive("max_fleet_mad", 0);
  if (expectation.max_fleet_mad > 1) {
    throw rule.fault("max_fleet_mad", "max_fleet_mad is a fraction: 0.05 is 5 %");
  }
  static_cast<void>(rule.one_of("attribute", {"node"}));
  read_confirm(rule, set, expectation);
}

}  // namespace busbar::judge
