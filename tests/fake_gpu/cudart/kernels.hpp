// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <cuda_runtime_api.h>

#include "tests/fake_gpu/cudart/stream.hpp"

namespace fake_gpu {

/// Makes the work of a launch from pointers to the arguments, which it copies.
using Kernel = Job (*)(void* const* arguments);

/// Null where the fake has no such kernel.
[[nodiscard]] Kernel find_kernel(std::string_view name);

/// Queues a launch on a stream of this thread's device.
[[nodiscard]] cudaError_t launch_kernel(Kernel kernel, const dim3& grid, const dim3& block,
                                        void* const* arguments, cudaStream_t stream);

}  // namespace fake_gpu
