// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "study/dataset.hpp"

namespace busbar::judge {

/// A launch's CSV, and what is the matter with it.
struct ObservationFile {
  Dataset dataset{};
  std::string failure{};  ///< "x.csv: no row in it", "x.csv: cut off: ..."; empty: it is whole
};

/// Reads one. Throws Error (Usage) with file, line and column where it is no CSV of ours.
[[nodiscard]] ObservationFile read_observation_file(const std::string& path);

}  // namespace busbar::judge
