// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/specification_json.hpp"

#include <nlohmann/json.hpp>

namespace busbar::judge {
namespace {

using Json = nlohmann::ordered_json;

Json figure(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::string_view name(OnNoisy on_noisy) {
  switch (on_noisy) {
    case OnNoisy::Rerun: return "rerun";
    case OnNoisy::Warn: return "warn";
    case OnNoisy::Inconclusive: break;
  }
  return "inconclusive";
}

Json system_json(const SystemIdentity& system) {
  return {{"name", system.name}, {"fingerprint", system.fingerprint}, {"nodes", system.nodes}};
}

Json ceiling_json(const CeilingRule& ceiling) {
  const bool hierarchical = ceiling.model == CeilingModel::Hierarchical;
  return {{"scale_up", figure(ceiling.scale_up)},
          {"scale_out", figure(ceiling.scale_out)},
          {"model", hierarchical ? "hierarchical" : "ring"},
          {"in_network_reduction", ceiling.in_network_reduction ? "measured" : "none"},
          {"system", ceiling.system}};
}

Json run_json(const RunContract& run) {
  return {{"launches", run.launches},     {"min_launches", run.min_launches},
          {"iterations", run.iterations}, {"warmup", run.warmup},
          {"check_data", run.check_data}, {"timeout_s", run.timeout_s},
          {"backend", run.backend},       {"reach_timeout_s", run.reach_timeout_s},
          {"parallel", run.parallel},     {"at_once", run.at_once ? Json(*run.at_once) : Json()}};
}

Json noise_json(const NoiseGate& noise) {
  const bool all = noise.decide == Decide::AllSamples;
  return {{"max_cv", noise.max_cv},
          {"on_noisy", name(noise.on_noisy)},
          {"max_reruns", noise.max_reruns},
          {"decide", all ? "all_samples" : "last"}};
}

Json set_json(const DeviceSetRule& set) {
  return {{"id", set.id},       {"kind", name(set.kind)},
          {"gpus", set.gpus},   {"ranks_per_node", set.ranks_per_node},
          {"nodes", set.nodes}, {"all_pairs_up_to", set.all_pairs_up_to}};
}

Json known_issue_json(const std::optional<KnownIssue>& issue) {
  if (!issue) return {};
  return {{"reason", issue->reason}, {"until", issue->until}};
}

Json rule_json(const Expectation& rule) {
  return {{"id", rule.id},
          {"collective", rule.collectives},
          {"device_set", rule.device_set},
          {"size", rule.sizes},
          {"type", rule.type},
          {"op", rule.op},
          {"in_place", rule.in_place},
          {"metric", name(rule.metric)},
          {"statistic", name(rule.statistic)},
          {"compare", name(rule.compare)},
          {"value", figure(rule.value)},
          {"source", rule.source},
          {"fail_below", figure(rule.bounds.fail_below)},
          {"warn_below", figure(rule.bounds.warn_below)},
          {"warn_above", figure(rule.bounds.warn_above)},
          {"fail_above", figure(rule.bounds.fail_above)},
          {"max_cv", figure(rule.max_cv)},
          {"allow_misses", rule.allow_misses},
          {"min_robust_z", rule.min_robust_z},
          {"max_fleet_mad", rule.max_fleet_mad},
          {"confirm_repeats", rule.confirm_repeats},
          {"known_issue", known_issue_json(rule.known_issue)}};
}

Json baseline_json(const std::optional<BaselineRule>& baseline) {
  if (!baseline) return {};
  return {{"file", baseline->file},
          {"max_age_days", baseline->max_age_days},
          {"must_match", baseline->must_match}};
}

}  // namespace

std::string specification_json(const Specification& specification) {
  Json sets = Json::array();
  for (const DeviceSetRule& set : specification.device_sets) sets.push_back(set_json(set));
  Json rules = Json::array();
  for (const Expectation& rule : specification.expectations) {
    rules.push_back(rule_json(rule));
  }
  const Json all = {{"file", specification.file},
                    {"profile", specification.profile},
                    {"system", system_json(specification.system)},
                    {"ceiling", ceiling_json(specification.ceiling)},
                    {"run", run_json(specification.run)},
                    {"noise", noise_json(specification.noise)},
                    {"baseline", baseline_json(specification.baseline)},
                    {"device_set", sets},
                    {"expect", rules}};
  return all.dump(2) + "\n";
}

}  // namespace busbar::judge
