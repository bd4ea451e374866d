// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/lists.hpp"
#include "study/sweep/sweep.hpp"

namespace busbar::study {
namespace {

constexpr std::string_view kAlgorithmOfNccl = "NCCL_ALGO";
constexpr std::string_view kProtocolOfNccl = "NCCL_PROTO";

// The numbers are those of ompi/mca/coll/base/coll_base_functions.h. Open MPI 4.1 takes sizes of
// gather and scatter without that of the type, so that these have no rules.
constexpr auto kRuleCollectives = std::to_array<RuleCollective>({
    {"allreduce", "allreduce", 2},
    {"broadcast", "bcast", 7},
    {"reduce", "reduce", 11},
    {"allgather", "allgather", 0},
    {"alltoall", "alltoall", 3},
    {"reducescatter", "reduce_scatter_block", 13},
});

/// Words of the CSV.
constexpr std::array<std::string_view, 7> kAlgorithmWords{
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
constexpr std::array<std::string_view, 3> kProtocolWords{"ll", "ll128", "simple"};

/// That of a value of one of NCCL's two variables, which is written without "_"; empty: none.
std::string_view rule_word(std::string_view name, std::string_view value) {
  const auto in = [&](const auto& words) {
    const auto found = std::ranges::find_if(words, [&](std::string_view word) {
      std::string joined(word);
      std::erase(joined, '_');
      return joined == lower(value);
    });
    return found == words.end() ? std::string_view() : *found;
  };
  return name == kAlgorithmOfNccl ? in(kAlgorithmWords) : in(kProtocolWords);
}

/// The collective of OMPI_MCA_coll_tuned_*_algorithm, or null.
const RuleCollective* open_mpi_collective(std::string_view name) {
  const auto* found = std::ranges::find_if(kRuleCollectives, [&](const RuleCollective& each) {
    return name == fmt::format("OMPI_MCA_coll_tuned_{}_algorithm", each.function);
  });
  return found == kRuleCollectives.end() ? nullptr : found;
}

bool is_left_alone(const std::string& value) { return value == kDefaultValue || value == "auto"; }

std::string nccl_text(std::span<const SizeRule> rules, std::span<const SweepVariant> variants) {
  constexpr std::array<std::string_view, 5> kTuned{"allreduce", "broadcast", "reduce", "allgather",
                                                   "reducescatter"};
  std::string text;
  for (const SizeRule& rule : rules) {
    if (std::ranges::find(kTuned, rule.collective) == kTuned.end()) continue;
    std::string_view algorithm;
    std::string_view protocol;
    for (const auto& [name, value] : variants[rule.variant].values) {
      (name == kAlgorithmOfNccl ? algorithm : protocol) = rule_word(name, value);
    }
    text += fmt::format("{},{},{},{},{},-1,-1,{},-1,-1\n", rule.collective, rule.low, rule.high,
                        algorithm, protocol, rule.ranks);
  }
  if (text.empty()) return text;
  return "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,"
         "regBuff\n" +
         text;
}

/// Rules by the number of ranks.
using RulesByRanks = std::map<int, std::vector<SizeRule>>;

std::string open_mpi_text(const RuleCollective& collective, const RulesByRanks& by_ranks,
                          std::span<const SweepVariant> variants) {
  std::map<int, std::vector<std::string>> lines;  // of a number of ranks and more
  const std::string fixed = "0 0 0 0";            // the library's own decision
  lines[0] = {fixed};
  for (const auto& [ranks, rules] : by_ranks) {
    std::vector<std::string>& sizes = lines[ranks] = {fixed};
    lines.try_emplace(ranks + 1, std::vector{fixed});
    for (const SizeRule& rule : rules) {
      // The rule before may end where this one begins.
      if (sizes.back().starts_with(fmt::format("{} ", rule.low))) sizes.pop_back();
      sizes.push_back(
          fmt::format("{} {} 0 0", rule.low, variants[rule.variant].values.front().second));
      sizes.push_back(fmt::format("{} 0 0 0", rule.high + 1));
    }
  }
  std::string text = fmt::format("1 # collectives\n{} # {}\n{} # numbers of ranks\n",
                                 collective.number, collective.function, lines.size());
  for (const auto& [ranks, sizes] : lines) {
    text += fmt::format("{} # ranks and more\n{} # from bytes: algorithm, fan-out, segment\n",
                        ranks, sizes.size());
    for (const std::string& line : sizes) text += line + '\n';
  }
  return text;
}

/// The variant for each size; 0: the first one.
using Choices = std::map<Bytes, std::size_t>;

/// Whether another row of its size speaks against a winner.
bool is_contradicted(const SweepRow& winner, std::span<const SweepRow> rows) {
  const RowKey& own = winner.row.key;
  return std::ranges::any_of(rows, [&](const SweepRow& other) {
    const RowKey& key = other.row.key;
    if (key.collective != own.collective || key.ranks != own.ranks || key.size != own.size) {
      return false;
    }
    return other.variant == winner.variant ? other.row.verdict == Verdict::Slower : other.winner;
  });
}

std::vector<SizeRule> ranges_of(const Choices& choices, const SizeRule& model) {
  std::vector<SizeRule> rules;
  Bytes low = choices.begin()->first;
  for (auto at = choices.begin(); at != choices.end(); ++at) {
    const auto [size, variant] = *at;
    const auto next = std::next(at);
    if (next != choices.end() && next->second == variant) continue;
    const double following = static_cast<double>(next == choices.end() ? size : next->first);
    const auto high = static_cast<Bytes>(std::sqrt(static_cast<double>(size) * following));
    if (variant != 0) {
      rules.push_back(model);
      rules.back().low = low;
      rules.back().high = high;
      rules.back().variant = variant;
    }
    low = high + 1;
  }
  return rules;
}

void check_writable(const Vary& setting, bool of_nccl) {
  for (const std::string& value : setting.values) {
    const bool is_writable =
        of_nccl ? !rule_word(setting.name, value).empty() : to_number<int>(value).has_value();
    if (is_left_alone(value) || is_writable) continue;
    throw usage_error("--write: the library's rules cannot have {}={}{}", setting.name, value,
                      of_nccl ? "" : "; give the algorithm's number");
  }
}

}  // namespace

RuleTarget rule_target(std::span<const Vary> settings) {
  RuleTarget target;
  const auto names = set_of(settings, &Vary::name);
  if (settings.size() == 1) target.open_mpi = open_mpi_collective(settings.front().name);
  const bool of_nccl =
      names == std::set{std::string(kAlgorithmOfNccl), std::string(kProtocolOfNccl)};
  if (!of_nccl && target.is_nccl()) {
    throw usage_error(
        "--write: no file of rules can have {}: set the winner by its variable, or vary NCCL_ALGO "
        "and NCCL_PROTO, or one OMPI_MCA_coll_tuned_*_algorithm of {}",
        join_all(names, " and "),
        alternatives(mapped(kRuleCollectives, [](const RuleCollective& collective) {
          return std::string(collective.function);
        })));
  }
  for (const Vary& setting : settings) {
    if (!is_left_alone(setting.values.front())) {
      throw usage_error(
          "--write: rules are for what beats the library's own choice: {} needs "
          "default as its first value",
          setting.name);
    }
    check_writable(setting, of_nccl);
  }
  return target;
}

void keep_writable(const RuleTarget& target, std::vector<SweepVariant>& variants) {
  if (!target.is_nccl()) return;
  std::erase_if(variants, [](const SweepVariant& variant) {
    const std::size_t left =
        count_of(variant.values, [](const auto& value) { return is_left_alone(value.second); });
    return left == 1;
  });
}

std::vector<SizeRule> size_rules(std::span<const SweepRow> rows) {
  std::map<std::pair<std::string, int>, Choices> chosen;
  for (const SweepRow& row : rows) {
    const RowKey& key = row.row.key;
    Choices& choices = chosen[{key.collective, key.ranks}];
    choices.try_emplace(key.size);  // the default, where nothing wins
    if (row.winner && !is_contradicted(row, rows)) choices[key.size] = row.variant;
  }
  std::vector<SizeRule> rules;
  for (const auto& [series, choices] : chosen) {
    const SizeRule model{.collective = series.first, .ranks = series.second};
    append(rules, ranges_of(choices, model));
  }
  return rules;
}

std::string rules_text(const RuleTarget& target, std::span<const SizeRule> rules,
                       std::span<const SweepVariant> variants) {
  if (target.is_nccl()) return nccl_text(rules, variants);
  RulesByRanks by_ranks;
  for (const SizeRule& rule : rules) {
    if (is_left_alone(variants[rule.variant].values.front().second)) continue;
    if (rule.collective == target.open_mpi->name) by_ranks[rule.ranks].push_back(rule);
  }
  return by_ranks.empty() ? "" : open_mpi_text(*target.open_mpi, by_ranks, variants);
}

Variables rules_environment(const RuleTarget& target, const std::string& path) {
  if (target.is_nccl()) return {{"NCCL_TUNER_CONFIG_FILE", path}};
  return {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
          {"OMPI_MCA_coll_tuned_dynamic_rules_filename", path}};
}

}  // namespace busbar::study
