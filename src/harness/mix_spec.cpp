// SPDX-License-Identifier: BSD-3-Clause
#include "harness/mix_spec.hpp"

#include <set>

#include "base/options.hpp"
#include "base/toml_fields.hpp"
#include "harness/options.hpp"
#include "harness/together.hpp"

namespace busbar {
namespace {

using RankSets = std::vector<std::vector<int>>;

constexpr std::string_view kIncast = "incast:";
constexpr int kLongestWait = 10'000'000;  // us

/// A set of "0-3,8".
std::vector<int> parse_set(const TomlFields& fields, const std::string& text) {
  const auto ranks = parse_ranges(text);
  if (!ranks) throw fields.fault("ranks", "'{}' is not a list of ranks such as 0-3,8", text);
  return *ranks;
}

/// "0-3,8", [0, 1, 8], or the sets ["0-1", "2-3"].
RankSets parse_sets(const TomlFields& fields) {
  const toml::node& node = fields.required("ranks");
  if (const auto text = node.value_exact<std::string>()) return {parse_set(fields, *text)};
  RankSets sets;
  std::vector<int> numbers;
  for (const toml::node* each : fields.list("ranks")) {
    const auto number = each->value_exact<std::int64_t>();
    const auto text = each->value_exact<std::string>();
    if (!number && !text) {
      throw fields.fault("ranks", "expected numbers, or texts such as \"0-3,8\"");
    }
    if (text) sets.push_back(parse_set(fields, *text));
    if (number) numbers.push_back(static_cast<int>(std::clamp<std::int64_t>(*number, -1, 1 << 30)));
  }
  if (!numbers.empty() && !sets.empty()) {
    throw fields.fault("ranks", "expected numbers or texts, not both");
  }
  if (sets.empty()) sets.push_back(numbers);
  return sets;
}

void check_sets(const TomlFields& fields, RankSets& sets, int ranks) {
  std::set<int> seen;
  for (std::vector<int>& set : sets) {
    if (set.size() < 2) throw fields.fault("ranks", "a group needs two ranks or more");
    std::ranges::sort(set);
    for (const int rank : set) {
      if (rank < 0 || rank >= ranks) {
        throw fields.fault("ranks", "there is no rank {}; give 0 to {}", rank, ranks - 1);
      }
      if (!seen.insert(rank).second) throw fields.fault("ranks", "rank {} twice", rank);
    }
  }
}

/// Those of equal parts, which need no more than a size.
const Collective* parse_collective(const TomlFields& fields) {
  const std::string word = fields.required_text("collective");
  const auto known = filtered(measured_collectives(), &Collective::equal_parts);
  const Collective* found = find_collective(word);
  if (std::ranges::count(known, found) > 0) return found;
  const auto names = mapped<std::string>(known, &Collective::name);
  throw fields.fault("collective", unknown_word("collective", word, names));
}

Bytes parse_size(const TomlFields& fields) {
  const toml::node& node = fields.required("size");
  const auto number = node.value_exact<std::int64_t>();
  if (number && *number > 0) return static_cast<Bytes>(*number);
  const auto text = node.value_exact<std::string>();
  if (!text) throw fields.fault("size", "expected bytes, or a text such as \"64M\"");
  try {
    return parse_positive_bytes("size", *text);
  } catch (const Error& error) {
    throw fields.fault("size", std::string(error.what()));
  }
}

MixGroup parse_group(const TomlFields& fields, int ranks) {
  fields.allow_only({"name", "ranks", "collective", "size", "root", "gap_us", "start_us"});
  MixGroup group{.name = fields.required_text("name"),
                 .sets = parse_sets(fields),
                 .collective = parse_collective(fields),
                 .size = parse_size(fields),
                 .gap_us = static_cast<double>(fields.integer("gap_us", 0, kLongestWait, 0)),
                 .start_us = static_cast<double>(fields.integer("start_us", 0, kLongestWait, 0))};
  if (split_words(group.name) != std::vector{group.name} || one_line(group.name) != group.name) {
    throw fields.fault("name", "'{}' has blanks; give one word", one_line(group.name));
  }
  check_sets(fields, group.sets, ranks);
  const std::size_t smallest = std::ranges::min(mapped(group.sets, &std::vector<int>::size));
  group.root = fields.integer("root", 0, static_cast<int>(smallest) - 1, 0);
  if (fields.has("root") && !group.collective->rooted) {
    throw fields.fault("root", "{} has no root", group.collective->title);
  }
  return group;
}

MixGroup group_of(std::string name, RankSets sets, View collective, Bytes size) {
  return {.name = std::move(name),
          .sets = std::move(sets),
          .collective = find_collective(collective),
          .size = size};
}

/// Groups within hosts and across them; of one host within pairs and across those.
std::vector<MixGroup> tensor_and_data(const std::vector<HostRanks>& hosts, int ranks, Bytes size) {
  RankSets within = mapped(hosts, &HostRanks::ranks);
  if (hosts.size() == 1) {
    within.clear();
    for (int rank = 0; rank + 1 < ranks; rank += 2) within.push_back({rank, rank + 1});
  }
  const std::size_t width = within.front().size();
  const bool even = std::ranges::all_of(
      within, [width](const std::vector<int>& set) { return set.size() == width; });
  if (!even || width < 2 || within.size() < 2 ||
      width * within.size() != static_cast<std::size_t>(ranks)) {
    throw usage_error(
        "--mix tp+dp: needs several hosts with as many ranks each, two at least, or an even number "
        "of four or more ranks on one host");
  }
  RankSets across(width);
  for (std::size_t i = 0; i < width; ++i) {
    for (const std::vector<int>& set : within) across[i].push_back(set[i]);
    std::ranges::sort(across[i]);
  }
  return {group_of("tp", within, "allreduce", size), group_of("dp", across, "allreduce", size)};
}

/// K ranks send to rank 0, each as an operation of its own, and two others only share the fabric.
std::vector<MixGroup> incast(std::string_view preset, int ranks, Bytes size) {
  const auto senders =
      static_cast<int>(parse_integer("--mix incast", preset.substr(kIncast.size()), 2, 1 << 10));
  if (senders >= ranks) {
    throw usage_error("--mix {}: needs {} ranks, there are {}", preset, senders + 1, ranks);
  }
  std::vector<MixGroup> groups;
  for (int sender = 1; sender <= senders; ++sender) {
    groups.push_back(group_of(fmt::format("sender{}", sender), {{0, sender}}, "broadcast", size));
    groups.back().root = 1;
  }
  if (senders + 2 < ranks) {
    groups.push_back(group_of("victim", {{senders + 1, senders + 2}}, "broadcast", size));
  }
  return groups;
}

/// Every second rank, so that both share hosts where these have several.
std::vector<MixGroup> aggressor(int ranks, Bytes size) {
  if (ranks < 4) {
    throw usage_error("--mix aggressor: needs four ranks or more, there are {}", ranks);
  }
  RankSets halves(2);
  for (int rank = 0; rank < ranks; ++rank) {
    halves[static_cast<std::size_t>(rank % 2)].push_back(rank);
  }
  return {group_of("victim", {halves[0]}, "allreduce", size),
          group_of("aggressor", {halves[1]}, "alltoall", size)};
}

}  // namespace

const std::vector<int>* MixGroup::set_of(int rank) const {
  const auto found = std::ranges::find_if(
      sets, [rank](const std::vector<int>& set) { return std::ranges::count(set, rank) > 0; });
  return found == sets.end() ? nullptr : &*found;
}

std::vector<MixGroup> parse_mix(std::string_view text, std::string_view file, int ranks) {
  constexpr std::size_t kMostGroups = 64;
  const toml::table table = parse_toml(text, file, "busbar mix --help");
  const TomlFields top(table, file, "the mix");
  top.allow_only({"group"});
  std::vector<MixGroup> groups;
  std::set<std::string> names;
  for (const toml::node* each : top.list("group")) {
    const TomlFields fields(*each, file, "[[group]]");
    groups.push_back(parse_group(fields, ranks));
    if (!names.insert(groups.back().name).second) {
      throw fields.fault("name", "there is a group '{}' already", groups.back().name);
    }
  }
  if (groups.empty()) throw usage_error("{}: no [[group]]; see busbar mix --help", file);
  if (groups.size() > kMostGroups) {
    throw usage_error("{}: {} groups; give {} or less", file, groups.size(), kMostGroups);
  }
  return groups;
}

bool is_mix_preset(std::string_view text) {
  return text == "tp+dp" || text == "aggressor" || text.starts_with(kIncast);
}

std::vector<MixGroup> preset_mix(std::string_view preset, const std::vector<HostRanks>& hosts,
                                 int ranks, Bytes size) {
  if (preset == "tp+dp") return tensor_and_data(hosts, ranks, size);
  return preset == "aggressor" ? aggressor(ranks, size) : incast(preset, ranks, size);
}

std::string mix_note(std::string_view mix, int ranks) {
  if (!mix.starts_with(kIncast)) return {};
  const int needed = to_number<int>(mix.substr(kIncast.size())).value_or(0) + 3;  // as incast()
  if (ranks >= needed) return {};
  return fmt::format("--mix {}: no victim: that group needs {} ranks", mix, needed);
}

std::vector<MixGroup> read_mix(Bootstrap& world, const Options& options) {
  const std::vector<HostRanks> hosts = gather_hosts(world);
  const bool is_preset = is_mix_preset(options.mix);
  auto groups =
      is_preset ? preset_mix(options.mix, hosts, world.size(), options.sweep.first)
                : parse_mix(shared_file(world, "--mix", options.mix), options.mix, world.size());
  for (MixGroup& group : groups) {
    for (const std::vector<int>& set : group.sets) append(group.all.ranks, set);
    std::ranges::sort(group.all.ranks);
    group.all.hosts = hosts_of(group.all.ranks, hosts, world.size());
    const Seconds idle{(group.start_us + kFewestOperations * group.gap_us) / 1e6};
    if (is_preset || idle < options.timeout / 2) continue;
    throw usage_error(
        "{}: group {}: its start_us and {:g} times gap_us are {:g} s, in which -T {:g} takes ranks "
        "for hung; give less, or -T {:g}",
        options.mix, group.name, kFewestOperations, idle.count(), options.timeout.count(),
        4 * idle.count());
  }
  return groups;
}

}  // namespace busbar
