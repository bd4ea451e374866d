// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// "'NVIDIA H200' or 'NVIDIA H200 NVL'".
[[nodiscard]] std::string alternatives(const std::vector<std::string>& wanted);

/// Why the launches are not of the specification's system, or not over its backend, or empty. A
/// fact that neither files nor `assumed` have is a reason too.
[[nodiscard]] std::string fingerprint_error(const Specification& specification,
                                            std::span<const Observation> observations,
                                            const Facts& assumed);

/// The same by the fingerprint of a device set.
[[nodiscard]] std::string set_error(const DeviceSetRule& set,
                                    std::span<const Observation> observations,
                                    const Facts& assumed);

/// Why no run of ours can have the fingerprint, or empty: over MPI no GPUs are probed.
[[nodiscard]] std::string unreported_error(const Specification& specification,
                                           const Facts& assumed);

}  // namespace busbar::judge
