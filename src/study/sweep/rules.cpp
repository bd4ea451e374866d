// SPDX-License-Identifier: BSD-3-Clause
#include "study/sweep/rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/lists.hpp"
#include "format/json.hpp"

namespace busbar::study {
namespace {

constexpr std::string_view kAlgorithmOfNccl = "NCCL_ALGO";
constexpr std::string_view kProtocolOfNccl = "NCCL_PROTO";

// The numbers are those of ompi/mca/coll/base/coll_base_functions.h. MPICH 4.0 and Open MPI 4.1
// take sizes of gather and scatter without that of the type, so that these have no rules.
constexpr auto kRuleCollectives = std::to_array<RuleCollective>({
    {"allreduce", "allreduce", "avg_msg_size", 2},
    {"broadcast", "bcast", "avg_msg_size", 7},
    {"reduce", "reduce", "avg_msg_size", 11},
    {"allgather", "allgather", "total_msg_size", 0},
    {"alltoall", "alltoall", "total_msg_size", 3},
    {"reducescatter", "reduce_scatter_block", "total_msg_size", 13},
});

struct RuleWord {
  std::string_view value;  ///< of NCCL's variable, in small letters
  std::string_view word;   ///< of the CSV
};
constexpr auto kAlgorithmWords = std::to_array<RuleWord>({{"tree", "tree"},
                                                          {"ring", "ring"},
                                                          {"collnetdirect", "collnet_direct"},
                                                          {"collnetchain", "collnet_chain"},
                                                          {"nvls", "nvls"},
                                                          {"nvlstree", "nvls_tree"},
                                                          {"pat", "pat"}});
constexpr auto kProtocolWords =
    std::to_array<RuleWord>({{"ll", "ll"}, {"ll128", "ll128"}, {"simple", "simple"}});

/// The word of a value of one of NCCL's two variables; empty: none.
std::string_view rule_word(std::string_view name, std::string_view value) {
  const auto in = [&](const auto& words) {
    const auto* found = find_by(words, lower(value), &RuleWord::value);
    return found == nullptr ? std::string_view() : found->word;
  };
  return name == kAlgorithmOfNccl ? in(kAlgorithmWords) : in(kProtocolWords);
}

/// Takes away both ends of a text, if it has them.
std::optional<std::string> between(std::string_view text, std::string_view first,
                                   std::string_view last) {
  if (!text.starts_with(first) || !text.ends_with(last)) return {};
  if (text.size() <= first.size() + last.size()) return {};
  return lower(text.substr(first.size(), text.size() - first.size() - last.size()));
}

std::optional<RuleTarget> target_of(std::string_view name) {
  if (auto function = between(name, "OMPI_MCA_coll_tuned_", "_algorithm")) {
    const auto* found = find_by(kRuleCollectives, *function, &RuleCollective::function);
    if (found != nullptr) return RuleTarget{RuleFormat::OpenMpi, found, false};
  }
  auto function = between(name, "MPIR_CVAR_", "_INTRA_ALGORITHM");
  if (!function) return {};
  const auto* found = find_by(kRuleCollectives, *function, &RuleCollective::function);
  if (found != nullptr) return RuleTarget{RuleFormat::Mpich, found, false};
  if (!function->starts_with('i')) return {};
  found = find_by(kRuleCollectives, function->substr(1), &RuleCollective::function);
  // Its size is without that of the type.
  if (found == nullptr || *function == "ireduce_scatter_block") return {};
  return RuleTarget{RuleFormat::Mpich, found, true};
}

std::string function_of(const RuleTarget& target) {
  return (target.nonblocking ? "i" : "") + std::string(target.collective->function);
}

/// As MPICH's tree names a value of its variable.
std::string algorithm_of(const RuleTarget& target, const std::string& value) {
  std::string function = function_of(target);
  function.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(function.front())));
  return fmt::format("algorithm=MPIR_{}_{}", function,
                     value == "nb" ? "allcomm_nb" : "intra_" + value);
}

bool is_left_alone(const std::string& value) { return value == kDefaultValue || value == "auto"; }

bool is_writable(const RuleTarget& target, const std::string& name, const std::string& value) {
  if (is_left_alone(value)) return true;
  switch (target.format) {
    case RuleFormat::Nccl: return !rule_word(name, value).empty();
    case RuleFormat::Mpich: return !value.starts_with("tsp_");  // these have parameters
    case RuleFormat::OpenMpi: return to_number<int>(value).has_value();
  }
  return false;
}

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

std::string open_mpi_text(const RuleTarget& target, const RulesByRanks& by_ranks,
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
  std::string text =
      fmt::format("1 # collectives\n{} # {}\n{} # numbers of ranks\n", target.collective->number,
                  target.collective->function, lines.size());
  for (const auto& [ranks, sizes] : lines) {
    text += fmt::format("{} # ranks and more\n{} # from bytes: algorithm, fan-out, segment\n",
                        ranks, sizes.size());
    for (const std::string& line : sizes) text += line + '\n';
  }
  return text;
}

/// What MPICH checks before it takes an algorithm of a variable, but not one of a rule: buffers in
/// place and operations that do not commute keep their own.
bool keeps_its_own(const std::string& key) {
  return key == "is_sendbuf_inplace=yes" || key == "is_commutative=no";
}

