// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/group_spec.hpp"
#include "model/bootstrap.hpp"
#include "model/collective.hpp"
#include "model/host_levels.hpp"
#include "model/record.hpp"

namespace busbar {

struct Options;

/// Ranks of the job that run a collective by themselves.
struct RankGroup {
  int number = 0;            ///< within its round
  std::vector<int> ranks{};  ///< ascending
  std::string hosts{};       ///< names of their hosts, each once, with blanks between

  [[nodiscard]] bool contains(int rank) const;
};

/// Disjoint groups that measure at the same time.
struct GroupRound {
  int number = 0;
  std::vector<RankGroup> groups{};

  /// The group that a rank is in; null: it waits.
  [[nodiscard]] const RankGroup* group_of(int rank) const;
};

/// Ranks that repeat one operation beside the other groups of a mix.
struct MixGroup {
  std::string name{};  ///< without blanks
  /// Disjoint sets of ranks, ascending, each with a communicator of its own; operations of one set
  /// do not wait for another's.
  std::vector<std::vector<int>> sets{};
  const Collective* collective = nullptr;
  Bytes size = 0;
  int root = 0;         ///< within each set
  double gap_us = 0;    ///< from the end of an operation to the start of the next
  double start_us = 0;  ///< of the first, after the window's begin

  RankGroup all{};  ///< ranks of all sets, and their hosts

  /// The set that a rank is in; null: it is in none.
  [[nodiscard]] const std::vector<int>* set_of(int rank) const;
};

/// The rounds of a launch. Without --groups there is one, of one group of all ranks.
struct GroupPlan {
  /// What rows have of their group.
  enum class Kind {
    World,   ///< nothing
    Groups,  ///< round and group
    OneWay   ///< --pairs all: sender and receiver
  };

  Kind kind = Kind::World;
  std::vector<GroupRound> rounds{};
  std::optional<std::uint64_t> seed{};  ///< that matchings are drawn by
  std::vector<MixGroup> mixed{};        ///< --mix: of all ranks, a row each

  /// The numbers of ranks of the smallest and the largest group.
  [[nodiscard]] std::pair<int, int> group_sizes() const;
  /// By round and group, where rows have them.
  [[nodiscard]] std::map<std::pair<int, int>, std::vector<int>> ranks_by_group() const;
};

/// Without --groups.
[[nodiscard]] GroupPlan world_plan(int ranks);

/// A host and its ranks; hosts are in the order of their lowest ranks.
struct HostRanks {
  std::string name{};
  std::vector<int> ranks{};
};

/// The hosts of the job. Collective.
[[nodiscard]] std::vector<HostRanks> gather_hosts(Bootstrap& world);

/// RankGroup::hosts of these ranks, of so many in all.
[[nodiscard]] std::string hosts_of(const std::vector<int>& group,
                                   const std::vector<HostRanks>& hosts, int ranks);

/// Rank 0's file on all ranks; throws a usage error on all of them. Collective.
[[nodiscard]] std::string shared_file(Bootstrap& world, std::string_view option,
                                      const std::string& path);

/// The rounds of a CSV with the columns round,group,ranks, as in 0,1,"0-7 16-23"; `file` stands in
/// messages. Throws a usage error with the line.
[[nodiscard]] std::vector<GroupRound> parse_rounds(std::string_view text, std::string_view file,
                                                   int ranks);

/// What a plan is made from beside the rule.
struct GroupInput {
  std::vector<HostRanks> hosts{};
  int ranks = 1;
  std::uint64_t seed = 1;
  std::string csv{};                   ///< lines of rounds
  std::optional<HostLevels> levels{};  ///< --levels
};

/// The rounds of --groups. Throws a usage error. Pure.
[[nodiscard]] std::vector<GroupRound> plan_rounds(const GroupSpec& spec, const GroupInput& input);

/// The rounds of a launch; rank 0 reads the files. Throws a usage error on all ranks. Collective.
[[nodiscard]] GroupPlan plan_groups(Bootstrap& world, const Options& options);

}  // namespace busbar
