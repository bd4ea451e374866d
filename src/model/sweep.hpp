// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/units.hpp"

namespace busbar {

/// The sizes of a run: from `first` to `last`, multiplied by `factor` (above 1) or increased by
/// `step` bytes.
struct Sweep {
  Bytes first = kMiB;
  Bytes last = kGiB;
  Bytes step = 0;
  std::uint64_t factor = 2;

  [[nodiscard]] std::vector<Bytes> sizes() const {
    std::vector<Bytes> sizes;
    for (Bytes size = first; size <= last;) {
      sizes.push_back(size);
      const Bytes increase = factor > 1 ? size * (factor - 1) : step;
      if (increase > last - size) break;
      size += increase;
    }
    return sizes;
  }
};

}  // namespace busbar
