// SPDX-License-Identifier: BSD-3-Clause
// What is generated for those who read the files: docs/csv.md, and docs/schemas/common.schema.json.
#include <map>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "format/csv_writer.hpp"
#include "format/json.hpp"
#include "harness/options.hpp"
#include "judge/verdict.hpp"
#include "model/fact.hpp"
#include "model/flag.hpp"
#include "stats/stop_rule.hpp"
#include "study/compare/comparison.hpp"
#include "study/doctor/host_check.hpp"
#include "study/expect/expect.hpp"
#include "topo/choice/choose.hpp"
#include "topo/graph/protocol.hpp"

namespace busbar::schema_command {

struct SchemaOptions {
  std::optional<std::string> json{};
};

using O = SchemaOptions;

constexpr auto kOptions = std::to_array<Option<O>>({{"--json", "[=FILE]", set::value<&O::json>}});
constexpr CommandLineTable<O> kTable{
    {.program = "busbar schema", .help = "docs/schema-options.md", .most_positionals = 0},
    kOptions};

/// One of these texts; an empty one is null, as in every document.
Json one_of(const std::vector<std::string>& names) { return {{"enum", names}}; }

template <class Enum>
Json one_of() {
  return one_of(all_names<Enum>());
}

/// Columns of a row whose words are those of an enumeration.
std::map<std::string_view, Json> columns_of_words() {
  std::vector<std::string> flags = all_names<Flag>();
  append(flags, all_names<topo::Sending>());  // of a simulated row
  const std::string flag = "(" + join(flags, "|") + ")";
  const auto collectives = mapped<std::string>(measured_collectives(), &Collective::name);
  return {{"collective", one_of(collectives)},
          {"status", one_of<RowStatus>()},
          {"cadence", one_of<Cadence>()},
          {"stop_reason", one_of<stats::StopReason>()},
          {"aggregation", one_of<Aggregation>()},
          {"cache", one_of<Cache>()},
          {"flags", {{"pattern", fmt::format("^{0}( {0})*$", flag)}}}};
}

/// A row's members, with null where a record may have no value.
Json row_schema() {
  const std::map<std::string_view, Json> words = columns_of_words();
  const Record blank;
  Json members;
  for (const RecordField& field : record_fields()) {
    const auto found = words.find(field.name);
    Json member = found == words.end() ? Json::object() : found->second;
    const std::string type = field.kind == RecordField::Kind::Number ? "number" : "string";
    const bool may_be_empty = field.get(blank).empty();
    if (may_be_empty && member.contains("enum")) member["enum"].push_back("");
    if (!member.contains("enum")) {
      member["type"] = may_be_empty ? Json{type, "null"} : Json(type);
    }
    const std::string unit(field.unit.empty() ? "" : fmt::format(" [{}]", field.unit));
    member["description"] = std::string(field.meaning) + unit;
    members[std::string(field.name)] = std::move(member);
  }
  return members;
}

/// The facts of a run: a fact is there or not.
Json context_schema() {
  Json members;
  for (const Fact& fact : fact_table()) {
    members[key(fact)] = {{"type", {"string", "null"}}, {"description", fact.meaning}};
  }
  members["notes"] = {{"type", "array"}, {"items", {{"type", "string"}}}};
  return members;
}

Json word_schemas() {
  return {{"outcome", one_of<judge::Outcome>()},
          {"metric", one_of<judge::Metric>()},
          {"statistic", one_of<judge::Statistic>()},
          {"rule_kind", one_of<judge::RuleKind>()},
          {"set_kind", one_of<judge::SetKind>()},
          {"on_noisy", one_of<judge::OnNoisy>()},
          {"ceiling_model", one_of<judge::CeilingModel>()},
          {"defect", one_of<judge::Defect>()},
          {"node_state", one_of<judge::NodeState>()},
          {"comparison", one_of<study::Verdict>()},
          {"interval_kind", one_of<study::IntervalKind>()},
          {"severity", one_of<study::Severity>()},
          {"evidence", one_of<study::RateEvidence>()},
          {"grade", one_of<study::Grade>()},
          {"frequency", one_of<topo::Frequency>()},
          {"policy", one_of<topo::Policy>()},
          {"node_kind", one_of<topo::NodeKind>()},
          {"link_kind", one_of<topo::LinkKind>()},
          {"collective", one_of(collective_names())}};
}

/// A member a line, so that a change of the document is one of the line.
std::string lines_of(const Json& members, std::string_view indentation) {
  std::vector<std::string> lines;
  for (const auto& [name, member] : members.items()) {
    lines.push_back(fmt::format("{}\"{}\": {}", indentation, name, json_text(member, -1)));
  }
  return join(lines, ",\n");
}

std::string object_text(const Json& members, const std::string& more) {
  return fmt::format(
      "{{\n      \"type\": \"object\",\n      \"additionalProperties\": false,\n      {}\n"
      "      \"properties\": {{\n{}\n      }}\n    }}",
      more, lines_of(members, "        "));
}

std::string common_json() {
  const Json members = row_schema();
  Json names = Json::array();
  for (const auto& [name, member] : members.items()) names.push_back(name);
  return fmt::format(
      "{{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
      "  \"$id\": \"common.schema.json\",\n"
      "  \"$comment\": \"Generated by `busbar schema --json`; `make docs` writes it.\",\n"
      "  \"$defs\": {{\n    \"row\": {},\n    \"context\": {},\n{}\n  }}\n}}\n",
      object_text(members, fmt::format("\"required\": {},", json_text(names, -1))),
      object_text(context_schema(),
                  "\"required\": [\"busbar\", \"notes\"],\n      \"patternProperties\": "
                  "{\"^rank_[0-9]+$\": {\"type\": \"string\"}},"),
      lines_of(word_schemas(), "    "));
}

Status run(O& options, const Arguments& /*line*/) {
  fmt::print("{}", choose_output(options.json, common_json(), schema_markdown()));
  return Status::Ok;
}

}  // namespace busbar::schema_command

busbar::Command busbar::make_schema_command() {
  return command_of<schema_command::kTable, schema_command::run>();
}
