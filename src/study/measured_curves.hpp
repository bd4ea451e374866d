// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topo/predict/calibration.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::study {

/// How measured rows and a machine become curves that a prediction can be compared with.
struct CurveRequest {
  std::string collective{};  ///< if a log does not name it
  std::optional<int> ranks{};
  int gpus_per_process = 1;
};

/// The rows of logs and CSVs by collective and ranks: out of place, else in place. The machine has
/// as many hosts as the ranks need. Throws Error (Usage) for what cannot be read or simulated.
[[nodiscard]] std::vector<topo::MeasuredCurve> curves_of_files(
    const std::vector<std::string>& paths, const topo::EqualHosts& machine,
    const CurveRequest& request);

/// A published log or table of a covered machine.
struct FieldCurve {
  topo::MeasuredCurve curve;
  topo::Library library = topo::Library::Nccl226;
  bool held_back = false;  ///< every other one of a library, by name; not fitted
};

/// The curves of bench/field.toml; logs are in a folder. Those that are absent are left out.
[[nodiscard]] std::vector<FieldCurve> read_field(const std::string& path,
                                                 const std::string& folder);

}  // namespace busbar::study
