// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "base/error.hpp"

namespace busbar {

/// `busbar published FILE`, without these two words: the file's rates as CSV. Throws Error for what
/// ends it.
Status run_published(std::span<char* const> arguments);

}  // namespace busbar
