// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fingerprint.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/run_facts.hpp"

namespace busbar::judge {
namespace {

std::string fact_error(const Observation& observation, const std::string& key,
                       const std::vector<std::string>& wanted, const Facts& assumed) {
  // Inside a node no network is used.
  if (key == busbar::key(fact::kLinks) && observation.nodes.size() < 2) return {};
  const std::optional<std::string> reported = study::fact_of(observation.view(), key, assumed);
  // Rows that are predicted, which never pass, are of no machine.
  if (!reported && any_has(observation.records, "sim", &Record::backend)) return {};
  if (!reported) return "fingerprint: " + study::unreported_text(observation.view(), key);
  if (study::matches_fact(key, *reported, wanted)) return {};
  const bool brief = std::ranges::any_of(
      wanted, [&](const std::string& one) { return study::is_part(one, *reported); });
  return fmt::format(
      "fingerprint: {} is '{}', expected {} ({}){}", key, *reported, alternatives(wanted),
      observation.file,
      key != "gpu" || !brief
          ? ""
          : fmt::format(
                "; whole names are compared: if this is the GPU that is meant, write gpu = \"{}\"",
                *reported));
}

/// Predicted rows say so themselves, and never pass.
std::string backend_error(const Observation& observation, const std::string& wanted) {
  if (wanted == "auto") return {};
  for (const Record& record : observation.records) {
    const std::string& reported = record.backend;
    if (reported.empty() || reported == "sim" || reported == wanted) continue;
    return fmt::format("[run] backend: measured over {}, expected {} ({})", reported, wanted,
                       observation.file);
  }
  return {};
}

}  // namespace

std::string alternatives(const std::vector<std::string>& wanted) {
  return join_each(wanted, " or ", [](const std::string& one) { return fmt::format("'{}'", one); });
}

std::string fingerprint_error(const Specification& specification,
                              std::span<const Observation> observations, const Facts& assumed) {
  for (const Observation& observation : observations) {
    if (observation.records.empty()) continue;  // missing data are reported by its rules
    std::string error = backend_error(observation, specification.run.backend);
    for (const auto& [key, wanted] : specification.system.fingerprint) {
      if (error.empty()) error = fact_error(observation, key, wanted, assumed);
    }
    if (!error.empty()) return error;
  }
  return {};
}

std::string set_error(const DeviceSetRule& set, std::span<const Observation> observations,
                      const Facts& assumed) {
  for (const Observation& observation : observations) {
    if (observation.device_set != set.id || observation.records.empty()) continue;
    for (const auto& [key, wanted] : set.fingerprint) {
      std::string error = fact_error(observation, key, wanted, assumed);
      if (!error.empty()) return error;
    }
  }
  return {};
}

std::string unreported_error(const Specification& specification, const Facts& assumed) {
  if (specification.run.backend != "mpi") return {};
  std::vector<std::string> facts;
  for (const char* key : {"gpu", "gpus_per_node", "nics_per_node", "driver"}) {
    const bool wanted = specification.system.fingerprint.contains(key);
    if (wanted && !assumed.contains(key)) facts.emplace_back(key);
  }
  if (facts.empty()) return {};
  return fmt::format(
      "the fingerprint wants {}, which a run over MPI does not report: every rule would be an "
      "ERROR; write backend = \"nccl\", leave it out of the fingerprint, or give --assume {}=VALUE",
      join(facts, ", "), facts.front());
}

}  // namespace busbar::judge
