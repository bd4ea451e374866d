// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "base/error.hpp"

namespace busbar {

/// `busbar accept ...`, without these two words. Throws Error for what ends it.
Status run_accept(std::span<char* const> arguments);

}  // namespace busbar
