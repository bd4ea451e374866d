// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/verdict_csv.hpp"

#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/output/words.hpp"
#include "report/csv_writer.hpp"

namespace busbar::judge {
namespace {

constexpr std::string_view kColumns =
    "rule,device_set,collective,dtype,size_bytes,metric,unit,statistic,n_launches,value,cv,"
    "reference,reference_kind,ratio,fail_below,fail_above,verdict,reason,attempts,instance,nodes,"
    "warn_below,warn_above,values";

std::string head(const Judgement& judgement, const Specification& specification) {
  const std::array<std::pair<std::string_view, std::string>, 7> facts{
      {{"system", system_name(specification)},
       {"specification", specification.file},
       {"profile", specification.profile},
       {"busbar", judgement.head.version},
       {"judged", judgement.head.judged_at},
       {"seed", judgement.head.seed},
       {"overall", std::string(name(judgement.overall()))}}};
  std::string text;
  for (const auto& [key, value] : facts) text += fmt::format("# {}: {}\n", key, one_line(value));
  for (const std::string& note : judgement.head.notes) {
    text += fmt::format("# note: {}\n", one_line(note));
  }
  return text;
}

std::string values_of(const RuleVerdict& verdict) {
  std::vector<std::string> values;
  for (const double value : verdict.values) {
    values.push_back(finite(value) ? exact(value) : "-");
  }
  return join(values, " ");
}

std::string row_of(const RuleVerdict& verdict) {
  const Bounds& bounds = verdict.bounds;
  std::vector<std::string> cells{verdict.rule,
                                 verdict.device_set,
                                 verdict.collective,
                                 verdict.type,
                                 fmt::format("{}", verdict.size),
                                 std::string(name(verdict.metric)),
                                 std::string(unit(verdict.metric)),
                                 std::string(name(verdict.statistic)),
                                 fmt::format("{}", verdict.values.size()),
                                 exact(verdict.value),
                                 exact(verdict.cv),
                                 exact(verdict.reference),
                                 verdict.reference_kind,
                                 exact(verdict.ratio),
                                 exact(bounds.fail_below),
                                 exact(bounds.fail_above),
                                 std::string(name(verdict.word)),
                                 one_line(verdict.reason),
                                 fmt::format("{}", verdict.attempts),
                                 verdict.instance,
                                 join(verdict.nodes, " "),
                                 exact(bounds.warn_below),
                                 exact(bounds.warn_above),
                                 values_of(verdict)};
  for (std::string& cell : cells) cell = csv_cell(cell);
  return join(cells, ",") + "\n";
}

}  // namespace

std::string verdict_csv(const Judgement& judgement, const Specification& specification) {
  std::string text = head(judgement, specification) + std::string(kColumns) + "\n";
  for (const RuleVerdict& verdict : judgement.verdicts) text += row_of(verdict);
  return text;
}

}  // namespace busbar::judge
