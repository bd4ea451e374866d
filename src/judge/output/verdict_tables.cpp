// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "judge/csv_table.hpp"
#include "judge/output/describe.hpp"
#include "judge/output/verdict_output.hpp"

namespace busbar::judge {
namespace {

using Json = nlohmann::ordered_json;

Json number(std::optional<double> value) { return finite(value) ? Json(*value) : Json(nullptr); }

/// The cells of a row by the names of their columns, in the order of the CSV; the JSON has the same
/// members in kMembers' order, but for n_launches.
std::vector<std::pair<const char*, Json>> cells_of(const CheckResult& verdict) {
  const Bounds& bounds = verdict.bounds;
  Json values = Json::array();
  for (const double value : verdict.values) values.push_back(number(value));
  return {{"rule", verdict.rule},
          {"device_set", verdict.device_set},
          {"collective", verdict.collective},
          {"dtype", verdict.type},
          {"size_bytes", verdict.size},
          {"metric", name(verdict.metric)},
          {"unit", unit(verdict.metric)},
          {"statistic", name(verdict.statistic)},
          {"n_launches", verdict.values.size()},
          {"value", number(verdict.value)},
          {"cv", number(verdict.cv)},
          {"reference", number(verdict.reference)},
          {"reference_kind", verdict.reference_kind},
          {"ratio", number(verdict.ratio)},
          {"fail_below", number(bounds.fail_below)},
          {"fail_above", number(bounds.fail_above)},
          {"verdict", name(verdict.outcome)},
          {"reason", verdict.reason},
          {"attempts", verdict.attempts},
          {"instance", verdict.instance},
          {"nodes", verdict.nodes},
          {"warn_below", number(bounds.warn_below)},
          {"warn_above", number(bounds.warn_above)},
          {"values", values}};
}

/// As a cell of a CSV; a gap within a list is "-".
std::string cell_text(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return exact(value.get<double>());
  if (!value.is_array()) return value.dump();
  return join_each(value, " ",
                   [](const Json& one) { return one.is_null() ? "-" : cell_text(one); });
}

Json row_json(const CheckResult& verdict) {
  constexpr std::array kMembers{"rule",   "device_set", "instance", "nodes",     "collective",
                                "dtype",  "size_bytes", "metric",   "unit",      "statistic",
                                "values", "value",      "cv",       "reference", "reference_kind",
                                "ratio",  "bounds",     "verdict",  "reason",    "attempts"};
  constexpr std::array kBounds{"fail_below", "warn_below", "warn_above", "fail_above"};
  const auto cells = cells_of(verdict);
  std::map<std::string_view, Json> values(cells.begin(), cells.end());
  for (const char* bound : kBounds) values["bounds"][bound] = values.at(bound);
  Json json;
  for (const char* member : kMembers) json[member] = values.at(member);
  return json;
}

std::string head(const Acceptance& acceptance, const Specification& specification) {
  const std::array<std::pair<std::string_view, std::string>, 7> facts{
      {{"system", system_name(specification)},
       {"specification", specification.file},
       {"profile", specification.profile},
       {"busbar", acceptance.head.version},
       {"judged", acceptance.head.judged_at},
       {"seed", acceptance.head.seed},
       {"overall", std::string(name(acceptance.overall()))}}};
  std::string text;
  for (const auto& [key, value] : facts) text += fmt::format("# {}: {}\n", key, one_line(value));
  for (const std::string& note : acceptance.head.notes) {
    text += fmt::format("# note: {}\n", one_line(note));
  }
  return text;
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

Json suspects_of(const Acceptance& acceptance) {
  Json array = Json::array();
  for (const Suspect& suspect : acceptance.suspects) {
    array.push_back({{"kind", suspect.nodes.size() == 2 ? "link" : "node"},
                     {"nodes", suspect.nodes},
                     {"rule", suspect.rule},
                     {"evidence", suspect.evidence},
                     {"confirmed", suspect.confirmed}});
  }
  return array;
}

Json nodes_of(const Acceptance& acceptance) {
  Json array = Json::array();
  for (const NodeAccount& account : acceptance.nodes) {
    array.push_back(
        {{"node", account.node}, {"state", name(account.state)}, {"evidence", account.evidence}});
  }
  return array;
}

Json counts_of(const Acceptance& acceptance) {
  Json counts = Json::object();
  for (const Outcome outcome : all_values<Outcome>())
    counts[std::string(name(outcome))] = acceptance.count(outcome);
  return counts;
}

}  // namespace

std::string verdict_csv(const Acceptance& acceptance, const Specification& specification) {
  const auto line = [](const CheckResult& verdict, auto text_of) {
    std::vector<std::string> cells;
    for (const auto& cell : cells_of(verdict)) cells.push_back(text_of(cell));
    return csv_line(cells);
  };
  std::string text = head(acceptance, specification) +
                     line({}, [](const auto& cell) { return std::string(cell.first); });
  for (const CheckResult& verdict : acceptance.verdicts) {
    text += line(verdict, [](const auto& cell) { return cell_text(cell.second); });
  }
  return text;
}

std::string verdict_json(const Acceptance& acceptance, const Specification& specification) {
  const Accounting accounting = account_for(acceptance, specification);
  Json json{{"schema", 1},
            {"busbar", acceptance.head.version},
            {"system", specification.system.name},
            {"specification", specification.file},
            {"profile", specification.profile},
            {"judged", acceptance.head.judged_at},
            {"judged_unix", acceptance.head.judged_at_unix},
            {"seed", acceptance.head.seed},
            {"overall", name(acceptance.overall())},
            {"exit_code", exit_code_of(acceptance, false)},
            {"exit_code_strict", exit_code_of(acceptance, true)},
            {"counts", counts_of(acceptance)},
            {"contract", contract_of(specification)}};
  json["verdicts"] = Json::array();
  for (const CheckResult& verdict : acceptance.verdicts) {
    json["verdicts"].push_back(row_json(verdict));
  }
  json["suspects"] = suspects_of(acceptance);
  json["nodes"] = nodes_of(acceptance);
  json["nodes_missing"] = accounting.missing;
  json["notes"] = acceptance.head.notes;
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace busbar::judge
