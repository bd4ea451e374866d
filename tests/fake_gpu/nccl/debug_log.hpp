// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tests/fake_gpu/nccl/communicator.hpp"
#include "tests/fake_gpu/nccl/operation.hpp"

namespace fake_gpu {

/// What NCCL 2.28 logs at NCCL_DEBUG=INFO when a communicator is ready (INIT).
void log_init(const Communicator& comm);
/// What it logs for an operation: how the rank connects, at its first (INIT), and what rank 0 chose
/// for a collective (TUNING).
void log_operation(const Operation& operation);

}  // namespace fake_gpu
