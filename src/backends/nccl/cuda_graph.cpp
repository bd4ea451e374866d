// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/cuda_graph.hpp"

#include "backends/nccl/cuda_support.hpp"

namespace busbar {

CudaGraph::CudaGraph(cudaStream_t stream, const std::function<void()>& issue) : stream_(stream) {
  // Thread local: NCCL's own threads may go on calling what a capture forbids.
  check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  try {
    issue();
  } catch (...) {  // a stream must not stay in capture
    (void)cudaStreamEndCapture(stream_, &graph_);
    if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
    throw;
  }
  check_cuda(cudaStreamEndCapture(stream_, &graph_));
  check_cuda(cudaGraphInstantiate(&executable_, graph_, 0));
}

CudaGraph::~CudaGraph() {
  if (executable_ != nullptr) (void)cudaGraphExecDestroy(executable_);
  if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
}

void CudaGraph::enqueue() { check_cuda(cudaGraphLaunch(executable_, stream_)); }

}  // namespace busbar
