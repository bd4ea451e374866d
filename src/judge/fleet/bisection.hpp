// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace busbar::judge {

/// Searches bad nodes among very many: groups are halved while they are low. A group of one is
/// topped up with a node that is known to be good, since one alone runs no collective. Where no
/// good node is known, such nodes measure each other in changing pairs until one pair is good.
class Bisection {
 public:
  struct Group {
    std::vector<std::size_t> members{};  ///< under suspicion
    std::vector<std::size_t> helpers{};  ///< known to be good: topped up
  };
  enum class Finding { Good, Low, NoData };

  /// Nodes are numbers from 0; at least two.
  explicit Bisection(std::size_t nodes);

  /// Disjoint groups to be measured at the same time; empty when the search is over. Helpers are
  /// in at most one group of a round. Until report() the same groups are given again.
  [[nodiscard]] std::vector<Group> round();
  /// What the groups of the last round() showed, in their order; those that lack have no data.
  void report(const std::vector<Finding>& outcomes);

  /// @name Where every node is once at the end, by number
  /// @{
  [[nodiscard]] std::vector<std::size_t> good() const;
  /// Nodes that were low with a known-good helper.
  [[nodiscard]] const std::vector<std::size_t>& bad() const { return bad_; }
  /// Nodes that gave no data with a known-good helper.
  [[nodiscard]] const std::vector<std::size_t>& silent() const { return silent_; }
  /// Groups that are low while both of their halves are good (an interaction: a link, a switch),
  /// and those that found no good node to be measured with: none of theirs could be distinguished
  /// from the others.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& unresolved() const {
    return unresolved_;
  }
  /// @}

 private:
  /// A part of the nodes, and what is known of it.
  struct Part {
    std::vector<std::size_t> members{};
    std::optional<std::size_t> whole{};    ///< the low part that it is a half of
    std::optional<std::size_t> sibling{};  ///< the other half
    bool good = false;
  };
  /// What is measured in a round: a part, or two parts of one node together.
  struct Asked {
    Group group{};
    std::vector<std::size_t> parts{};
  };

  void split(std::vector<std::size_t> members, std::optional<std::size_t> whole);
  void settle(std::size_t part, Finding outcome);
  void settle_good(std::size_t part);
  [[nodiscard]] std::optional<std::size_t> helper_of(std::size_t part,
                                                     const std::vector<bool>& used) const;
  [[nodiscard]] std::vector<Asked> ask_open() const;
  [[nodiscard]] std::vector<Asked> ask_each_other();
  void give_up();

  std::vector<Part> parts_{};
  std::vector<std::size_t> open_{};  ///< parts to be measured
  std::vector<Asked> asked_{};
  std::vector<bool> is_good_{};    ///< per node
  std::size_t mutual_rounds_ = 0;  ///< in which nodes measured each other
  std::size_t mutual_turn_ = 0;    ///< of the round_robin among them
  std::vector<std::size_t> bad_{};
  std::vector<std::size_t> silent_{};
  std::vector<std::vector<std::size_t>> unresolved_{};
};

}  // namespace busbar::judge
