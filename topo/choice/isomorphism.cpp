// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/isomorphism.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

namespace busbar::topo {
namespace {

constexpr int kMostSteps = 4000;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

std::uint64_t mix(std::uint64_t one, std::uint64_t other) { return mix(mix(one) ^ other); }
std::uint64_t mix(double value) { return mix(std::bit_cast<std::uint64_t>(value)); }

}  // namespace

/// Of rows with the same uses only the tightest binds.
void InducedSubgraph::normalise(std::vector<Row>& rows) {
  for (Row& row : rows) std::sort(row.uses.begin(), row.uses.end());
  std::sort(rows.begin(), rows.end(), [](const Row& one, const Row& other) {
    return one.uses != other.uses ? one.uses < other.uses : one.capacity < other.capacity;
  });
  const auto same = [](const Row& one, const Row& other) { return one.uses == other.uses; };
  rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
}

InducedSubgraph::InducedSubgraph(const RingProblem& problem, std::span<const int> set)
    : devices_(set.size()) {
  std::vector<int> row_of(problem.capacity.size(), -1);
  for (std::size_t i = 0; i < set.size(); ++i) {
    hops_.emplace_back(set.size(), false);
    for (std::size_t j = 0; j < set.size(); ++j) {
      const Hop& hop = problem.hop(set[i], set[j]);
      if (i == j || !hop) continue;
      hops_[i][j] = true;
      for (const Use& use : *hop) {
        int& row = row_of.at(at(use.resource));
        if (row < 0) {
          row = static_cast<int>(rows_.size());
          rows_.push_back({.capacity = problem.capacity.at(at(use.resource))});
        }
        rows_[at(row)].uses.push_back(
            {.from = static_cast<int>(i), .to = static_cast<int>(j), .times = use.times});
      }
    }
  }
  normalise(rows_);
  colour_hops();
  colour_devices();
}

void InducedSubgraph::colour_hops() {
  hop_colours_.assign(devices_, std::vector<std::uint64_t>(devices_, 0));
  for (std::size_t i = 0; i < devices_; ++i) {
    for (std::size_t j = 0; j < devices_; ++j) hop_colours_[i][j] = hops_[i][j] ? 1 : 0;
  }
  for (const Row& row : rows_) {
    const std::uint64_t colour = mix(mix(row.capacity), row.uses.size());
    for (const HopUse& use : row.uses) {
      hop_colours_[at(use.from)][at(use.to)] += mix(colour, mix(use.times));
    }
  }
}

/// By their hops and their neighbours' colours, often enough to reach all of the subgraph.
void InducedSubgraph::colour_devices() {
  constexpr int kRounds = 3;
  colours_.assign(devices_, 0);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::uint64_t> next(devices_, 0);
    for (std::size_t i = 0; i < devices_; ++i) {
      next[i] = mix(colours_[i]);
      for (std::size_t j = 0; j < devices_; ++j) {
        if (i == j) continue;
        next[i] += mix(mix(hop_colours_[i][j], hop_colours_[j][i]), colours_[j]);
      }
    }
    colours_ = std::move(next);
  }
  signature_ = mix(devices_, rows_.size());
  for (const std::uint64_t colour : colours_) signature_ += mix(colour);
}

/// Whether the next device of this subgraph may become `candidate` of the other.
bool InducedSubgraph::fits(std::span<const int> image, std::size_t candidate,
                           const InducedSubgraph& other) const {
  const std::size_t next = image.size();
  if (colours_[next] != other.colours_[candidate]) return false;
  for (std::size_t i = 0; i < next; ++i) {
    const std::size_t known = at(image[i]);
    if (known == candidate) return false;
    if (hop_colours_[i][next] != other.hop_colours_[known][candidate]) return false;
    if (hop_colours_[next][i] != other.hop_colours_[candidate][known]) return false;
  }
  return true;
}

bool InducedSubgraph::extend(std::vector<int>& image, const InducedSubgraph& other,
                             int& steps) const {
  if (++steps > kMostSteps) return false;
  if (image.size() == devices_) return same_under(image, other);
  for (std::size_t candidate = 0; candidate < devices_; ++candidate) {
    if (!fits(image, candidate, other)) continue;
    image.push_back(static_cast<int>(candidate));
    if (extend(image, other, steps)) return true;
    image.pop_back();
  }
  return false;
}

/// Colours are only hashes: this compares the programs themselves.
bool InducedSubgraph::same_under(std::span<const int> image, const InducedSubgraph& other) const {
  for (std::size_t i = 0; i < devices_; ++i) {
    for (std::size_t j = 0; j < devices_; ++j) {
      if (hops_[i][j] != other.hops_[at(image[i])][at(image[j])]) return false;
    }
  }
  std::vector<Row> rows = rows_;
  for (Row& row : rows) {
    for (HopUse& use : row.uses) {
      use.from = image[at(use.from)];
      use.to = image[at(use.to)];
    }
  }
  normalise(rows);
  return rows == other.rows_;
}

bool InducedSubgraph::isomorphic_to(const InducedSubgraph& other) const {
  if (signature_ != other.signature_ || devices_ != other.devices_) return false;
  std::vector<int> image;
  int steps = 0;
  return extend(image, other, steps);
}

bool InducedSubgraph::unchanged_by_swap(std::size_t one, std::size_t other) const {
  if (colours_[one] != colours_[other]) return false;
  std::vector<int> image(devices_);
  std::iota(image.begin(), image.end(), 0);
  std::swap(image[one], image[other]);
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
