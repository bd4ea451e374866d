// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"

namespace busbar {

/// The sizes of a run, multiplied by `factor` (above 1) or increased by `step` bytes.
struct Sweep {
  Bytes first = kMiB;
  Bytes last = kGiB;
  Bytes step = 0;
  std::uint64_t factor = 2;

  [[nodiscard]] std::vector<Bytes> sizes() const;
};

/// "8-1024x2", "8-1024+64": as the header's configuration has it.
[[nodiscard]] std::string sweep_text(const Sweep& sweep);
/// Reads that text; nothing where it is none or its sizes do not rise.
[[nodiscard]] std::optional<Sweep> parse_sweep(std::string_view text);

}  // namespace busbar
