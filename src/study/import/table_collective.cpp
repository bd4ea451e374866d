// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/table_collective.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/import/row_evidence.hpp"

namespace busbar::study {
namespace {

/// "allgather, alltoall or alltoallv".
std::string alternatives(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? std::string{} : names.front();
  return join({names.begin(), names.end() - 1}, ", ") + " or " + names.back();
}

const Collective& known(const std::string& given) {
  const Collective* collective = find_collective(given);
  if (collective != nullptr) return *collective;
  throw usage_error(
      fmt::format("--collective: '{}' is none of {}", given, join(collective_names(), ", ")));
}

/// Why a collective that the user gives cannot be; empty where it can.
std::string contradiction(const LogTable& table, const Collective& given,
                          const RowEvidence& evidence) {
  const bool no_op = std::any_of(table.rows.begin(), table.rows.end(),
                                 [](const LogRow& row) { return row.op == "none"; });
  const std::vector<std::string> fitting = evidence.candidates();
  const bool fits = std::find(fitting.begin(), fitting.end(), given.name) != fitting.end();
  if (fits || (fitting.empty() && evidence.allows_factor(given) && !(given.reduces && no_op))) {
    return {};
  }
  const std::string rows = fmt::format("its rows have {}", evidence.text());
  if (fitting.empty()) return rows + "; give the collective that was run, or --ranks N";
  return fmt::format("{}: that is {}; give it, or leave --collective out", rows,
                     alternatives(fitting));
}

TableCollective given_collective(const LogTable& table, const std::string& place,
                                 const std::string& given, std::optional<int> ranks) {
  const Collective& collective = known(given);
  // Ranks that the user gives are checked against the collective afterwards.
  const auto assumed = ranks ? std::nullopt : listed_ranks(table);
  std::string why = contradiction(table, collective, RowEvidence(table, assumed));
  if (!why.empty() && ranks) why = contradiction(table, collective, RowEvidence(table, ranks));
  if (why.empty()) return {.collective = &collective, .source = "--collective"};
  throw usage_error(
      fmt::format("--collective {}: {} is of another: {}", collective.name, place, why));
}

TableCollective inferred_collective(const LogTable& table, const std::string& place,
                                    std::optional<int> ranks) {
  const RowEvidence evidence(table, ranks ? ranks : listed_ranks(table));
  const std::vector<std::string> fitting = evidence.candidates();
  if (fitting.size() == 1) {
    return {.collective = find_collective(fitting.front()),
            .source = evidence.text(),
            .inferred = true};
  }
  const std::string fit = fitting.empty() ? "none that busbar knows" : alternatives(fitting);
  throw usage_error(
      fmt::format("{}: the log does not say which collective it is of, and its rows ({}) fit {}; "
                  "give --collective NAME",
                  place, evidence.text(), fit));
}

}  // namespace

TableCollective collective_of(const LogTable& table, const std::string& place,
                              const std::string& given, std::optional<int> ranks) {
  const Collective* said = find_collective(table.collective);
  if (said == nullptr && !table.collective.empty()) {
    throw usage_error(fmt::format("{}: '{}' is no collective that busbar knows: {}", place,
                                  table.collective, join(collective_names(), ", ")));
  }
  if (said == nullptr) {
    return given.empty() ? inferred_collective(table, place, ranks)
                         : given_collective(table, place, given, ranks);
  }
  if (!given.empty() && said != &known(given)) {
    throw usage_error(fmt::format("--collective {}: {} is of {}; import it by itself",
                                  known(given).name, place, said->name));
  }
  return {.collective = said};
}

}  // namespace busbar::study
