// SPDX-License-Identifier: BSD-3-Clause
#include "harness/configuration.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/splitmix64.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

template <class T>
std::string or_auto(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "auto";
}

/// A setting whose value is written the same way on a command line.
template <class Value>
Setting setting(std::string_view key, std::string_view option, const Value& value) {
  Setting result{.key = key, .value = fmt::format("{}", value), .words = std::string(option)};
  result.words += ' ' + result.value;
  return result;
}

Setting only_for_ranks(std::string words) { return {.words = std::move(words)}; }

std::string flag_words(std::string_view option, bool given) {
  return fmt::format("{}{}", given ? "" : "no ", option);
}

template <class T>
std::string optional_words(std::string_view option, const std::optional<T>& value) {
  return value ? fmt::format("{} {}", option, *value) : flag_words(option, false);
}

/// "-b 64KiB", "-b 100000": in the largest unit of which it is a whole number.
std::string size_words(std::string_view option, Bytes bytes) {
  constexpr std::array<std::pair<Bytes, std::string_view>, 3> kUnits{
      {{kGiB, "GiB"}, {kMiB, "MiB"}, {kKiB, "KiB"}}};
  for (const auto& [unit, name] : kUnits) {
    if (bytes > 0 && bytes % unit == 0) return fmt::format("{} {}{}", option, bytes / unit, name);
  }
  return fmt::format("{} {}", option, bytes);
}

/// A list that has one value, or all.
template <class Values, class NameOf>
Setting list_setting(std::string_view key, std::string_view option, const Values& values,
                     NameOf name_of) {
  return {.key = key,
          .value = join_each(values, "+", name_of),
          .words = fmt::format("{} {}", option, values.size() == 1 ? name_of(values[0]) : "all")};
}

Setting split_setting(const std::optional<Split>& split) {
  constexpr std::array kRules{"AND", "OR", "MOD", "DIV"};
  constexpr std::string_view kVariable = "NCCL_TESTS_SPLIT";
  if (!split) return {.key = "split", .value = "none", .words = flag_words(kVariable, false)};
  const auto rule = static_cast<std::size_t>(split->rule);
  return {.key = "split",
          .value = fmt::format("{}:{}", rule, split->operand),
          .words = fmt::format("{}='{} {}'", kVariable, kRules.at(rule), split->operand)};
}

std::string fault_words(const std::optional<Fault>& fault) {
  constexpr std::string_view kOption = "--inject-fault";
  return fault ? fmt::format("{} {}:{}", kOption, fault->rank, fault->index)
               : flag_words(kOption, false);
}

}  // namespace

std::vector<Setting> settings_of(const Options& o) {
  const bool multiplies = o.sweep.factor > 1;
  return {
      only_for_ranks("--backend " + o.backend),
      {.key = "sizes", .value = sweep_text(o.sweep)},
      only_for_ranks(size_words("-b", o.sweep.first)),
      only_for_ranks(size_words("-e", o.sweep.last)),
      only_for_ranks(multiplies ? fmt::format("-f {}", o.sweep.factor)
                                : size_words("-i", o.sweep.step)),
      list_setting("types", "-d", o.types, [](DataType type) { return info(type).name; }),
      list_setting("ops", "-o", o.ops, [](ReduceOp op) { return name(op); }),
      setting("root", "-r", o.root ? fmt::format("{}", *o.root) : "all"),
      setting("placement", "--placement", name(o.placement)),
      setting("operations", "-n", or_auto(o.operations)),
      setting("warmup", "-w", or_auto(o.warmup_operations)),
      setting("aggregated", "-m", o.aggregated),
      setting("cycles", "-N", o.cycles),
      setting("visits", "--visits", o.visits),
      {.key = "aggregation",
       .value = std::string(name(o.aggregation)),
       .words = fmt::format("-a {}", static_cast<int>(o.aggregation))},
      setting("checks", "-c", o.checks),
      setting("blocking", "-z", static_cast<int>(o.blocking)),
      setting("cadence", "--cadence", name(o.cadence)),
      {.key = "ci-width",
       .value = fmt::format("{}", o.ci_width),
       .words = fmt::format("--ci-width {:g}", o.ci_width * 100)},
      setting("time-budget", "--time-budget", o.time_budget.count()),
      setting("progress", "--progress", name(o.progress)),
      setting("cache", "--cache", name(o.cache)),
      setting("pages", "--pages", name(o.pages)),
      setting("bind", "--bind", name(o.bind)),
      // Each host may have a list of its own.
      {.key = "devices",
       .value = o.devices ? to_text(*o.devices) : "free",
       .words = flag_words("--devices", o.devices.has_value())},
      setting("seed", "--seed", o.seed),
      setting("graph", "-G", o.graph_launches),
      setting("registration", "-R", static_cast<int>(o.registration)),
      {.key = "cta-policy",
       .value = or_auto(o.cta_policy),
       .words = optional_words("-x", o.cta_policy)},
      setting("unalign", "-u", o.unalign),
      setting("pairs", "--pairs", name(o.pairs)),
      split_setting(o.split),
      only_for_ranks(flag_words("--share-gpus", o.share_devices)),
      only_for_ranks(fmt::format("--host-limits {}", o.host_limits ? "auto" : "off")),
      only_for_ranks(o.memory_limit ? size_words("--memory-limit", *o.memory_limit)
                                    : flag_words("--memory-limit", false)),
      only_for_ranks(flag_words("--nccl-choice", o.nccl_choice)),
      only_for_ranks(fmt::format("-M {}", o.memory_use ? 1 : 0)),
      only_for_ranks(fault_words(o.inject_fault)),
      only_for_ranks(o.timeout ? fmt::format("-T {:g}", o.timeout->count())
                               : flag_words("-T", false)),
  };
}

