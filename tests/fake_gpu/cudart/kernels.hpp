// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "tests/fake_gpu/cudart/stream.hpp"

namespace fake_gpu {

/// Makes the work of a launch from pointers to the arguments, which it copies.
using Kernel = Job (*)(void* const* arguments);

/// Null where the fake has no such kernel.
[[nodiscard]] Kernel find_kernel(std::string_view name);

}  // namespace fake_gpu
