// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace fake_gpu {

/// The version of the header this was built with, or FAKE_NCCL_VERSION.
[[nodiscard]] int nccl_version();

}  // namespace fake_gpu
