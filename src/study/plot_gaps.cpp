// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_gaps.hpp"

#include <cmath>
#include <cstdlib>

#include "base/text.hpp"

namespace busbar {
namespace {

/// The word after "key=" of the head's configuration, or empty.
std::string setting(const Dataset& dataset, const std::string& key) {
  for (const std::string& word : split(dataset.fact("configuration"), ' ')) {
    if (word.starts_with(key + '=')) return word.substr(key.size() + 1);
  }
  return {};
}

/// Reads a number and drops it from the text; 0 where there is none.
double take_number(std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  text.erase(0, static_cast<std::size_t>(end - text.c_str()));
  return value;
}

}  // namespace

PlannedSizes::PlannedSizes(std::span<const Dataset> datasets) {
  for (const Dataset& dataset : datasets) {
    add_sweep(dataset);
    for (const Record& r : dataset.records) {
      rows_.insert({dataset.label, r.collective, r.type, r.op, r.ranks, r.in_place, r.size});
    }
  }
}

void PlannedSizes::add_sweep(const Dataset& dataset) {
  std::string text = setting(dataset, "sizes");
  Sweep sweep{.label = dataset.label, .collective = setting(dataset, "collective")};
  sweep.first = take_number(text);
  if (!text.starts_with('-')) return;
  text.erase(0, 1);
  sweep.last = take_number(text);
  if (text.size() < 2) return;
  const bool factor = text.front() == 'x';
  text.erase(0, 1);
  (factor ? sweep.factor : sweep.step) = take_number(text);
  if (sweep.factor > 1 || sweep.step > 0) sweeps_.push_back(sweep);
}

/// Half a step of tolerance: a size is rounded down to what divides by type and ranks.
bool PlannedSizes::planned(const Sweep& sweep, double below, double above) {
  if (sweep.factor > 1) {
    const double half = std::sqrt(sweep.factor);
    const double first = std::max(1.0, sweep.first);
    const double steps =
        std::ceil(std::log(std::max(1.0, below * half / first)) / std::log(sweep.factor) - 1e-9);
    const double next = first * std::pow(sweep.factor, steps);
    return next < above / half && next <= sweep.last;
  }
  const double steps = std::ceil(std::max(0.0, below + sweep.step / 2 - sweep.first) / sweep.step);
  const double next = sweep.first + steps * sweep.step;
  return next < above - sweep.step / 2 && next <= sweep.last;
}

bool PlannedSizes::missing_between(const CurveKey& key, Bytes below, Bytes above) const {
  const auto row = rows_.upper_bound(
      {key.label, key.collective, key.type, key.op, key.ranks, key.in_place, below});
  const RowKey end{key.label, key.collective, key.type, key.op, key.ranks, key.in_place, above};
  if (row != rows_.end() && *row < end) return true;
  for (const Sweep& sweep : sweeps_) {
    if (sweep.label == key.label && sweep.collective == key.collective &&
        planned(sweep, static_cast<double>(below), static_cast<double>(above))) {
      return true;
    }
  }
  return false;
}

}  // namespace busbar
