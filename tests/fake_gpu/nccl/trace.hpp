// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace fake_gpu {

/// Appends a line to the file that FAKE_NCCL_TRACE names, where it names one.
void trace(const std::string& line);

}  // namespace fake_gpu