std::vector<std::string> configuration_of(const Options& options) {
  std::vector<std::string> texts;
  for (const Setting& each : settings_of(options)) {
    if (!each.key.empty()) texts.push_back(fmt::format("{}={}", each.key, each.value));
  }
  return texts;
}

RankCommand rank_command(const Options& options, const Collective& collective) {
  RankCommand command{.program = fmt::format("{}_perf", collective.name),
                      .version = std::string(version())};
  for (Setting& each : settings_of(options)) {
    if (!each.words.empty()) command.words.push_back(std::move(each.words));
  }
  return command;
}

namespace {

/// As it is sent between ranks: its first lines must stay what they are in all versions.
std::string to_lines(const RankCommand& command) {
  return fmt::format("{}\n{}\n{}\n{}", one_line(command.mistake), command.program, command.version,
                     join_each(command.words, "\n", one_line));
}

RankCommand parse_lines(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  constexpr std::size_t kHead = 3;
  lines.resize(std::max(lines.size(), kHead));
  return {.mistake = lines[0],
          .program = lines[1],
          .version = lines[2],
          .words = {lines.begin() + kHead, lines.end()}};
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  for (const char letter : text) hash = splitmix64(hash ^ static_cast<unsigned char>(letter));
  return hash;
}

/// How the commands of some ranks differ from rank 0's.
std::string difference(const std::vector<int>& ranks, const RankCommand& theirs,
                       const RankCommand& mine) {
  const bool one = ranks.size() == 1;
  const std::string who = fmt::format("{} {}", one ? "rank" : "ranks", format_ranges(ranks));
  if (!mine.mistake.empty()) return "rank 0: " + mine.mistake;
  if (!theirs.mistake.empty()) return fmt::format("{}: {}", who, theirs.mistake);
  const char* run = one ? "runs" : "run";
  if (theirs.program != mine.program) {
    return fmt::format("{} {} {} and rank 0 {}; every rank needs the same program", who, run,
                       theirs.program, mine.program);
  }
  if (theirs.version != mine.version) {
    return fmt::format("{} {} busbar {} and rank 0 busbar {}; every rank needs the same version",
                       who, run, theirs.version, mine.version);
  }
  std::array<std::vector<std::string>, 2> words;
  for (std::size_t i = 0; i < std::min(theirs.words.size(), mine.words.size()); ++i) {
    if (theirs.words[i] == mine.words[i]) continue;
    words[0].push_back(theirs.words[i]);
    words[1].push_back(mine.words[i]);
  }
  const bool by_variable =
      !words[0].empty() && words[0].front().find("NCCL_TESTS_SPLIT") != std::string::npos;
  return fmt::format("{} {} started with {} and rank 0 with {}; every rank needs the same {}", who,
                     one ? "was" : "were", join(words[0], ", "), join(words[1], ", "),
                     by_variable ? "environment" : "command line");
}

}  // namespace

void require_same_command(Bootstrap& world, const RankCommand& mine) {
  std::string text = to_lines(mine);
  const std::vector<std::uint64_t> hashes = world.gather(hash_of(text));
  const auto other =
      std::find_if(hashes.begin(), hashes.end(), [&](auto hash) { return hash != hashes.front(); });
  if (other == hashes.end()) {
    if (mine.mistake.empty()) return;
    throw usage_error(world.rank() == 0 ? mine.mistake : "");
  }
  const auto root = static_cast<int>(other - hashes.begin());
  std::uint64_t size = text.size();
  world.broadcast(size, root);
  text.resize(size);
  world.broadcast_bytes(std::as_writable_bytes(std::span{text}), root);
  if (world.rank() != 0) throw usage_error("");
  std::vector<int> ranks;  // with that command
  for (std::size_t rank = 0; rank < hashes.size(); ++rank) {
    if (hashes[rank] == *other) ranks.push_back(static_cast<int>(rank));
  }
  throw usage_error(difference(ranks, parse_lines(text), mine));
}

}  // namespace busbar
