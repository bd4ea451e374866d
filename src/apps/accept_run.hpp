// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "apps/accept_options.hpp"
#include "base/error.hpp"

namespace busbar {

/// `busbar accept run`: launches, keeps and judges. Throws Error for what ends it.
[[nodiscard]] Status accept_run(const AcceptOptions& options);

}  // namespace busbar
