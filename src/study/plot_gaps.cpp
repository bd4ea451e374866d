// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_gaps.hpp"

#include <algorithm>
#include <cmath>

namespace busbar {
namespace {

/// Half a step of tolerance: a size is rounded down to what divides by type and ranks.
bool has_between(const Sweep& sweep, double below, double above) {
  const auto first = static_cast<double>(sweep.first);
  const auto last = static_cast<double>(sweep.last);
  if (sweep.factor > 1) {
    const auto factor = static_cast<double>(sweep.factor);
    const double half = std::sqrt(factor);
    const double least = std::max(1.0, first);
    const double steps =
        std::ceil(std::log(std::max(1.0, below * half / least)) / std::log(factor) - 1e-9);
    const double next = least * std::pow(factor, steps);
    return next < above / half && next <= last;
  }
  const auto step = static_cast<double>(sweep.step);
  const double steps = std::ceil(std::max(0.0, below + step / 2 - first) / step);
  const double next = first + steps * step;
  return next < above - step / 2 && next <= last;
}

}  // namespace

PlannedSizes::PlannedSizes(std::span<const Dataset> datasets) {
  for (const Dataset& dataset : datasets) {
    if (const auto sweep = parse_sweep(dataset.setting("sizes"))) {
      sweeps_.push_back({dataset.label, dataset.setting("collective"), *sweep});
    }
    for (const Record& r : dataset.records) {
      const RowKey row{.collective = r.collective,
                       .type = r.type,
                       .op = r.op,
                       .ranks = r.ranks,
                       .in_place = r.in_place};
      rows_[{dataset.label, row}].insert(r.size);
    }
  }
}

bool PlannedSizes::missing_between(const CurveKey& key, Bytes below, Bytes above) const {
  const RowKey row{.collective = key.collective,
                   .type = key.type,
                   .op = key.op,
                   .ranks = key.ranks,
                   .in_place = key.in_place};
  if (const auto known = rows_.find({key.label, row}); known != rows_.end()) {
    const auto next = known->second.upper_bound(below);
    if (next != known->second.end() && *next < above) return true;
  }
  return std::any_of(sweeps_.begin(), sweeps_.end(), [&](const PlannedSweep& planned) {
    return planned.label == key.label && planned.collective == key.collective &&
           has_between(planned.sweep, static_cast<double>(below), static_cast<double>(above));
  });
}

}  // namespace busbar
