// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace fake_gpu {

/// The version that this library is built as.
[[nodiscard]] int built_nccl_version();

/// FAKE_NCCL_VERSION, else the version that this library is built as.
[[nodiscard]] int nccl_version();

}  // namespace fake_gpu
