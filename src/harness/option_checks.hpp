// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string_view>

#include "harness/options.hpp"
#include "model/backend.hpp"

namespace busbar {

/// Checks what only all options together tell; throws a usage error.
void check_options(const Options& options);

/// Refuses options that this backend, or this collective, has nothing for; throws a usage error.
void check_applicable(const Options& options, const Backend& backend, const Collective& collective);

/// Adds what nccl-tests' variables say. `lookup` is std::getenv but for tests. Throws a usage
/// error.
void apply_environment(Options& options, const std::function<const char*(const char*)>& lookup);

}  // namespace busbar
