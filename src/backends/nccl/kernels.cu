// SPDX-License-Identifier: BSD-3-Clause
// Compiled to a fatbin that is part of the program's data: device_memory.cpp loads it.
#include "backends/nccl/kernels.cuh"
