// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/candidates.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "topo/choice/likeness.hpp"

namespace busbar::topo {
namespace {

/// Places of the pool that may stand for one another.
using Twins = std::vector<std::size_t>;

class TwinFinder {
 public:
  TwinFinder(std::span<const int> pool, const Rater& rater, const TieBreaker& ties)
      : pool_(pool), ties_(ties), rings_(rater.first().problem()) {
    if (rater.fallback()) fallback_.emplace(rater.fallback()->problem());
  }

  [[nodiscard]] std::vector<Twins> find() const {
    std::vector<Twins> classes;
    for (std::size_t place = 0; place < pool_.size(); ++place) {
      const auto home = std::find_if(classes.begin(), classes.end(), [&](const Twins& twins) {
        return exchangeable(twins.front(), place);
      });
      if (home == classes.end()) {
        classes.push_back({place});
      } else {
        home->push_back(place);
      }
    }
    return classes;
  }

 private:
  [[nodiscard]] bool exchangeable(std::size_t one, std::size_t other) const {
    return ties_.numa(pool_[one]) == ties_.numa(pool_[other]) &&
           ties_.nic_steps(pool_[one]) == ties_.nic_steps(pool_[other]) &&
           rings_.unchanged_by(one, other) && (!fallback_ || fallback_->unchanged_by(one, other));
  }

  std::span<const int> pool_;
  const TieBreaker& ties_;
  Exchange rings_;
  std::optional<Exchange> fallback_{};
};

/// All ways to take k from classes of given sizes; false where they are more than kMostSets.
bool enumerate(const std::vector<Twins>& classes, std::size_t k,
               std::vector<std::vector<std::size_t>>& ways) {
  std::vector<std::size_t> room(classes.size() + 1, 0);  // what the classes from here on hold
  for (std::size_t i = classes.size(); i-- > 0;) room[i] = room[i + 1] + classes[i].size();
  std::vector<std::vector<std::size_t>> partial{{}};
  std::vector<std::size_t> taken{0};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    std::vector<std::vector<std::size_t>> next;
    std::vector<std::size_t> next_taken;
    for (std::size_t p = 0; p < partial.size(); ++p) {
      const std::size_t left = k - taken[p];
      const std::size_t least = left > room[i + 1] ? left - room[i + 1] : 0;
      for (std::size_t count = std::min(left, classes[i].size()) + 1; count-- > least;) {
        next.push_back(partial[p]);
        next.back().push_back(count);
        next_taken.push_back(taken[p] + count);
        if (next.size() > kMostSets) return false;
      }
    }
    partial = std::move(next);
    taken = std::move(next_taken);
  }
  ways = std::move(partial);
  return true;
}

Candidate candidate_of(const std::vector<Twins>& classes, const std::vector<std::size_t>& way,
                       std::span<const int> pool) {
  Candidate candidate;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    candidate.count = multiply_counts(candidate.count, count_sets(classes[i].size(), way[i]));
    for (std::size_t j = 0; j < way[i]; ++j) candidate.set.push_back(pool[classes[i][j]]);
  }
  std::sort(candidate.set.begin(), candidate.set.end());
  return candidate;
}

std::vector<Candidate> by_classes(std::span<const int> pool, std::size_t k, const Rater& rater,
                                  const TieBreaker& ties) {
  const std::vector<Twins> classes = TwinFinder(pool, rater, ties).find();
  std::vector<std::vector<std::size_t>> ways;
  if (!enumerate(classes, k, ways)) {
    throw usage_error(
        fmt::format("--devices: {} of {} of {} devices are too many to compare; choose within one "
                    "host, or give a list such as --devices 0,1,2,3",
                    counted_sets(count_sets(pool.size(), k)), k, pool.size()));
  }
  std::vector<Candidate> candidates;
  for (const auto& way : ways) candidates.push_back(candidate_of(classes, way, pool));
  return candidates;
}

}  // namespace

std::vector<Candidate> candidates_of(std::span<const int> pool, std::size_t k, const Rater& rater,
                                     const TieBreaker& ties) {
  std::vector<Candidate> candidates;
  if (count_sets(pool.size(), k) > kMostSets) {
    candidates = by_classes(pool, k, rater, ties);
  } else {
    for (DeviceSet& set : all_sets(pool, k)) candidates.push_back({.set = std::move(set)});
  }
  for (Candidate& candidate : candidates) candidate.tie = ties.of(candidate.set);
  return candidates;
}

}  // namespace busbar::topo
