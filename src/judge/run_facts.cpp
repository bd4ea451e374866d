// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run_facts.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/rank_fact.hpp"
#include "topo/graph/constants.hpp"

namespace busbar::judge {
namespace {

std::optional<std::string> head_fact(const Observation& observation, const std::string& key) {
  const auto found = observation.facts.find(key);
  if (found == observation.facts.end() || found->second.empty()) return {};
  return found->second;
}

std::vector<RankFact> ranks_of(const Observation& observation) {
  std::vector<RankFact> ranks;
  for (const auto& [key, value] : observation.facts) {
    if (key.starts_with("rank-")) ranks.push_back(parse_rank_fact(value));
  }
  return ranks;
}

std::optional<std::string> joined(const std::set<std::string>& values) {
  return values.empty() ? std::nullopt : std::optional(join_all(values, "; "));
}

/// Of an imported log's "8 x NVIDIA H200, 8 x NVIDIA H100".
std::set<std::string> imported_gpus(const Observation& observation) {
  std::set<std::string> names;
  for (const std::string& part : split(head_fact(observation, "devices").value_or(""), ',')) {
    const std::vector<std::string> sides = split(std::string(trim(part)), ' ');
    if (sides.size() > 2 && sides[1] == "x") names.insert(join(std::span(sides).subspan(2), " "));
  }
  return names;
}

std::optional<std::string> gpu_of(const Observation& observation) {
  std::set<std::string> names;
  for (const RankFact& rank : ranks_of(observation)) {
    if (rank.gpu && !rank.gpu->name.empty()) names.insert(rank.gpu->name);
  }
  return joined(names.empty() ? imported_gpus(observation) : names);
}

/// Ranks per node, of rows that have both.
std::optional<std::string> ranks_per_node_of(const Observation& observation) {
  std::set<std::string> counts;
  for (const Record& record : observation.records) {
    if (record.nodes < 1 || record.group) continue;
    counts.insert(fmt::format("{:g}", static_cast<double>(record.ranks) / record.nodes));
  }
  return joined(counts);
}

/// GPUs of a host as its head lists them; else those that ranks of a host use. Hosts that differ
/// are all listed. An imported log has a rank for each GPU.
std::optional<std::string> gpus_per_node_of(const Observation& observation) {
  if (auto reported = head_fact(observation, "gpus-per-node")) return reported;
  std::map<std::string, std::set<std::string>> gpus;
  for (const RankFact& rank : ranks_of(observation)) {
    if (rank.gpu && !rank.gpu->bus.empty()) gpus[rank.host].insert(rank.gpu->bus);
  }
  std::set<std::string> counts;
  for (const auto& [host, buses] : gpus) counts.insert(fmt::format("{}", buses.size()));
  if (counts.empty() && !imported_gpus(observation).empty()) return ranks_per_node_of(observation);
  return joined(counts);
}

std::optional<std::string> device_set_of(const Observation& observation) {
  std::set<std::string> sets;
  for (const Record& record : observation.records) {
    if (!record.device_set.empty()) sets.insert(record.device_set);
  }
  return sets.empty() ? head_fact(observation, "device-set") : joined(sets);
}

std::optional<std::string> reported_fact(const Observation& observation, const std::string& key) {
  if (key == "gpu") return gpu_of(observation);
  if (key == "gpus_per_node") return gpus_per_node_of(observation);
  if (key == "nics_per_node") return head_fact(observation, "nics-per-node");
  if (key == "ngpus") return ranks_per_node_of(observation);
  if (key == "device_set") return device_set_of(observation);
  return head_fact(observation, key == "nccl" ? "library" : key);
}

bool is_part(const std::string& part, const std::string& text) {
  return lower(text).find(lower(part)) != std::string::npos;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
}

std::string fact_error(const Observation& observation, const std::string& key,
                       const std::vector<std::string>& wanted, const Facts& assumed) {
  const std::optional<std::string> reported = fact_of(observation, key, assumed);
  if (!reported) return "fingerprint: " + unreported_text(observation, key);
  if (matches_fact(key, *reported, wanted)) return {};
  const bool brief =
      std::ranges::any_of(wanted, [&](const std::string& one) { return is_part(one, *reported); });
  return fmt::format(
      "fingerprint: {} is '{}' where {} is wanted ({}){}", key, *reported, alternatives(wanted),
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
    return fmt::format("[run] backend: measured over {} where {} is wanted ({})", reported, wanted,
                       observation.file);
  }
  return {};
}

}  // namespace

std::optional<std::string> fact_of(const Observation& observation, const std::string& key,
                                   const Facts& assumed) {
  auto reported = reported_fact(observation, key);
  const auto known = assumed.find(key);
  const bool is_said = reported && !(key == "gpu" && topo::is_generic_gpu(*reported));
  return is_said || known == assumed.end() ? reported : known->second;
}

topo::MachineIdentity identity_of(const Observation& observation, const Facts& assumed) {
  const auto number = [&](const std::string& key) {
    return to_number<std::size_t>(fact_of(observation, key, assumed).value_or(""));
  };
  for (const char* key : {"gpu", "gpus_per_node"}) {
    if (fact_of(observation, key, assumed)) continue;
    throw usage_error("auto: {} does not report {}; name the system", observation.file, key);
  }
  const auto gpus = number("gpus_per_node");
  if (!gpus) {
    throw usage_error("auto: {} reports {} GPUs of its hosts; name the system", observation.file,
                      *fact_of(observation, "gpus_per_node", assumed));
  }
  int nodes = 1;
  for (const Record& record : observation.records) nodes = std::max(nodes, record.nodes);
  return {.gpus = std::vector<std::string>(*gpus, *fact_of(observation, "gpu", assumed)),
          .nics = number("nics_per_node"),
          .product = fact_of(observation, "machine", assumed).value_or(""),
          .product_given = !fact_of(observation, "machine"),
          .nodes = nodes};
}

std::string unreported_text(const Observation& observation, const std::string& key) {
  return fmt::format("{} does not report {} (--assume {}=VALUE where you know it)",
                     observation.file, key, key);
}

bool matches_fact(const std::string& key, const std::string& reported,
                  const std::vector<std::string>& wanted) {
  const auto is_wanted = [&](const std::string& text, const auto& matches) {
    return std::ranges::any_of(wanted, [&](const std::string& one) { return matches(one, text); });
  };
  if (key == "gpu") {
    const std::vector<std::string> names = split(reported, ';');
    return std::ranges::all_of(names, [&](const std::string& gpu) {
      return topo::is_generic_gpu(gpu) || is_wanted(gpu, topo::same_gpu);
    });
  }
  return is_wanted(reported, [](const auto& one, const auto& text) {
    return is_number(one) ? text == one : is_part(one, text);
  });
}

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

std::string generic_gpu_note(const Observation& observation, const std::string& taken_for) {
  const std::optional<std::string> reported = gpu_of(observation);
  if (!reported || !topo::is_generic_gpu(*reported)) return {};
  return fmt::format("{}: '{}' is what drivers call a GPU that they do not know: taken for {}",
                     observation.file, *reported, taken_for);
}

std::vector<std::string> shared_host_notes(std::span<const Observation> observations,
                                           bool same_machine) {
  std::map<std::string, std::set<std::string>> nodes_of;
  for (const Observation& observation : observations) {
    const std::set<std::string> hosts = hosts_of(observation);
    // Of several hosts it is not known which is which node.
    if (observation.records.empty() || hosts.size() != 1) continue;
    nodes_of[*hosts.begin()].insert(observation.nodes.begin(), observation.nodes.end());
  }
  std::vector<std::string> notes;
  for (const auto& [host, nodes] : nodes_of) {
    if (nodes.size() < 2) continue;
    notes.push_back(
        fmt::format("nodes {} ran on one host by its own name, {}: {}", join_all(nodes, " "), host,
                    same_machine ? "they may be one machine, which same_machine permits"
                                 : "they may be one machine, and rules between them never pass "
                                   "([run] same_machine = true or --same-machine permits it)"));
  }
  return notes;
}

}  // namespace busbar::judge
