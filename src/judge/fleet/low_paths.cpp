// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/low_paths.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/lists.hpp"

namespace busbar::judge {
namespace {

constexpr std::size_t kFewestMembers = 3;  // of a unit, unless it has fewer

/// The pairs of a unit at one level.
struct UnitPairs {
  std::set<std::size_t> members{};
  LowCount across{};
  std::set<std::size_t> low_nodes{};         ///< of the unit, in low pairs with others
  std::map<std::size_t, LowCount> inside{};  ///< of each member

  /// Whether it is the way out that is low, and not its nodes.
  [[nodiscard]] bool is_low() const {
    const std::size_t fewest = std::min(kFewestMembers, members.size());
    if (!across.is_mostly_low() || members.size() < 2 || low_nodes.size() < fewest) return false;
    LowCount own;
    for (const std::size_t node : low_nodes) {
      const auto found = inside.find(node);
      if (found == inside.end()) continue;
      own.low += found->second.low;
      own.all += found->second.all;
    }
    return own.all == 0 || 2 * own.low < own.all;
  }
};

class LowPaths {
 public:
  LowPaths(const std::vector<NodePath>& paths, std::span<const PairValue> pairs,
           const std::vector<bool>& low)
      : paths_(paths), pairs_(pairs), low_(low) {}

  [[nodiscard]] std::vector<UnitFinding> find() {
    const std::size_t depth = paths_.empty() ? 0 : paths_.front().size();
    for (std::size_t length = 1; length <= depth; ++length) {
      while (find_uplinks(length)) {
      }
      find_trunks(length);
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] NodePath unit_of(std::size_t node, std::size_t length) const {
    return {paths_[node].begin(), paths_[node].begin() + static_cast<std::ptrdiff_t>(length)};
  }

  [[nodiscard]] bool is_explained(const PairValue& pair) const {
    return any_has(found_, true, [&](const UnitFinding& path) {
      return crosses(paths_[pair.first], paths_[pair.second], path);
    });
  }

  [[nodiscard]] std::map<NodePath, UnitPairs> units_of(std::size_t length) const {
    std::map<NodePath, UnitPairs> units;
    for (std::size_t node = 0; node < paths_.size(); ++node) {
      units[unit_of(node, length)].members.insert(node);
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const PairValue& pair = pairs_[i];
      if (is_explained(pair)) continue;
      const NodePath first = unit_of(pair.first, length);
      const NodePath second = unit_of(pair.second, length);
      for (const auto& [path, node] :
           {std::pair(first, pair.first), std::pair(second, pair.second)}) {
        UnitPairs& unit = units[path];
        if (first == second) {
          unit.inside[node].add(low_[i]);
          continue;
        }
        unit.across.add(low_[i]);
        if (low_[i]) unit.low_nodes.insert(node);
      }
    }
    return units;
  }

  /// Adds the worst uplink, or all where all are low; false if there is none.
  bool find_uplinks(std::size_t length) {
    const std::map<NodePath, UnitPairs> units = units_of(length);
    std::vector<UnitFinding> low;
    std::size_t crossing = 0;
    for (const auto& [path, unit] : units) {
      if (unit.across.all > 0) ++crossing;
      if (!unit.is_low()) continue;
      low.push_back({.unit = path, .low = unit.across.low, .pairs = unit.across.all});
    }
    if (low.empty()) return false;
    if (low.size() == 2 && crossing == 2) {
      low.front().other = low.back().unit;
      low.pop_back();
    } else if (low.size() < crossing) {
      low = {*std::ranges::max_element(low, {}, &UnitFinding::low)};
    }
    append(found_, low);
    return true;
  }

  /// Pairs between two units.
  struct Trunk {
    LowCount count{};
    std::map<std::size_t, LowCount> first{};  ///< of each node
    std::map<std::size_t, LowCount> second{};
  };

  /// Whether several nodes of a unit are low over the trunk, and mostly not elsewhere.
  [[nodiscard]] static bool is_of_trunk(const std::map<std::size_t, LowCount>& side,
                                        const std::map<std::size_t, LowCount>& all) {
    std::size_t low_nodes = 0;
    LowCount elsewhere;
    for (const auto& [node, count] : side) {
      if (count.low == 0) continue;
      ++low_nodes;
      elsewhere.low += all.at(node).low - count.low;
      elsewhere.all += all.at(node).all - count.all;
    }
    return low_nodes >= kFewestMembers && (elsewhere.all == 0 || 2 * elsewhere.low < elsewhere.all);
  }

  void find_trunks(std::size_t length) {
    std::map<std::pair<NodePath, NodePath>, Trunk> trunks;
    std::map<std::size_t, LowCount> all;  // of each node
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const PairValue& pair = pairs_[i];
      if (is_explained(pair)) continue;
      all[pair.first].add(low_[i]);
      all[pair.second].add(low_[i]);
      NodePath first = unit_of(pair.first, length);
      NodePath second = unit_of(pair.second, length);
      if (first == second) continue;
      const bool swaps = second < first;
      if (swaps) std::swap(first, second);
      Trunk& trunk = trunks[{std::move(first), std::move(second)}];
      trunk.count.add(low_[i]);
      trunk.first[swaps ? pair.second : pair.first].add(low_[i]);
      trunk.second[swaps ? pair.first : pair.second].add(low_[i]);
    }
    for (const auto& [units, trunk] : trunks) {
      const bool is_it = trunk.count.is_mostly_low() && is_of_trunk(trunk.first, all) &&
                         is_of_trunk(trunk.second, all);
      if (!is_it) continue;
      found_.push_back({.unit = units.first,
                        .other = units.second,
                        .low = trunk.count.low,
                        .pairs = trunk.count.all});
    }
  }

  const std::vector<NodePath>& paths_;
  std::span<const PairValue> pairs_;
  const std::vector<bool>& low_;
  std::vector<UnitFinding> found_{};
};

}  // namespace

std::vector<UnitFinding> find_low_paths(const std::vector<NodePath>& paths,
                                        std::span<const PairValue> pairs,
                                        const std::vector<bool>& low) {
  return LowPaths(paths, pairs, low).find();
}

}  // namespace busbar::judge
