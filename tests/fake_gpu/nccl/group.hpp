// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include <nccl.h>

#include "tests/fake_gpu/nccl/communicator.hpp"
#include "tests/fake_gpu/nccl/operation.hpp"

namespace fake_gpu {

/// Calls of this thread between ncclGroupStart and ncclGroupEnd; a call outside is a group of one.
void begin_group();
[[nodiscard]] ncclResult_t end_group();
[[nodiscard]] bool in_group();
/// Remembers the first error of a group, which its end returns.
void spoil_group(ncclResult_t error);

/// Adds a checked operation.
[[nodiscard]] ncclResult_t add_to_group(const Operation& operation);
/// Adds what all ranks of a communicator do before the group's operations.
[[nodiscard]] ncclResult_t add_to_group(const CommPointer& comm,
                                        std::function<ncclResult_t()> task);
/// A communicator that is starting: the group's end waits for it. Null where it is not in a group.
void add_to_group(const CommPointer& starting);

}  // namespace fake_gpu
