// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/likeness.hpp"

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

std::vector<int> all_devices(const RingProblem& problem) {
  std::vector<int> all(at(problem.n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

/// Of rows with the same uses only the tightest binds.
void Induced::normalise(std::vector<Row>& rows) {
  for (Row& row : rows) std::sort(row.uses.begin(), row.uses.end());
  std::sort(rows.begin(), rows.end(), [](const Row& one, const Row& other) {
    return one.uses != other.uses ? one.uses < other.uses : one.capacity < other.capacity;
  });
  const auto same = [](const Row& one, const Row& other) { return one.uses == other.uses; };
  rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
}

Induced::Induced(const RingProblem& problem, std::span<const int> set) : devices_(set.size()) {
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
  refine();
}

void Induced::colour_hops() {
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

/// Colours each device by its hops and its neighbours' colours, often enough to reach all of it.
void Induced::refine() {
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

/// A search for a renaming of one problem's devices that gives the other.
class Renaming {
 public:
  Renaming(const Induced& one, const Induced& other)
      : one_(one), other_(other), image_(one.devices_, -1), used_(one.devices_, false) {}

  bool find(std::size_t next = 0) {
    if (++steps_ > kMostSteps) return false;
    if (next == image_.size()) return one_.same_under(image_, other_);
    for (std::size_t candidate = 0; candidate < image_.size(); ++candidate) {
      if (used_[candidate] || !fits(next, candidate)) continue;
      used_[candidate] = true;
      image_[next] = static_cast<int>(candidate);
      if (find(next + 1)) return true;
      used_[candidate] = false;
    }
    return false;
  }

 private:
  [[nodiscard]] bool fits(std::size_t next, std::size_t candidate) const {
    if (one_.colours_[next] != other_.colours_[candidate]) return false;
    for (std::size_t i = 0; i < next; ++i) {
      const std::size_t image = at(image_[i]);
      if (one_.hop_colours_[i][next] != other_.hop_colours_[image][candidate]) return false;
      if (one_.hop_colours_[next][i] != other_.hop_colours_[candidate][image]) return false;
    }
    return true;
  }

  const Induced& one_;
  const Induced& other_;
  std::vector<int> image_;
  std::vector<bool> used_;
  int steps_ = 0;
};

/// Colours are only hashes: this compares the programs themselves.
bool Induced::same_under(std::span<const int> image, const Induced& other) const {
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
  return std::equal(rows.begin(), rows.end(), other.rows_.begin(), other.rows_.end(),
                    [](const Row& mine, const Row& theirs) {
                      return mine.capacity == theirs.capacity && mine.uses == theirs.uses;
                    });
}

bool Induced::like(const Induced& other) const {
  if (signature_ != other.signature_ || devices_ != other.devices_) return false;
  return Renaming(*this, other).find();
}

Exchange::Exchange(const RingProblem& problem) : all_(problem, all_devices(problem)) {}

bool Exchange::unchanged_by(std::size_t one, std::size_t other) const {
  if (!all_.coloured_alike(one, other)) return false;
  std::vector<int> image(all_.devices());
  std::iota(image.begin(), image.end(), 0);
  std::swap(image[one], image[other]);
  return all_.same_under(image, all_);
}

std::vector<std::vector<std::size_t>> group_alike(const RingProblem& problem,
                                                  std::span<const std::vector<int>> sets) {
  std::vector<std::vector<std::size_t>> groups;
  std::vector<Induced> firsts;
  std::unordered_multimap<std::uint64_t, std::size_t> known;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    Induced induced(problem, sets[i]);
    const auto [begin, end] = known.equal_range(induced.signature());
    const auto found = std::find_if(
        begin, end, [&](const auto& entry) { return firsts[entry.second].like(induced); });
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
