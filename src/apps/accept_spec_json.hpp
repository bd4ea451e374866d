// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/spec/specification.hpp"

namespace busbar {

/// A specification as it was understood, under the keys of its file: profile applied, lists and
/// ranges written out, defaults given. What it does not say is null.
[[nodiscard]] std::string specification_json(const judge::Specification& specification);

}  // namespace busbar
