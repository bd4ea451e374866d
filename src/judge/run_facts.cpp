// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run_facts.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/rank_fact.hpp"

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

/// "8 x NVIDIA H200, 8 x NVIDIA H100" of an imported log: names, and how many in all.
struct ImportedDevices {
  std::set<std::string> names{};
  std::size_t count = 0;
};

ImportedDevices imported_devices(const Observation& observation) {
  ImportedDevices devices;
  for (const std::string& part : split(head_fact(observation, "devices").value_or(""), ',')) {
    const std::vector<std::string> sides = split(std::string(trim(part)), ' ');
    if (sides.size() < 3 || sides[1] != "x") continue;
    devices.names.insert(join(std::span(sides).subspan(2), " "));
    devices.count += to_number<std::size_t>(sides[0]).value_or(0);
  }
  return devices;
}

std::optional<std::string> gpu_of(const Observation& observation) {
  std::set<std::string> names;
  for (const RankFact& rank : ranks_of(observation)) {
    if (rank.gpu && !rank.gpu->name.empty()) names.insert(rank.gpu->name);
  }
  return joined(names.empty() ? imported_devices(observation).names : names);
}

/// GPUs of a host as its head lists them; else those that ranks of a host use. Hosts that differ
/// are all listed.
std::optional<std::string> gpus_per_node_of(const Observation& observation) {
  if (auto reported = head_fact(observation, "gpus-per-node")) return reported;
  std::map<std::string, std::set<std::string>> gpus;
  for (const RankFact& rank : ranks_of(observation)) {
    if (rank.gpu && !rank.gpu->bus.empty()) gpus[rank.host].insert(rank.gpu->bus);
  }
  std::set<std::string> counts;
  for (const auto& [host, buses] : gpus) counts.insert(fmt::format("{}", buses.size()));
  const ImportedDevices devices = imported_devices(observation);
  const std::size_t hosts = split(head_fact(observation, "hosts").value_or(""), ' ').size();
  if (counts.empty() && devices.count > 0) {
    counts.insert(
        fmt::format("{:g}", static_cast<double>(devices.count) / static_cast<double>(hosts)));
  }
  return joined(counts);
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

std::optional<std::string> device_set_of(const Observation& observation) {
  std::set<std::string> sets;
  for (const Record& record : observation.records) {
    if (!record.device_set.empty()) sets.insert(record.device_set);
  }
  return sets.empty() ? head_fact(observation, "device-set") : joined(sets);
}

/// Drivers write "NVIDIA" before the name or leave it out.
std::string gpu_name(const std::string& text) {
  constexpr std::string_view kVendor = "nvidia ";
  const std::string name = lower(trim(text));
  return name.starts_with(kVendor) ? name.substr(kVendor.size()) : name;
}

bool is_part(const std::string& part, const std::string& text) {
  return lower(text).find(lower(part)) != std::string::npos;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
}

std::string unreported(const Observation& observation, const std::string& key) {
  return fmt::format("fingerprint: {} does not report {} (--assume {}=VALUE where you know it)",
                     observation.file.empty() ? "a launch" : observation.file, key, key);
}

}  // namespace

std::optional<std::string> fact_of(const Observation& observation, const std::string& key) {
  if (key == "gpu") return gpu_of(observation);
  if (key == "gpus_per_node") return gpus_per_node_of(observation);
  if (key == "nics_per_node") return head_fact(observation, "nics-per-node");
  if (key == "ngpus") return ranks_per_node_of(observation);
  if (key == "device_set") return device_set_of(observation);
  if (key == "nccl") return head_fact(observation, "library");
  return head_fact(observation, key);
}

bool matches_fact(const std::string& key, const std::string& reported,
                  const std::vector<std::string>& wanted) {
  if (key == "gpu") {
    const std::vector<std::string> names = split(reported, ';');
    return std::all_of(names.begin(), names.end(), [&](const std::string& one) {
      return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& other) {
        return gpu_name(one) == gpu_name(other);
      });
    });
  }
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& one) {
    return is_number(one) ? reported == one : is_part(one, reported);
  });
}

