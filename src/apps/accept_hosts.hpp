// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "apps/accept_options.hpp"
#include "judge/spec/specification.hpp"

namespace busbar {

/// The nodes of a run: of the command line, else of the specification, else those that Slurm has
/// given, else this one. Throws Error (Usage) where a device set cannot be made of them.
[[nodiscard]] std::vector<std::string> accept_hosts(const AcceptOptions& options,
                                                    const judge::Specification& specification);

}  // namespace busbar
