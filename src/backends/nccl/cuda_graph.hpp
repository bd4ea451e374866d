// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include <cuda_runtime_api.h>

#include "model/communicator.hpp"

namespace busbar {

/// What a function issues to a stream, recorded as a CUDA graph.
class CudaGraph final : public Replay {
 public:
  CudaGraph(cudaStream_t stream, const std::function<void()>& issue);
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  ~CudaGraph() override;

  void enqueue() override;

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace busbar