std::string wanted_words(const std::vector<std::string>& wanted) {
  return join_each(wanted, " or ", [](const std::string& one) { return fmt::format("'{}'", one); });
}

namespace {

/// What to do where a GPU's name was abbreviated.
std::string whole_name_hint(const std::string& key, const std::string& reported,
                            const std::vector<std::string>& wanted) {
  const bool brief = std::any_of(wanted.begin(), wanted.end(),
                                 [&](const std::string& one) { return is_part(one, reported); });
  if (key != "gpu" || !brief) return {};
  return fmt::format(
      "; whole names are compared: if this is the GPU that is meant, write gpu = "
      "\"{}\"",
      reported);
}

std::string fact_error(const Observation& observation, const std::string& key,
                       const std::vector<std::string>& wanted,
                       const std::map<std::string, std::string>& assumed) {
  std::optional<std::string> reported = fact_of(observation, key);
  const auto known = assumed.find(key);
  if (!reported && known != assumed.end()) reported = known->second;
  if (!reported) return unreported(observation, key);
  if (matches_fact(key, *reported, wanted)) return {};
  return fmt::format("fingerprint: {} is '{}' where {} is wanted{}{}", key, *reported,
                     wanted_words(wanted),
                     observation.file.empty() ? "" : " (" + observation.file + ")",
                     whole_name_hint(key, *reported, wanted));
}

/// Predicted rows say so themselves, and never pass.
std::string backend_error(const Observation& observation, const std::string& wanted) {
  if (wanted == "auto") return {};
  for (const Record& record : observation.records) {
    const std::string& reported = record.backend;
    if (reported.empty() || reported == "sim" || reported == wanted) continue;
    return fmt::format("[run] backend: measured over {} where {} is wanted{}", reported, wanted,
                       observation.file.empty() ? "" : " (" + observation.file + ")");
  }
  return {};
}

}  // namespace

std::string fingerprint_error(const Specification& specification,
                              std::span<const Observation> observations,
                              const std::map<std::string, std::string>& assumed) {
  for (const Observation& observation : observations) {
    if (observation.records.empty()) continue;  // missing data are reported by its rules
    std::string other = backend_error(observation, specification.run.backend);
    if (!other.empty()) return other;
    for (const auto& [key, wanted] : specification.system.fingerprint) {
      std::string error = fact_error(observation, key, wanted, assumed);
      if (!error.empty()) return error;
    }
  }
  return {};
}

std::string unreported_error(const Specification& specification,
                             const std::map<std::string, std::string>& assumed) {
  if (specification.run.backend != "mpi") return {};
  std::vector<std::string> facts;
  for (const char* key : {"gpu", "gpus_per_node", "nics_per_node", "driver"}) {
    const bool wanted = specification.system.fingerprint.contains(key);
    if (wanted && !assumed.contains(key)) facts.emplace_back(key);
  }
  if (facts.empty()) return {};
  return fmt::format(
      "the fingerprint wants {}, which a run over MPI does not report: every rule would be an "
      "ERROR; write backend = \"nccl\", leave it out of the fingerprint, or give --assume "
      "{}=VALUE",
      join(facts, ", "), facts.front());
}

std::vector<std::string> shared_host_notes(std::span<const Observation> observations) {
  std::map<std::string, std::set<std::string>> nodes_of;
  for (const Observation& observation : observations) {
    std::set<std::string> hosts;
    for (const std::string& host : split(head_fact(observation, "hosts").value_or(""), ' ')) {
      if (!host.empty()) hosts.insert(host);
    }
    // Of several hosts it is not known which is which node.
    if (observation.records.empty() || hosts.size() != 1) continue;
    nodes_of[*hosts.begin()].insert(observation.nodes.begin(), observation.nodes.end());
  }
  std::vector<std::string> notes;
  for (const auto& [host, nodes] : nodes_of) {
    if (nodes.size() < 2) continue;
    notes.push_back(
        fmt::format("nodes {} ran on one host by its own name, {}: they may be one machine",
                    join_all(nodes, " "), host));
  }
  return notes;
}

}  // namespace busbar::judge
