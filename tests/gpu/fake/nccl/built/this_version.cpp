// SPDX-License-Identifier: BSD-3-Clause
// libnccl.so.2 as the header has it.

#include "tests/gpu/fake/nccl/config.hpp"

namespace fake_gpu {

int built_nccl_version() { return NCCL_VERSION_CODE; }

}  // namespace fake_gpu
