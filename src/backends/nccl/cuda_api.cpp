// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/cuda_api.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar {

const CudaApi& cuda() {
  static const auto* const kApi = new CudaApi;  // destructors at exit may still call CUDA
  return *kApi;
}

std::string cuda_problem() {
  const std::string problem = cuda().runtime.problem();
  return problem.empty() ? cuda().driver.problem() : problem;
}

void check_cuda(cudaError_t code, Where where) {
  if (code == cudaSuccess) return;
  throw runtime_failure(
      fmt::format("CUDA: {} ({})", cuda().error_text(code), cuda().error_name(code)), where);
}

void check_driver(CUresult code, Where where) {
  if (code == CUDA_SUCCESS) return;
  const char* text = nullptr;
  (void)cuda().driver_error_text(code, &text);
  throw runtime_failure(fmt::format("CUDA: {}", text == nullptr ? "unknown error" : text), where);
}

CudaStream::CudaStream() { check_cuda(cuda().create_stream(&stream_, cudaStreamNonBlocking)); }

CudaEvent::CudaEvent() { check_cuda(cuda().create_event(&event_)); }

}  // namespace busbar
