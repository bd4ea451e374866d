// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "harness/options.hpp"
#include "model/collective.hpp"
#include "report/writer.hpp"
#include "topo/predict/predictor.hpp"

namespace busbar {

/// What the heads of a simulated run's outputs tell.
[[nodiscard]] RunContext simulation_context(const Options& options, const Collective& collective,
                                            const topo::Predictor& predictor,
                                            const std::string& command);

}  // namespace busbar
