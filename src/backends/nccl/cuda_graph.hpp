// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>

#include "backends/nccl/cuda_api.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// What a function issues to a stream, recorded as a CUDA graph.
class CudaGraph final : public Replay {
 public:
  CudaGraph(cudaStream_t stream, const std::function<void()>& issue);

  void enqueue() override;

 private:
  struct Release {
    void operator()(cudaGraph_t graph) const { (void)cuda().destroy_graph(graph); }
    void operator()(cudaGraphExec_t graph) const { (void)cuda().destroy_graph_exec(graph); }
  };

  cudaStream_t stream_;
  std::unique_ptr<CUgraph_st, Release> graph_;
  std::unique_ptr<CUgraphExec_st, Release> executable_;
};

}  // namespace busbar
