// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/bisection.hpp"

#include <algorithm>
#include <numeric>

#include "base/round_robin.hpp"

namespace busbar::judge {
namespace {

/// A part of the nodes; number 0 has all of them, and halves follow each other.
struct NodePart {
  NodeNumbers members{};
  std::size_t whole = 0;  ///< the low part that it is a half of
  bool good = false;
};

/// What is measured in a round: a part with its helper, or two parts of one node together.
struct Asked {
  NodeNumbers nodes{};
  std::vector<std::size_t> parts{};
};

std::size_t other_half(std::size_t part) { return part % 2 == 1 ? part + 1 : part - 1; }

class Search {
 public:
  explicit Search(std::size_t nodes) : parts_(1), is_good_(nodes, false) {
    parts_[0].members.resize(nodes);
    std::iota(parts_[0].members.begin(), parts_[0].members.end(), std::size_t{0});
    if (nodes > 2) {
      split(0);
    } else {
      open_.push_back(0);
    }
  }

  [[nodiscard]] std::vector<Asked> round() {
    std::vector<Asked> asked = ask_open();
    return asked.empty() ? ask_each_other() : asked;
  }

  void report(const Asked& asked, bool good) {
    // Of two that measured each other and were low, either may be the reason: both stay open.
    if (asked.parts.size() > 1 && !good) return;
    for (const std::size_t part : asked.parts) {
      std::erase(open_, part);
      if (good) {
        settle_good(part);
      } else if (parts_[part].members.size() > 1) {
        split(part);
      }
    }
  }

 private:
  void split(std::size_t part) {
    const NodeNumbers all = parts_[part].members;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    for (NodeNumbers half : {NodeNumbers(all.begin(), middle), NodeNumbers(middle, all.end())}) {
      open_.push_back(parts_.size());
      parts_.push_back({.members = std::move(half), .whole = part});
    }
  }

  /// Parts of several nodes measure themselves, those of one need a helper that is free.
  [[nodiscard]] std::vector<Asked> ask_open() const {
    std::vector<Asked> asked;
    std::vector<bool> used(is_good_.size(), false);
    for (const std::size_t part : open_) {
      NodeNumbers nodes = parts_[part].members;
      if (nodes.size() == 1) {
        const auto helper = helper_of(part, used);
        if (!helper) continue;
        used[*helper] = true;
        nodes.insert(std::ranges::lower_bound(nodes, *helper), *helper);
      }
      asked.push_back({.nodes = std::move(nodes), .parts = {part}});
    }
    return asked;
  }

  /// Of another part first: with one of its own a bad link between the two would be blamed on it.
  [[nodiscard]] std::optional<std::size_t> helper_of(std::size_t part,
                                                     const std::vector<bool>& used) const {
    const NodeNumbers& own_half = parts_[other_half(part)].members;
    bool others = false;
    std::optional<std::size_t> own;
    for (std::size_t node = 0; node < is_good_.size(); ++node) {
      if (!is_good_[node]) continue;
      const bool is_own = std::ranges::binary_search(own_half, node);
      others = others || !is_own;
      if (used[node]) continue;
      if (!is_own) return node;
      own = node;
    }
    return others ? std::nullopt : own;
  }

  /// No good node is known, and what is open are single nodes.
  [[nodiscard]] std::vector<Asked> ask_each_other() {
    // With three bad nodes at most six are left in low pairs, and five rounds pair all of these.
    constexpr std::size_t kMutualRounds = 5;
    const auto rounds = round_robin(open_.size());
    std::vector<Asked> asked;
    while (asked.empty() && mutual_rounds_ < kMutualRounds && mutual_turn_ < rounds.size()) {
      for (const auto& pair : rounds[mutual_turn_++]) {
        const std::size_t first = open_[pair.first];
        const std::size_t second = open_[pair.second];
        if (other_half(first) == second) continue;  // they have measured each other
        NodeNumbers nodes{parts_[first].members.front(), parts_[second].members.front()};
        std::ranges::sort(nodes);
        asked.push_back({.nodes = std::move(nodes), .parts = {first, second}});
      }
    }
    if (!asked.empty()) ++mutual_rounds_;
    return asked;
  }

  /// A part that is low while both of its halves are good (a link, a switch) gives no helpers.
  void settle_good(std::size_t part) {
    parts_[part].good = true;
    for (const std::size_t node : parts_[part].members) is_good_[node] = true;
    const std::size_t whole = parts_[part].whole;
    if (whole == 0 || !parts_[other_half(part)].good) return;
    for (const std::size_t node : parts_[whole].members) is_good_[node] = false;
  }

  std::vector<NodePart> parts_;
  std::vector<bool> is_good_;        ///< per node
  std::vector<std::size_t> open_{};  ///< parts to be measured
  std::size_t mutual_rounds_ = 0;    ///< in which nodes measured each other
  std::size_t mutual_turn_ = 0;      ///< of the round_robin among them
};

}  // namespace

std::vector<NodeNumbers> next_groups(std::size_t nodes, const GroupIsGood& is_good) {
  Search search(nodes);
  while (true) {
    const std::vector<Asked> asked = search.round();
    std::vector<NodeNumbers> groups;
    std::vector<std::optional<bool>> good;
    for (const Asked& one : asked) {
      groups.push_back(one.nodes);
      good.push_back(is_good(one.nodes));
    }
    const bool measured = std::find(good.begin(), good.end(), std::nullopt) == good.end();
    if (asked.empty() || !measured) return groups;
    for (std::size_t i = 0; i < asked.size(); ++i) search.report(asked[i], *good[i]);
  }
}

}  // namespace busbar::judge
