// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/bisection.hpp"

#include <algorithm>
#include <numeric>

#include "base/round_robin.hpp"

namespace busbar::judge {
namespace {

/// With three bad nodes at most six are left in low pairs, and five rounds pair all of these.
constexpr std::size_t kMutualRounds = 5;

bool contains(const std::vector<std::size_t>& nodes, std::size_t node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

void insert_sorted(std::vector<std::size_t>& nodes, std::size_t node) {
  nodes.insert(std::lower_bound(nodes.begin(), nodes.end(), node), node);
}

}  // namespace

Bisection::Bisection(std::size_t nodes) : is_good_(nodes, false) {
  std::vector<std::size_t> all(nodes);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (nodes > 2) {
    split(std::move(all), std::nullopt);
  } else if (nodes > 0) {
    parts_.push_back({.members = std::move(all)});
    open_.push_back(0);
  }
}

void Bisection::split(std::vector<std::size_t> members, std::optional<std::size_t> whole) {
  const auto middle = members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2);
  const std::size_t first = parts_.size();
  std::vector<std::size_t> upper(middle, members.end());
  members.erase(middle, members.end());
  parts_.push_back({.members = std::move(members), .whole = whole, .sibling = first + 1});
  parts_.push_back({.members = std::move(upper), .whole = whole, .sibling = first});
  open_.push_back(first);
  open_.push_back(first + 1);
}

std::vector<Bisection::Group> Bisection::round() {
  if (asked_.empty()) asked_ = ask_open();
  if (asked_.empty()) asked_ = ask_each_other();
  if (asked_.empty()) give_up();
  std::vector<Group> groups;
  groups.reserve(asked_.size());
  for (const Asked& asked : asked_) groups.push_back(asked.group);
  return groups;
}

/// Parts of several nodes measure themselves, those of one need a helper that is free.
std::vector<Bisection::Asked> Bisection::ask_open() const {
  std::vector<Asked> asked;
  std::vector<bool> used(is_good_.size(), false);
  for (const std::size_t part : open_) {
    const std::vector<std::size_t>& members = parts_[part].members;
    if (members.size() > 1) {
      asked.push_back({.group = {.members = members}, .parts = {part}});
    } else if (const auto helper = helper_of(part, used)) {
      used[*helper] = true;
      asked.push_back({.group = {.members = members, .helpers = {*helper}}, .parts = {part}});
    }
  }
  return asked;
}

/// Of another part first: with one of its own a bad link between the two would be blamed on it.
std::optional<std::size_t> Bisection::helper_of(std::size_t part,
                                                const std::vector<bool>& used) const {
  const auto sibling = parts_[part].sibling;
  bool others = false;
  std::optional<std::size_t> own;
  for (std::size_t node = 0; node < is_good_.size(); ++node) {
    if (!is_good_[node]) continue;
    const bool is_own = sibling && contains(parts_[*sibling].members, node);
    others = others || !is_own;
    if (used[node]) continue;
    if (!is_own) return node;
    own = node;
  }
  return others ? std::nullopt : own;
}

/// No good node is known, and what is open are single nodes.
std::vector<Bisection::Asked> Bisection::ask_each_other() {
  const auto rounds = round_robin(open_.size());
  while (mutual_rounds_ < kMutualRounds && mutual_turn_ < rounds.size()) {
    std::vector<Asked> asked;
    for (const auto& pair : rounds[mutual_turn_++]) {
      const std::size_t first = open_[pair.first];
      const std::size_t second = open_[pair.second];
      const auto whole = parts_[first].whole;
      // Halves of one low pair have measured each other.
      if (whole && parts_[first].sibling == second) continue;
      asked.push_back(
          {.group = {.members = {parts_[first].members.front(), parts_[second].members.front()}},
           .parts = {first, second}});
    }
    if (asked.empty()) continue;
    ++mutual_rounds_;
    return asked;
  }
  return {};
}

void Bisection::give_up() {
  std::vector<bool> reported(parts_.size(), false);
  for (const std::size_t part : open_) {
    if (reported[part]) continue;
    std::vector<std::size_t> members = parts_[part].members;
    const auto sibling = parts_[part].sibling;
    const bool both = sibling && std::find(open_.begin(), open_.end(), *sibling) != open_.end();
    if (both && parts_[part].whole) {
      members = parts_[*parts_[part].whole].members;
      reported[*sibling] = true;
    }
    unresolved_.push_back(std::move(members));
  }
  open_.clear();
}

void Bisection::report(const std::vector<Finding>& outcomes) {
  const std::vector<Asked> asked = std::move(asked_);
  asked_.clear();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Finding outcome = i < outcomes.size() ? outcomes[i] : Finding::NoData;
    // Of two that measured each other and were low, either may be the reason: both stay open.
    if (asked[i].parts.size() > 1 && outcome != Finding::Good) continue;
    for (const std::size_t part : asked[i].parts) {
      std::erase(open_, part);
      settle(part, outcome);
    }
  }
}

void Bisection::settle(std::size_t part, Finding outcome) {
  if (outcome == Finding::Good) return settle_good(part);
  const std::vector<std::size_t> members = parts_[part].members;
  if (members.size() > 1) return split(members, part);
  insert_sorted(outcome == Finding::Low ? bad_ : silent_, members.front());
}

void Bisection::settle_good(std::size_t part) {
  parts_[part].good = true;
  for (const std::size_t node : parts_[part].members) is_good_[node] = true;
  const auto whole = parts_[part].whole;
  if (!whole || !parts_[*parts_[part].sibling].good) return;
  const std::vector<std::size_t>& both = parts_[*whole].members;
  for (const std::size_t node : both) is_good_[node] = false;
  unresolved_.push_back(both);
}

std::vector<std::size_t> Bisection::good() const {
  std::vector<std::size_t> nodes;
  for (std::size_t node = 0; node < is_good_.size(); ++node) {
    if (is_good_[node]) nodes.push_back(node);
  }
  return nodes;
}

}  // namespace busbar::judge
