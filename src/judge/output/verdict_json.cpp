// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/verdict_json.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "judge/output/describe.hpp"

namespace busbar::judge {
namespace {

using Json = nlohmann::ordered_json;

Json number(std::optional<double> value) { return finite(value) ? Json(*value) : Json(nullptr); }

Json bounds_of(const Bounds& bounds) {
  return {{"fail_below", number(bounds.fail_below)},
          {"warn_below", number(bounds.warn_below)},
          {"warn_above", number(bounds.warn_above)},
          {"fail_above", number(bounds.fail_above)}};
}

Json verdict_of(const RuleVerdict& verdict) {
  Json values = Json::array();
  for (const double value : verdict.values) values.push_back(number(value));
  return {{"rule", verdict.rule},
          {"device_set", verdict.device_set},
          {"instance", verdict.instance},
          {"nodes", verdict.nodes},
          {"collective", verdict.collective},
          {"dtype", verdict.type},
          {"size_bytes", verdict.size},
          {"metric", name(verdict.metric)},
          {"unit", unit(verdict.metric)},
          {"statistic", name(verdict.statistic)},
          {"values", values},
          {"value", number(verdict.value)},
          {"cv", number(verdict.cv)},
          {"reference", number(verdict.reference)},
          {"reference_kind", verdict.reference_kind},
          {"ratio", number(verdict.ratio)},
          {"bounds", bounds_of(verdict.bounds)},
          {"verdict", name(verdict.word)},
          {"reason", verdict.reason},
          {"attempts", verdict.attempts}};
}

Json rules_of(const Specification& specification) {
  Json rules = Json::array();
  for (const Expectation& rule : specification.expectations) {
    rules.push_back({{"rule", rule.id},
                     {"reference", reference_words(rule)},
                     {"source", rule.source.empty() ? Json() : Json(rule.source)}});
  }
  return rules;
}

Json fingerprint_of(const SystemIdentity& system) {
  Json facts = Json::object();
  for (const auto& [fact, wanted] : system.fingerprint) facts[fact] = join(wanted, " or ");
  return facts;
}

Json contract_of(const Specification& specification) {
  const RunContract& run = specification.run;
  const CeilingRule& ceiling = specification.ceiling;
  return {{"launches", run.launches},
          {"min_launches", run.min_launches},
          {"iterations", run.iterations},
          {"warmup", run.warmup},
          {"check_data", run.check_data},
          {"timeout_s", number(run.timeout_s)},
          {"backend", run.backend},
          {"max_cv", number(specification.noise.max_cv)},
          {"max_reruns", specification.noise.max_reruns},
          {"scale_up_GBps", number(ceiling.scale_up)},
          {"scale_out_GBps", number(ceiling.scale_out)},
          {"ceiling_system", ceiling.system},
          {"fingerprint", fingerprint_of(specification.system)},
          {"rules", rules_of(specification)}};
}

Json suspects_of(const Judgement& judgement) {
  Json array = Json::array();
  for (const Suspect& suspect : judgement.suspects) {
    array.push_back({{"kind", suspect.nodes.size() == 2 ? "link" : "node"},
                     {"nodes", suspect.nodes},
                     {"rule", suspect.rule},
                     {"evidence", suspect.evidence},
                     {"confirmed", suspect.confirmed}});
  }
  return array;
}

Json nodes_of(const Judgement& judgement) {
  Json array = Json::array();
  for (const NodeAccount& account : judgement.nodes) {
    array.push_back(
        {{"node", account.node}, {"state", name(account.state)}, {"evidence", account.evidence}});
  }
  return array;
}

Json counts_of(const Judgement& judgement) {
  Json counts = Json::object();
  for (const Word word : all_values<Word>())
    counts[std::string(name(word))] = judgement.count(word);
  return counts;
}

}  // namespace

std::string verdict_json(const Judgement& judgement, const Specification& specification) {
  const Accounting accounting = account_for(judgement, specification);
  Json json{{"schema", 1},
            {"busbar", judgement.head.version},
            {"system", specification.system.name},
            {"specification", specification.file},
            {"profile", specification.profile},
            {"judged", judgement.head.judged_at},
            {"judged_unix", judgement.head.judged_at_unix},
            {"seed", judgement.head.seed},
            {"overall", name(judgement.overall())},
            {"exit_code", exit_code_of(judgement, false)},
            {"exit_code_strict", exit_code_of(judgement, true)},
            {"counts", counts_of(judgement)},
            {"contract", contract_of(specification)}};
  json["verdicts"] = Json::array();
  for (const RuleVerdict& verdict : judgement.verdicts) {
    json["verdicts"].push_back(verdict_of(verdict));
  }
  json["suspects"] = suspects_of(judgement);
  json["nodes"] = nodes_of(judgement);
  json["nodes_missing"] = accounting.missing;
  json["notes"] = judgement.head.notes;
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace busbar::judge
