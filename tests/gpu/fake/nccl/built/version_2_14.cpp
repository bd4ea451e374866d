// SPDX-License-Identifier: BSD-3-Clause
// nccl-2.14/libnccl.so.2, which exports what that version had.
#include "tests/gpu/fake/nccl/config.hpp"

namespace fake_gpu {

int built_nccl_version() { return 21403; }

}  // namespace fake_gpu
