// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// A specification as it was read, under the keys of its file: profile applied, lists and ranges
/// written out, defaults included. A missing value is null.
[[nodiscard]] std::string specification_json(const Specification& specification);

}  // namespace busbar::judge
