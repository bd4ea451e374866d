// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "topo/predict/calibration.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::study {

/// How measured rows and a machine become curves that a prediction can be compared with.
struct CurveRequest {
  std::string collective{};  ///< if a log does not name it
  std::optional<int> ranks{};
  std::optional<int> gpus_per_process{};  ///< if a log does not name them
};

/// The rows of logs and CSVs by collective and ranks: out of place, else in place. The machine has
/// as many hosts as the ranks need. Throws Error (Usage) for what cannot be read or simulated.
[[nodiscard]] std::vector<topo::MeasuredCurve> curves_of_files(
    const std::vector<std::string>& paths, const topo::EqualHosts& machine,
    const CurveRequest& request);

/// What a published curve is for: the fit, the judgement of the fit, or one of few large sizes.
enum class Half { Fitted, HeldBack, Table };
constexpr auto enum_names(Half) {
  return std::array{Named{Half::Fitted, "fitted"}, Named{Half::HeldBack, "held back"},
                    Named{Half::Table, "table"}};
}
inline constexpr auto kHalves = all_values<Half>();

/// A published log or table of a covered machine.
struct FieldCurve {
  topo::MeasuredCurve curve;
  topo::Library library = topo::Library::Nccl226;
  Half half = Half::Table;
};

/// The curves of bench/field.toml; logs are in a folder. Those that are absent are left out.
[[nodiscard]] std::vector<FieldCurve> read_field(const std::string& path,
                                                 const std::string& folder);

}  // namespace busbar::study
