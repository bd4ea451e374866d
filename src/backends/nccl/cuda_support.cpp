// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/cuda_support.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar {

void check_cuda(cudaError_t code, Where where) {
  if (code == cudaSuccess) return;
  throw runtime_failure(
      fmt::format("CUDA: {} ({})", cudaGetErrorString(code), cudaGetErrorName(code)), where);
}

CudaStream::CudaStream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }

CudaEvent::CudaEvent() { check_cuda(cudaEventCreate(&event_)); }

}  // namespace busbar
