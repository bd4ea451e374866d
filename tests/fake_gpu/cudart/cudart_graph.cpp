// SPDX-License-Identifier: BSD-3-Clause
// Capture and graphs.
#include <map>

#include <cuda_runtime_api.h>

#include "tests/fake_gpu/cudart/runtime.hpp"

namespace fake_gpu {
namespace {

using GraphPointer = std::shared_ptr<Graph>;

std::map<void*, GraphPointer>& graphs() {
  static auto* const kGraphs = new std::map<void*, GraphPointer>;
  return *kGraphs;
}

GraphPointer find_graph(void* handle) {
  const auto found = graphs().find(handle);
  return found == graphs().end() ? nullptr : found->second;
}

void* keep(const GraphPointer& graph) {
  graphs()[graph.get()] = graph;
  return graph.get();
}

cudaError_t begin(cudaStream_t handle, cudaStreamCaptureMode mode) {
  const StreamPointer stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream == default_stream(stream->device())) return cudaErrorStreamCaptureUnsupported;
  const auto guard = lock_runtime();
  if (stream->capture != nullptr) return cudaErrorIllegalState;
  stream->capture = std::make_shared<Capture>();
  stream->capture->mode = mode;
  stream->capture->thread = thread_number();
  stream->capture->origin = stream.get();
  return cudaSuccess;
}

cudaError_t end(cudaStream_t handle, cudaGraph_t* graph) {
  const StreamPointer stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (graph == nullptr) return cudaErrorInvalidValue;
  *graph = nullptr;
  const auto guard = lock_runtime();
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return cudaErrorIllegalState;
  if (capture->origin != stream.get()) return cudaErrorStreamCaptureUnmatched;
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != thread_number()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  for (const StreamPointer& joined : streams_of(stream->device())) {
    if (joined->capture == capture) joined->capture = nullptr;
  }
  if (!capture->valid) return cudaErrorStreamCaptureInvalidated;
  *graph = reinterpret_cast<cudaGraph_t>(keep(capture->graph));
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph) {
  const auto guard = lock_runtime();
  const GraphPointer found = find_graph(graph);
  if (found == nullptr || executable == nullptr) return cudaErrorInvalidValue;
  *executable = reinterpret_cast<cudaGraphExec_t>(keep(std::make_shared<Graph>(*found)));
  return cudaSuccess;
}

cudaError_t launch(const GraphPointer& graph, const StreamPointer& stream) {
  if (graph == nullptr) return cudaErrorInvalidValue;
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  Job replay;
  replay.result = graph->jobs.empty() ? nullptr : graph->jobs.back().result;
  replay.run = [graph] {
    for (const Job& job : graph->jobs) {
      if (!job.run()) return false;
    }
    return true;
  };
  return submit(stream, replay);
}

}  // namespace
}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT(google-build-using-namespace): the C names follow

extern "C" {

CUDA_CALL(cudaStreamBeginCapture, (cudaStream_t stream, cudaStreamCaptureMode mode),
          { return begin(stream, mode); })
CUDA_CALL(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t* graph),
          { return end(stream, graph); })
CUDA_CALL(cudaStreamIsCapturing, (cudaStream_t handle, cudaStreamCaptureStatus* status), {
  const StreamPointer stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (status == nullptr) return cudaErrorInvalidValue;
  const auto guard = lock_runtime();
  *status = cudaStreamCaptureStatusNone;
  if (stream->capture != nullptr) {
    *status =
        stream->capture->valid ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
  }
  return cudaSuccess;
})
CUDA_CALL(cudaThreadExchangeStreamCaptureMode, (cudaStreamCaptureMode * mode), {
  if (mode == nullptr) return cudaErrorInvalidValue;
  const int before = this_thread().capture_mode;
  this_thread().capture_mode = *mode;
  *mode = static_cast<cudaStreamCaptureMode>(before);
  return cudaSuccess;
})
CUDA_CALL(cudaGraphInstantiate,
          (cudaGraphExec_t * executable, cudaGraph_t graph, unsigned long long),
          { return instantiate(executable, graph); })
CUDA_CALL(cudaGraphInstantiateWithFlags,
          (cudaGraphExec_t * executable, cudaGraph_t graph, unsigned long long),
          { return instantiate(executable, graph); })
CUDA_CALL(cudaGraphLaunch, (cudaGraphExec_t executable, cudaStream_t stream), {
  const StreamPointer queue = find_stream_with_room(stream);
  const auto guard = lock_runtime();
  return launch(find_graph(executable), queue);
})
CUDA_CALL(cudaGraphExecDestroy, (cudaGraphExec_t executable), {
  const auto guard = lock_runtime();
  return graphs().erase(executable) == 1 ? cudaSuccess : cudaErrorInvalidValue;
})
CUDA_CALL(cudaGraphDestroy, (cudaGraph_t graph), {
  const auto guard = lock_runtime();
  return graphs().erase(graph) == 1 ? cudaSuccess : cudaErrorInvalidValue;
})

}  // extern "C"
