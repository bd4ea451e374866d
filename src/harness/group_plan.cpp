// SPDX-License-Identifier: BSD-3-Clause
#include "harness/group_plan.hpp"

#include <set>

#include "base/host.hpp"
#include "base/round_robin.hpp"
#include "harness/options.hpp"
#include "model/agreement.hpp"

namespace busbar {
namespace {

int color_of(const GroupSpec& spec, int rank) {
  const auto r = static_cast<std::uint64_t>(rank);
  switch (spec.rule) {
    case GroupRule::And: return static_cast<int>(r & spec.number);
    case GroupRule::Or: return static_cast<int>(r | spec.number);
    case GroupRule::Mod: return static_cast<int>(r % spec.number);
    default: return static_cast<int>(r / spec.number);
  }
}

/// A round of these groups, numbered in their order.
GroupRound round_of(std::vector<std::vector<int>> groups) {
  GroupRound round;
  for (std::vector<int>& ranks : groups) {
    std::ranges::sort(ranks);
    const int number = static_cast<int>(round.groups.size());
    round.groups.push_back({.number = number, .ranks = std::move(ranks)});
  }
  return round;
}

/// nccl-tests' rule: ranks of one colour, numbered by their lowest ranks.
GroupRound colored_round(const GroupSpec& spec, int ranks) {
  std::map<int, std::size_t> group_of_color;
  std::vector<std::vector<int>> groups;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto [found, is_new] = group_of_color.emplace(color_of(spec, rank), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(rank);
  }
  return round_of(std::move(groups));
}

/// Rounds of pairs of hosts.
std::vector<GroupRound> paired(const std::vector<HostRanks>& hosts,
                               const std::vector<RoundOfPairs>& matchings) {
  std::vector<GroupRound> rounds;
  const auto ranks_of = [&hosts](const auto& pair) {
    std::vector<int> ranks = hosts[pair.first].ranks;
    append(ranks, hosts[pair.second].ranks);
    return ranks;
  };
  for (const RoundOfPairs& pairs : matchings) {
    GroupRound round = round_of(mapped(pairs, ranks_of));
    round.number = static_cast<int>(rounds.size());
    rounds.push_back(std::move(round));
  }
  return rounds;
}

GroupRound rails(const std::vector<HostRanks>& hosts) {
  std::vector<std::vector<int>> groups;
  for (const HostRanks& host : hosts) {
    groups.resize(std::max(groups.size(), host.ranks.size()));
    for (std::size_t i = 0; i < host.ranks.size(); ++i) groups[i].push_back(host.ranks[i]);
  }
  return round_of(std::move(groups));
}

GroupRound halves(const std::vector<HostRanks>& hosts) {
  std::vector<std::vector<int>> groups(2);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    append(groups[i < hosts.size() / 2 ? 0 : 1], hosts[i].ranks);
  }
  return round_of(std::move(groups));
}

/// "0-7 16-23", ascending.
std::vector<int> parse_ranks(const std::string& place, std::string_view text, int ranks) {
  std::set<int> list;
  for (const std::string& item : split_words(text)) {
    const auto numbers = parse_ranges(item);
    if (!numbers) {
      throw usage_error("{}: '{}' is not a list of ranks such as 0-7 16-23", place, item);
    }
    if (numbers->back() >= ranks) {
      throw usage_error("{}: there is no rank {}; give 0 to {}", place, numbers->back(), ranks - 1);
    }
    for (const int rank : *numbers) {
      if (!list.insert(rank).second) throw usage_error("{}: rank {} twice", place, rank);
    }
  }
  if (list.empty()) throw usage_error("{}: a group without ranks", place);
  return {list.begin(), list.end()};
}

/// Adds a group to its round.
void add_group(std::map<int, GroupRound>& rounds, const std::string& place, int number,
               RankGroup group) {
  GroupRound& round = rounds.emplace(number, GroupRound{.number = number}).first->second;
  for (const RankGroup& other : round.groups) {
    if (other.number == group.number) {
      throw usage_error("{}: round {} has a group {} already", place, number, other.number);
    }
    for (const int rank : group.ranks) {
      if (!other.contains(rank)) continue;
      throw usage_error("{}: rank {} is in group {} of round {}, too", place, rank, other.number,
                        number);
    }
  }
  round.groups.push_back(std::move(group));
}

/// All unordered pairs of ranks: rows go both ways.
std::vector<GroupRound> rank_pairs(int ranks) {
  std::vector<HostRanks> players(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) players[static_cast<std::size_t>(rank)].ranks = {rank};
  return paired(players, round_robin(players.size()));
}

/// A rank's host, as it is sent to all. Ranks of one kernel may have names of their own.
struct RankHost {
  BootId boot_id{};
  std::array<char, 64> name{};

