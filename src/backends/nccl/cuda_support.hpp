// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <cuda_runtime_api.h>

#include "base/where.hpp"

namespace busbar {

/// Throws Error (Runtime) with CUDA's own words unless `code` is cudaSuccess.
void check_cuda(cudaError_t code, Where where = Where::here());

/// A stream of the current device that does not wait for the default stream; move-only.
class CudaStream {
 public:
  CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream() { (void)cudaStreamDestroy(stream_); }

  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A mark on a stream with a time; move-only.
class CudaEvent {
 public:
  CudaEvent();
  CudaEvent(CudaEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() {
    if (event_ != nullptr) (void)cudaEventDestroy(event_);
  }

  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace busbar
