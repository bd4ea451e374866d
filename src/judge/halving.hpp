// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

namespace busbar::judge {

/// Searches bad nodes among very many: groups are halved while they are low. A group of one is
/// topped up with a node that is known to be good, since one alone runs no collective.
class Halving {
 public:
  struct Group {
    std::vector<std::size_t> members{};  ///< under suspicion
    std::vector<std::size_t> helpers{};  ///< known to be good: topped up
  };
  enum class Outcome { Good, Low, NoData };

  /// Nodes are numbers from 0; at least two.
  explicit Halving(std::size_t nodes);

  /// Disjoint groups to be measured at the same time; empty when the search is over. Helpers are
  /// in at most one group of a round.
  [[nodiscard]] std::vector<Group> round();
  /// What the groups of the last round() showed, in their order.
  void report(const std::vector<Outcome>& outcomes);

  /// Nodes that were low, or gave no data, with a known-good helper.
  [[nodiscard]] const std::vector<std::size_t>& bad() const { return bad_; }
  [[nodiscard]] const std::vector<std::size_t>& silent() const { return silent_; }
  /// Groups that are low while no half of them is, or where no good node is known: none of theirs
  /// could be told from the others.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& unresolved() const {
    return unresolved_;
  }

 private:
  std::vector<Group> open_{};
  std::vector<Group> asked_{};
  std::vector<std::size_t> good_{};
  std::vector<std::size_t> bad_{};
  std::vector<std::size_t> silent_{};
  std::vector<std::vector<std::size_t>> unresolved_{};
};

}  // namespace busbar::judge
