// SPDX-License-Identifier: BSD-3-Clause
#include "study/run_facts.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/fact.hpp"
#include "topo/graph/constants.hpp"

namespace busbar::study {
namespace {

std::optional<std::string> head_fact(const FileView& file, const std::string& name) {
  const auto found = file.facts.find(name);
  if (found == file.facts.end() || found->second.empty()) return {};
  return found->second;
}

std::vector<RankFact> ranks_of(const FileView& file) {
  std::vector<RankFact> ranks;
  for (const auto& [key, value] : file.facts) {
    if (key.starts_with("rank_")) ranks.push_back(parse_rank_fact(value));
  }
  return ranks;
}

std::optional<std::string> joined(const std::set<std::string>& values) {
  return values.empty() ? std::nullopt : std::optional(join_all(values, "; "));
}

/// The GPUs of an imported log's "8 x NVIDIA H200, 8 x NVIDIA H100".
std::set<std::string> imported_gpus(const FileView& file) {
  std::set<std::string> names;
  for (const std::string& part : split(head_fact(file, key(fact::kDevices)).value_or(""), ',')) {
    const std::vector<std::string> sides = split(std::string(trim(part)), ' ');
    if (sides.size() > 2 && sides[1] == "x") names.insert(join(std::span(sides).subspan(2), " "));
  }
  return names;
}

std::optional<std::string> gpu_of(const FileView& file) {
  std::set<std::string> names;
  for (const RankFact& rank : ranks_of(file)) {
    if (rank.gpu && !rank.gpu->name.empty()) names.insert(rank.gpu->name);
  }
  return joined(names.empty() ? imported_gpus(file) : names);
}

/// Ranks per node, of rows that have both.
std::optional<std::string> ranks_per_node_of(const FileView& file) {
  std::set<std::string> counts;
  for (const Record& record : file.records) {
    if (record.nodes < 1 || record.group) continue;
    counts.insert(fmt::format("{:g}", static_cast<double>(record.ranks) / record.nodes));
  }
  return joined(counts);
}

/// GPUs of a host as its head lists them; else those that ranks of a host use. Hosts that differ
/// are all listed. An imported log has a rank for each GPU.
std::optional<std::string> gpus_per_node_of(const FileView& file) {
  if (auto reported = head_fact(file, key(fact::kGpusPerNode))) return reported;
  std::map<std::string, std::set<std::string>> gpus;
  for (const RankFact& rank : ranks_of(file)) {
    if (rank.gpu && !rank.gpu->bus.empty()) gpus[rank.host].insert(rank.gpu->bus);
  }
  std::set<std::string> counts;
  for (const auto& [host, buses] : gpus) counts.insert(fmt::format("{}", buses.size()));
  if (counts.empty() && !imported_gpus(file).empty()) return ranks_per_node_of(file);
  return joined(counts);
}

std::optional<std::string> reported_fact(const FileView& file, const std::string& name) {
  if (name == key(fact::kGpu)) return gpu_of(file);
  if (name == key(fact::kGpusPerNode)) return gpus_per_node_of(file);
  return head_fact(file, name);
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace

bool is_part(const std::string& part, const std::string& text) {
  return lower(text).find(lower(part)) != std::string::npos;
}

std::optional<std::string> fact_of(const FileView& file, const std::string& name,
                                   const Facts& assumed) {
  auto reported = reported_fact(file, name);
  const auto known = assumed.find(name);
  if (known == assumed.end()) return reported;
  const bool is_said =
      reported && !(name == key(fact::kGpu) && (topo::is_generic_gpu(*reported) ||
                                                topo::begins_gpu(*reported, known->second)));
  return is_said ? reported : known->second;
}

topo::MachineIdentity identity_of(const FileView& file, const Facts& assumed) {
  const auto fact = [&](const Fact& wanted) { return fact_of(file, key(wanted), assumed); };
  for (const Fact& needed : {fact::kGpu, fact::kGpusPerNode}) {
    if (fact(needed)) continue;
    throw usage_error("auto: {} does not report {}; name the system", file.path, key(needed));
  }
  const auto gpus = to_number<std::size_t>(*fact(fact::kGpusPerNode));
  if (!gpus) {
    throw usage_error("auto: {} reports {} GPUs of its hosts; name the system", file.path,
                      *fact(fact::kGpusPerNode));
  }
  int nodes = 1;
  for (const Record& record : file.records) nodes = std::max(nodes, record.nodes);
  return {.gpus = std::vector<std::string>(*gpus, *fact(fact::kGpu)),
          .nics = to_number<std::size_t>(fact(fact::kNicsPerNode).value_or("")),
          .product = fact(fact::kMachine).value_or(""),
          .product_given = !fact_of(file, key(fact::kMachine)),
          .nodes = nodes};
}

std::string unreported_text(const FileView& file, const std::string& name) {
  return fmt::format("{} does not report {} (--assume {}=VALUE where you know it)", file.path, name,
                     name);
}

bool matches_fact(const std::string& name, const std::string& reported,
                  const std::vector<std::string>& wanted) {
  const auto is_wanted = [&](const std::string& text, const auto& matches) {
    return std::ranges::any_of(wanted, [&](const std::string& one) { return matches(one, text); });
  };
  if (name == key(fact::kGpu)) {
    const std::vector<std::string> names = split(reported, ';');
    return std::ranges::all_of(names, [&](const std::string& gpu) {
      return topo::is_generic_gpu(gpu) || is_wanted(gpu, [](const auto& one, const auto& text) {
               return topo::begins_gpu(text, one);
             });
    });
  }
  if (name == key(fact::kLinks)) {
    // Of networks all, so that a part that went another way is no match.
    const auto links = mapped<std::string>(split(reported, ','), trim);
    const auto networks =
        filtered(links, [](const std::string& link) { return link.starts_with("NET/"); });
    const auto is_one = [&](const std::string& link) { return contains(wanted, link); };
    return std::ranges::any_of(links, is_one) && std::ranges::all_of(networks, is_one);
  }
  return is_wanted(reported, [](const auto& one, const auto& text) {
    return is_number(one) ? text == one : is_part(one, text);
  });
}

std::string generic_gpu_note(const FileView& file, const std::string& taken_for) {
  const std::optional<std::string> reported = gpu_of(file);
  if (!reported) return {};
  const bool is_generic = topo::is_generic_gpu(*reported);
  const bool is_short =
      topo::begins_gpu(*reported, taken_for) && !topo::same_gpu(*reported, taken_for);
  if (!is_generic && !is_short) return {};
  return fmt::format("{}: '{}' is {}: taken for {}", file.path, *reported,
                     is_generic ? "what drivers call a GPU that they do not know"
                                : "only the beginning of a GPU's name",
                     taken_for);
}

}  // namespace busbar::study
