// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "apps/accept_options.hpp"
#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar {

/// All of them below a folder, where they are not named.
[[nodiscard]] AcceptOutputs outputs_in(const std::string& folder, AcceptOutputs named);

/// Throws Error (Usage) where a file exists already (but for Prometheus, whose file is replaced),
/// or two outputs are one.
void check_outputs(const AcceptOutputs& outputs);

/// Writes those that are wanted.
void write_outputs(const AcceptOutputs& outputs, const judge::Acceptance& acceptance,
                   const judge::Specification& specification);

}  // namespace busbar
