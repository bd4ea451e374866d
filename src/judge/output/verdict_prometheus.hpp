// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// Text for node_exporter's textfile collector. Of a device set with more than 64 instances only
/// those have series of their own that are not PASS.
[[nodiscard]] std::string verdict_prometheus(const Judgement& judgement,
                                             const Specification& specification);

}  // namespace busbar::judge