/// A part of the tree in front of which rules are asked. What asks for the communicator stays
/// first: MPICH decides that when it makes one.
Json with_rules(const Json& part, const std::vector<SizeRule>& rules, const RuleTarget& target,
                std::span<const SweepVariant> variants) {
  Json made = Json::object();
  const std::string first = part.begin().key();
  if (first.starts_with("comm_") || first.starts_with("is_sendbuf") ||
      first.starts_with("is_commutative")) {
    for (const auto& [key, child] : part.items()) {
      made[key] = keeps_its_own(key) ? child : with_rules(child, rules, target, variants);
    }
    return made;
  }
  constexpr Bytes kMost = std::numeric_limits<int>::max();
  const auto up_to = [&](Bytes size) {
    return fmt::format("{}<={}", target.collective->size, std::min(size, kMost));
  };
  Bytes next = 0;
  for (const SizeRule& rule : rules) {
    if (rule.low > next) made[up_to(rule.low - 1)] = part;
    const std::string& value = variants[rule.variant].values.front().second;
    const Json chosen{{algorithm_of(target, value), Json::object()}};
    const bool reduces = target.collective->function.ends_with("reduce");
    made[up_to(rule.high)] =
        reduces ? Json{{"is_op_built_in=yes", chosen}, {"is_op_built_in=no", part}} : chosen;
    next = rule.high + 1;
  }
  made[std::string(target.collective->size) + "=any"] = part;
  return made;
}

std::string mpich_text(const RuleTarget& target, const RulesByRanks& by_ranks,
                       std::span<const SweepVariant> variants, const std::string& tree) {
  Json json = Json::parse(tree);
  Json& intra = json["collective=" + function_of(target)]["comm_type=intra"];
  const Json base = intra;
  intra = Json::object();
  int next = 0;
  for (const auto& [ranks, rules] : by_ranks) {
    if (ranks > next) intra[fmt::format("comm_size<={}", ranks - 1)] = base;
    intra[fmt::format("comm_size<={}", ranks)] = with_rules(base, rules, target, variants);
    next = ranks + 1;
  }
  intra["comm_size=any"] = base;
  std::string text = json_text(json);
  constexpr std::size_t kPage = 4096;
  if (text.size() % kPage == 0) text += '\n';  // MPICH needs a zero behind it on its last page
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

}  // namespace

RuleTarget rule_target(std::span<const Vary> settings) {
  std::optional<RuleTarget> target;
  const auto names = set_of(settings, &Vary::name);
  if (names == std::set{std::string(kAlgorithmOfNccl), std::string(kProtocolOfNccl)}) {
    target = RuleTarget{};
  } else if (settings.size() == 1) {
    target = target_of(settings.front().name);
  }
  if (!target) {
    throw usage_error(
        "--write: no library has rules for {}; vary NCCL_ALGO and NCCL_PROTO, or one "
        "MPIR_CVAR_*_INTRA_ALGORITHM or OMPI_MCA_coll_tuned_*_algorithm of {}",
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
    for (const std::string& value : setting.values) {
      if (is_writable(*target, setting.name, value)) continue;
      throw usage_error(
          "--write: the library's rules cannot have {}={}{}", setting.name, value,
          target->format == RuleFormat::OpenMpi ? "; give the algorithm's number" : "");
    }
  }
  return *target;
}

void keep_writable(const RuleTarget& target, std::vector<SweepVariant>& variants) {
  if (target.format != RuleFormat::Nccl) return;
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

std::string built_in_tree(std::string_view library, const RuleTarget& target,
                          std::span<const Vary> settings) {
  const std::string function = function_of(target);
  for (std::size_t at = library.find("{\"collective="); at != std::string_view::npos;
       at = library.find("{\"collective=", at + 1)) {
    std::string text(library.substr(at, library.find('\0', at) - at));
    if (text.find("algorithm=MPIR_") == std::string::npos) continue;
    const Json tree = Json::parse(text, nullptr, false);
    if (!tree.contains("collective=" + function) ||
        !tree["collective=" + function].contains("comm_type=intra")) {
      continue;
    }
    for (const std::string& value : settings.front().values) {
      if (is_left_alone(value)) continue;
      const std::string algorithm = algorithm_of(target, value) + '\0';
      if (library.find(algorithm) != std::string_view::npos) continue;
      throw usage_error("--write: MPICH's rules have no algorithm {} of {}", value, function);
    }
    return text;
  }
  throw usage_error(
      "--write: no rules of {} in the MPI library that busbar is built with; MPICH 4 has them",
      function);
}

std::string rules_text(const RuleTarget& target, std::span<const SizeRule> rules,
                       std::span<const SweepVariant> variants, const std::string& tree) {
  if (target.format == RuleFormat::Nccl) return nccl_text(rules, variants);
  RulesByRanks by_ranks;
  for (const SizeRule& rule : rules) {
    if (is_left_alone(variants[rule.variant].values.front().second)) continue;
    if (rule.collective == target.collective->name) by_ranks[rule.ranks].push_back(rule);
  }
  if (by_ranks.empty()) return {};
  return target.format == RuleFormat::Mpich ? mpich_text(target, by_ranks, variants, tree)
                                            : open_mpi_text(target, by_ranks, variants);
}

Variables rules_environment(const RuleTarget& target, const std::string& path) {
  switch (target.format) {
    case RuleFormat::Nccl: return {{"NCCL_TUNER_CONFIG_FILE", path}};
    case RuleFormat::Mpich: return {{"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", path}};
    case RuleFormat::OpenMpi:
      return {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
              {"OMPI_MCA_coll_tuned_dynamic_rules_filename", path}};
  }
  return {};
}

}  // namespace busbar::study
