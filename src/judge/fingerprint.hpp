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

/// Why launches are not of this system or over its backend, or a fact is not known; or empty.
[[nodiscard]] std::string fingerprint_error(const Specification& specification,
                                            std::span<const Observation> observations,
                                            const Facts& assumed);

[[nodiscard]] std::string set_error(const DeviceSetRule& set,
                                    std::span<const Observation> observations,
                                    const Facts& assumed);

/// Why no run of ours can have the fingerprint, or empty: over MPI no GPUs are probed.
[[nodiscard]] std::string unreported_error(const Specification& specification,
                                           const Facts& assumed);

}  // namespace busbar::judge
