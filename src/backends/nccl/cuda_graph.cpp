// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/cuda_graph.hpp"

namespace busbar {

CudaGraph::CudaGraph(cudaStream_t stream, const std::function<void()>& issue) : stream_(stream) {
  // Thread local: NCCL's own threads may go on calling what a capture forbids.
  check_cuda(cuda().begin_capture(stream_, cudaStreamCaptureModeThreadLocal));
  cudaGraph_t graph = nullptr;
  try {
    issue();
  } catch (...) {  // a stream must not stay in capture
    (void)cuda().end_capture(stream_, &graph);
    graph_.reset(graph);
    throw;
  }
  const cudaError_t captured = cuda().end_capture(stream_, &graph);
  graph_.reset(graph);
  check_cuda(captured);
  cudaGraphExec_t executable = nullptr;
  check_cuda(cuda().instantiate_graph(&executable, graph, 0));
  executable_.reset(executable);
}

void CudaGraph::enqueue() { check_cuda(cuda().launch_graph(executable_.get(), stream_)); }

}  // namespace busbar