  [[nodiscard]] auto operator<=>(const RankHost&) const = default;
};

/// Reads the files that the rule needs. Collective.
void read_files(Bootstrap& world, const Options& options, GroupInput& input) {
  const GroupSpec& spec = *options.groups;
  if (spec.rule == GroupRule::Csv) {
    input.csv = spec.is_inline() ? spec.csv : shared_file(world, "--groups", spec.csv);
    if (spec.is_inline()) {  // '/' and '+' need no quotes in any shell
      std::ranges::replace(input.csv, '/', ';');
      std::ranges::replace(input.csv, ';', '\n');
      std::ranges::replace(input.csv, '+', ' ');
    }
  }
  if (spec.rule != GroupRule::Levels) return;
  const std::string& path = options.levels_path;
  input.levels.emplace(shared_file(world, "--levels", path), path);
}

}  // namespace

std::vector<HostRanks> gather_hosts(Bootstrap& world) {
  RankHost mine{.boot_id = boot_id()};
  copy_text(host_name(), mine.name);
  std::map<RankHost, std::size_t> known;
  std::vector<HostRanks> hosts;
  int rank = 0;
  for (const RankHost& each : world.gather(mine)) {
    const auto [found, is_new] = known.emplace(each, hosts.size());
    if (is_new) hosts.push_back({.name = each.name.data()});
    hosts[found->second].ranks.push_back(rank++);
  }
  return hosts;
}

std::string shared_file(Bootstrap& world, std::string_view option, const std::string& path) {
  std::optional<std::string> text;
  agree_on(world, [&] {
    if (world.rank() == 0) text = read_file(path);
    if (world.rank() == 0 && !text) throw usage_error("{}: cannot read {}", option, path);
  });
  std::string all = text.value_or("");
  world.broadcast_text(all);
  return all;
}

std::string hosts_of(const std::vector<int>& group, const std::vector<HostRanks>& hosts,
                     int ranks) {
  std::vector<std::string> host_of(static_cast<std::size_t>(ranks));
  for (const HostRanks& host : hosts) {
    for (const int rank : host.ranks) host_of[static_cast<std::size_t>(rank)] = host.name;
  }
  std::vector<std::string> names;
  for (const int rank : group) add_new(names, host_of[static_cast<std::size_t>(rank)]);
  return join(names, " ");
}

bool RankGroup::contains(int rank) const { return std::ranges::binary_search(ranks, rank); }

const RankGroup* GroupRound::group_of(int rank) const {
  const auto found =
      std::ranges::find_if(groups, [rank](const RankGroup& group) { return group.contains(rank); });
  return found == groups.end() ? nullptr : &*found;
}

std::pair<int, int> GroupPlan::group_sizes() const {
  std::set<std::size_t> sizes;
  for (const GroupRound& round : rounds) {
    for (const RankGroup& group : round.groups) sizes.insert(group.ranks.size());
  }
  return {static_cast<int>(*sizes.begin()), static_cast<int>(*sizes.rbegin())};
}

