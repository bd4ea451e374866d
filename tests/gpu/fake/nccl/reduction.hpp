// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include <nccl.h>

namespace fake_gpu {

/// 0 for a type that NCCL does not know.
[[nodiscard]] std::size_t size_of(ncclDataType_t type);
[[nodiscard]] bool is_fp8(ncclDataType_t type);

/// An operator on a type, over so many ranks.
struct Reduction {
  ncclRedOp_t op = ncclSum;
  ncclDataType_t type = ncclInt8;
  int ranks = 1;
};

/// out[i] = inputs[0][i] op inputs[1][i] op ..., in this order and rounded to the type at each
/// step; `out` may be one of the inputs.
void reduce(const Reduction& how, const std::vector<const unsigned char*>& inputs,
            unsigned char* out, std::size_t bytes);

}  // namespace fake_gpu
