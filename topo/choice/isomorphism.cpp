// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/isomorphism.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "base/splitmix64.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {
namespace {

std::uint64_t mix(std::uint64_t one, std::uint64_t other) {
  return splitmix64(splitmix64(one) ^ other);
}
std::uint64_t mix(double value) { return splitmix64(std::bit_cast<std::uint64_t>(value)); }

}  // namespace

/// Only the tightest of rows with the same uses binds.
InducedSubgraph::Rows InducedSubgraph::normalised(Rows rows) {
  for (Row& row : rows) std::ranges::sort(row.uses);
  std::ranges::sort(rows);
  const auto same = [](const Row& one, const Row& other) { return one.uses == other.uses; };
  rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
  return rows;
}

InducedSubgraph::InducedSubgraph(const RingProblem& problem, std::span<const int> set)
    : devices_(static_cast<int>(set.size())) {
  Row hops;  // which there are, whatever they use
  std::map<int, Row> rows;
  for (int i = 0; i < devices_; ++i) {
    for (int j = 0; j < devices_; ++j) {
      const Hop& hop = problem.hop(set[to_size(i)], set[to_size(j)]);
      if (i == j || !hop) continue;
      hops.uses.push_back({.from = i, .to = j, .times = 0});
      for (const Use& use : *hop) {
        Row& row = rows[use.resource];
        row.capacity = problem.capacity.at(to_size(use.resource));
        row.uses.push_back({.from = i, .to = j, .times = use.times});
      }
    }
  }
  rows_.push_back(std::move(hops));
  for (auto& [resource, row] : rows) rows_.push_back(std::move(row));
  rows_ = normalised(std::move(rows_));
  set_colours();
}

/// Of hops by what they use, of devices by their hops and their neighbours' colours, often enough
/// to reach all of the subgraph.
void InducedSubgraph::set_colours() {
  hop_colours_.assign(to_size(devices_ * devices_), 0);
  for (const Row& row : rows_) {
    const std::uint64_t colour = mix(mix(row.capacity), row.uses.size());
    for (const HopUse& use : row.uses) {
      hop_colours_[to_size(use.from * devices_ + use.to)] += mix(colour, mix(use.times));
    }
  }
  constexpr int kRounds = 3;
  colours_.assign(to_size(devices_), 0);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::uint64_t> next;
    for (int i = 0; i < devices_; ++i) {
      next.push_back(splitmix64(colours_[to_size(i)]));
      for (int j = 0; j < devices_; ++j) {
        if (i != j) next.back() += mix(mix(colour(i, j), colour(j, i)), colours_[to_size(j)]);
      }
    }
    colours_ = std::move(next);
  }
  signature_ = mix(to_size(devices_), rows_.size());
  for (const std::uint64_t colour : colours_) signature_ += splitmix64(colour);
}

/// Whether the next device of this subgraph may become `candidate` of the other.
bool InducedSubgraph::fits(std::span<const int> image, int candidate,
                           const InducedSubgraph& other) const {
  const auto next = static_cast<int>(image.size());
  if (colours_[image.size()] != other.colours_[to_size(candidate)]) return false;
  for (int i = 0; i < next; ++i) {
    const int known = image[to_size(i)];
    if (known == candidate || colour(i, next) != other.colour(known, candidate) ||
        colour(next, i) != other.colour(candidate, known)) {
      return false;
    }
  }
  return true;
}

bool InducedSubgraph::extend(std::vector<int>& image, const InducedSubgraph& other,
                             int& steps) const {
  constexpr int kMostSteps = 4000;
  if (++steps > kMostSteps) return false;
  if (image.size() == to_size(devices_)) return same_under(image, other);
  for (int candidate = 0; candidate < devices_; ++candidate) {
    if (!fits(image, candidate, other)) continue;
    image.push_back(candidate);
    if (extend(image, other, steps)) return true;
    image.pop_back();
  }
  return false;
}

/// Colours are only hashes: this compares the programs themselves.
bool InducedSubgraph::same_under(std::span<const int> image, const InducedSubgraph& other) const {
  Rows rows = rows_;
  for (Row& row : rows) {
    for (HopUse& use : row.uses) {
      use.from = image[to_size(use.from)];
      use.to = image[to_size(use.to)];
    }
  }
  return normalised(std::move(rows)) == other.rows_;
}

bool InducedSubgraph::isomorphic_to(const InducedSubgraph& other) const {
  if (signature_ != other.signature_ || devices_ != other.devices_) return false;
  std::vector<int> image;
  int steps = 0;
  return extend(image, other, steps);
}

bool InducedSubgraph::unchanged_by_swap(int one, int other) const {
  if (colours_[to_size(one)] != colours_[to_size(other)]) return false;
  std::vector<int> image = first_numbers(to_size(devices_));
  std::swap(image[to_size(one)], image[to_size(other)]);
  return same_under(image, *this);
}

std::vector<std::vector<std::size_t>> group_isomorphic(const RingProblem& problem,
                                                       std::span<const std::vector<int>> sets) {
  std::vector<std::vector<std::size_t>> groups;
  std::vector<InducedSubgraph> firsts;
  std::unordered_multimap<std::uint64_t, std::size_t> known;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    InducedSubgraph induced(problem, sets[i]);
    const auto [begin, end] = known.equal_range(induced.signature());
    const auto found = std::find_if(
        begin, end, [&](const auto& entry) { return firsts[entry.second].isomorphic_to(induced); });
    if (found != end) {
      groups[found->second].push_back(i);
      continue;
    }
    known.emplace(induced.signature(), groups.size());
    groups.push_back({i});
    firsts.push_back(std::move(induced));
  }
  return groups;
}

}  // namespace busbar::topo
