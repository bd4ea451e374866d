// SPDX-License-Identifier: BSD-3-Clause

#include "base/text.hpp"
#include "format/csv_writer.hpp"
#include "format/json.hpp"
#include "judge/output/describe.hpp"
#include "judge/output/verdict_output.hpp"

namespace busbar::judge {
namespace {

Json contract_json(const Specification& specification) {
  const RunContract& run = specification.run;
  Json fingerprint = Json::object();
  for (const auto& [fact, wanted] : specification.system.fingerprint) {
    fingerprint[fact] = join(wanted, " or ");
  }
  const auto rule_json = [](const char* key, auto text_of) {
    return [=](const auto& rule) {
      return Json{{"rule", rule.id},
                  {key, text_of(rule)},
                  {"source", rule.source.empty() ? Json() : Json(rule.source)}};
    };
  };
  return {{"launches", run.launches},
          {"min_launches", run.min_launches},
          {"iterations", run.iterations},
          {"warmup", run.warmup},
          {"check_data", run.check_data},
          {"timeout_s", run.timeout_s},
          {"backend", run.backend},
          {"same_machine", run.same_machine},
          {"max_cv", specification.noise.max_cv},
          {"max_reruns", specification.noise.max_reruns},
          {"ceiling_system", specification.ceiling.system},
          {"fingerprint", fingerprint},
          {"rules", json_array(specification.rules, rule_json("reference", reference_text))},
          {"facts", json_array(specification.facts, rule_json("limit", limit_text))}};
}

/// The CSV's columns; lists are arrays, and bounds an object.
Json result_json(const CheckResult& result) {
  Json json;
  for (const Column<CheckResult>& column : result_columns()) {
    const std::string key(column.name);
    const bool is_bound = key.ends_with("_below") || key.ends_with("_above");
    (is_bound ? json["bounds"][key] : json[key]) = to_json(column.get(result));
  }
  json["nodes"] = result.nodes;
  return json;
}

Json suspects_json(const Acceptance& acceptance) {
  return json_array(acceptance.suspects, [](const Suspect& suspect) {
    return Json{{"kind", !suspect.path.empty()       ? "path"
                         : suspect.nodes.size() == 2 ? "link"
                                                     : "node"},
                {"nodes", suspect.nodes},
                {"path", suspect.path},
                {"rule", suspect.rule},
                {"evidence", suspect.evidence},
                {"defect", name(suspect.defect)},
                {"wrong_data", suspect.defect == Defect::WrongData}};
  });
}

}  // namespace

std::string verdict_csv(const Acceptance& acceptance, const Specification& specification) {
  const AcceptanceHead& head = acceptance.head;
  const HeaderFacts facts{{"system", system_name(specification)},
                          {"specification", specification.file},
                          {"profile", specification.profile},
                          {"busbar", head.version},
                          {"judged", head.judged_at},
                          {"seed", head.seed},
                          {"overall", std::string(name(acceptance.overall()))}};
  return csv_head(facts, head.notes) + csv_text(result_columns(), acceptance.verdicts, exact);
}

std::string verdict_json(const Acceptance& acceptance, const Specification& specification) {
  const AcceptanceHead& head = acceptance.head;
  Json counts = Json::object();
  for (const Outcome outcome : all_values<Outcome>()) {
    counts[std::string(name(outcome))] = acceptance.count(outcome);
  }
  const auto node_json = [](const NodeAccount& account) {
    return Json{
        {"node", account.node}, {"state", name(account.state)}, {"evidence", account.evidence}};
  };
  return json_text({{"schema", 1},
                    {"busbar", head.version},
                    {"system", specification.system.name},
                    {"specification", specification.file},
                    {"profile", specification.profile},
                    {"judged", head.judged_at},
                    {"judged_unix", head.judged_at_unix},
                    {"seed", head.seed},
                    {"overall", name(acceptance.overall())},
                    {"exit_code", exit_code_of(acceptance, false)},
                    {"exit_code_strict", exit_code_of(acceptance, true)},
                    {"counts", counts},
                    {"contract", contract_json(specification)},
                    {"verdicts", json_array(acceptance.verdicts, result_json)},
                    {"suspects", suspects_json(acceptance)},
                    {"nodes", json_array(acceptance.nodes, node_json)},
                    {"nodes_missing", account_for(acceptance, specification).missing},
                    {"notes", head.notes}});
}

}  // namespace busbar::judge