std::map<std::pair<int, int>, std::vector<int>> GroupPlan::ranks_by_group() const {
  std::map<std::pair<int, int>, std::vector<int>> ranks;
  if (kind != Kind::Groups) return ranks;
  for (const GroupRound& round : rounds) {
    for (const RankGroup& group : round.groups) ranks[{round.number, group.number}] = group.ranks;
  }
  return ranks;
}

std::vector<GroupRound> parse_rounds(std::string_view text, std::string_view file, int ranks) {
  std::map<int, GroupRound> rounds;
  for (const auto& [place, cells] : placed_cells(text, file)) {
    if (cells == split("round,group,ranks", ',')) continue;
    const auto round = to_number<unsigned short>(cells.front());
    const auto group = cells.size() == 3 ? to_number<unsigned short>(cells[1]) : std::nullopt;
    if (!round || !group) {
      throw usage_error("{}: expected round,group,ranks, as in 0,1,0-7 16-23", place);
    }
    add_group(rounds, place, *round,
              {.number = *group, .ranks = parse_ranks(place, cells[2], ranks)});
  }
  if (rounds.empty()) throw usage_error("{}: no groups", file);
  for (auto& [number, round] : rounds) std::ranges::sort(round.groups, {}, &RankGroup::number);
  return mapped(rounds, [](const auto& each) { return each.second; });
}

std::vector<GroupRound> plan_rounds(const GroupSpec& spec, const GroupInput& input) {
  const std::vector<HostRanks>& hosts = input.hosts;
  const bool meets =
      spec.is_random() || spec.rule == GroupRule::Pairs || spec.rule == GroupRule::Halves;
  if (meets && hosts.size() < 2) {
    throw usage_error("--groups {}: all ranks are on one host; it needs two", to_text(spec));
  }
  switch (spec.rule) {
    case GroupRule::Hosts: return {round_of(mapped(hosts, &HostRanks::ranks))};
    case GroupRule::Rails: return {rails(hosts)};
    case GroupRule::Halves: return {halves(hosts)};
    case GroupRule::Csv:
      return parse_rounds(input.csv, spec.is_inline() ? "--groups" : spec.csv, input.ranks);
    case GroupRule::Pairs: return paired(hosts, round_robin(hosts.size()));
    case GroupRule::RandomPairs:
      return paired(hosts, random_matchings(hosts.size(), spec.number, input.seed));
    case GroupRule::Levels:
      return paired(hosts, level_matchings(input.levels->paths_of(mapped(hosts, &HostRanks::name)),
                                           spec.number, input.seed));
    default: return {colored_round(spec, input.ranks)};
  }
}

GroupPlan world_plan(int ranks) {
  return {.rounds = {round_of({first_numbers(static_cast<std::size_t>(ranks))})}};
}

GroupPlan plan_groups(Bootstrap& world, const Options& options) {
  const int ranks = world.size();
  const bool one_way = options.pairs == Pairs::All;
  if (!options.groups && !one_way) return world_plan(ranks);
  if (one_way && ranks < 2) {
    throw usage_error("--pairs all: one rank makes no pair; start two or more with mpirun -np");
  }
  GroupInput input{.hosts = gather_hosts(world), .ranks = ranks, .seed = options.seed};
  GroupPlan plan;
  if (one_way) {
    plan = {.kind = GroupPlan::Kind::OneWay, .rounds = rank_pairs(ranks)};
  } else {
    read_files(world, options, input);
    plan = {.kind = GroupPlan::Kind::Groups, .rounds = plan_rounds(*options.groups, input)};
    if (options.groups->is_random()) plan.seed = options.seed;
    if (plan.rounds.empty()) {
      throw usage_error("--groups {}: no two hosts meet in it", to_text(*options.groups));
    }
  }
  for (GroupRound& round : plan.rounds) {
    for (RankGroup& group : round.groups) group.hosts = hosts_of(group.ranks, input.hosts, ranks);
  }
  return plan;
}

}  // namespace busbar
