// SPDX-License-Identifier: BSD-3-Clause
// Streams, events, capture and graphs.

#include "tests/gpu/fake/cudart/runtime.hpp"

namespace fake_gpu {
namespace {

std::map<cudaEvent_t, EventPointer>& events() {
  static auto* const kEvents = new std::map<cudaEvent_t, EventPointer>;
  return *kEvents;
}

/// Guarded by the runtime's mutex. Null where there is no such event.
EventPointer find_event(cudaEvent_t handle) {
  const auto found = events().find(handle);
  return found == events().end() ? nullptr : found->second;
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags) {
  if (stream == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0)
    return cudaErrorInvalidValue;
  if (const auto status = use_device(); status != cudaSuccess) return status;
  static_cast<void>(default_stream(this_thread().device));
  *stream = handle_of(make_stream(this_thread().device, flags == cudaStreamDefault));
  return cudaSuccess;
}

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming;
  if (event == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
  if (const auto status = use_device(); status != cudaSuccess) return status;
  auto made = std::make_shared<Event>();
  made->timed = (flags & cudaEventDisableTiming) == 0;
  made->device = this_thread().device;
  *event = reinterpret_cast<cudaEvent_t>(made.get());
  const auto guard = lock_runtime();
  events()[*event] = made;
  return cudaSuccess;
}

/// A copy of the event's state; false where there is no such event.
bool read_event(cudaEvent_t handle, Event* state) {
  const auto guard = lock_runtime();
  const EventPointer event = find_event(handle);
  if (event != nullptr) *state = *event;
  return event != nullptr;
}

cudaError_t elapsed(float* ms, const Event& start, const Event& end) {
  if (!start.recorded || !end.recorded || !start.timed || !end.timed)
    return cudaErrorInvalidResourceHandle;
  if (start.captured != nullptr || end.captured != nullptr) return cudaErrorCapturedEvent;
  if (!start.reached->is_done() || !end.reached->is_done()) return cudaErrorNotReady;
  *ms = static_cast<float>(static_cast<double>(end.reached->time_ns() - start.reached->time_ns()) *
                           1e-6);
  return cudaSuccess;
}

/// For calls that ask after an event: one within a capture cannot be asked.
cudaError_t look_at(cudaEvent_t handle, Event* state) {
  if (!read_event(handle, state)) return cudaErrorInvalidResourceHandle;
  if (state->captured == nullptr) return cudaSuccess;
  const auto guard = lock_runtime();
  state->captured->valid = false;
  return cudaErrorCapturedEvent;
}

using GraphPointer = std::shared_ptr<Graph>;

std::map<void*, GraphPointer>& graphs() {
  static auto* const kGraphs = new std::map<void*, GraphPointer>;
  return *kGraphs;
}

GraphPointer find_graph(void* handle) {
  const auto found = graphs().find(handle);
  return found == graphs().end() ? nullptr : found->second;
}

void* keep(GraphPointer graph) {
  void* handle = graph.get();
  graphs()[handle] = std::move(graph);
  return handle;
}

cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph) {
  const auto guard = lock_runtime();
  const GraphPointer found = find_graph(graph);
  if (found == nullptr || executable == nullptr) return cudaErrorInvalidValue;
  *executable = reinterpret_cast<cudaGraphExec_t>(keep(std::make_shared<Graph>(*found)));
  return cudaSuccess;
}

}  // namespace

}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT(google-build-using-namespace): the C names follow

extern "C" {

CUDA_CALL(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),
          { return create_stream(stream, flags); })
CUDA_CALL(cudaStreamDestroy, (cudaStream_t stream), {
  if (stream == nullptr || find_stream(stream) == nullptr) return cudaErrorInvalidResourceHandle;
  forget_stream(stream);
  return cudaSuccess;
})
CUDA_CALL(cudaStreamQuery, (cudaStream_t handle), {
  const StreamPointer stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (const auto status = forbid_on_capturing(stream); status != cudaSuccess) return status;
  return stream->is_idle() ? device_error() : cudaErrorNotReady;
})
CUDA_CALL(cudaStreamSynchronize, (cudaStream_t handle), {
  const StreamPointer stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  const cudaError_t status = forbid_on_capturing(stream);
  return status != cudaSuccess ? status : await(stream->tail());
})
CUDA_CALL(cudaStreamWaitEvent, (cudaStream_t waiting, cudaEvent_t handle, unsigned flags), {
  const StreamPointer stream = find_stream_with_room(waiting);
  const auto guard = lock_runtime();
  const EventPointer event = find_event(handle);
  if (event == nullptr || stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->captured != nullptr) {
    if (stream->capture != nullptr && stream->capture != event->captured)
      return cudaErrorStreamCaptureIsolation;
    stream->capture = event->captured;  // the stream joins
    return cudaSuccess;
  }
  if (stream->capture != nullptr) {
    if (!event->recorded || flags == cudaEventWaitExternal) return cudaSuccess;
    stream->capture->valid = false;
    return cudaErrorStreamCaptureIsolation;
  }
  return submit(stream, {[] { return true; }}, {event->reached});
})
CUDA_CALL(cudaEventCreate, (cudaEvent_t * event), { return create_event(event, cudaEventDefault); })
CUDA_CALL(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags),
          { return create_event(event, flags); })
CUDA_CALL(cudaEventDestroy, (cudaEvent_t event), {
  const auto guard = lock_runtime();
  return events().erase(event) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
})
CUDA_CALL(cudaEventRecord, (cudaEvent_t handle, cudaStream_t on), {
  const StreamPointer stream = find_stream_with_room(on);
  const auto guard = lock_runtime();
  const EventPointer event = find_event(handle);
  if (event == nullptr || stream == nullptr || event->device != stream->device())
    return cudaErrorInvalidResourceHandle;
  Ticket reached;
  if (const auto status = submit(stream, {[] { return true; }}, {}, &reached);
      status != cudaSuccess)
    return status;
  event->recorded = true;
  event->reached = reached;
  event->captured = stream->capture;
  return cudaSuccess;
})
CUDA_CALL(cudaEventQuery, (cudaEvent_t event), {
  Event state;
  if (const auto status = look_at(event, &state); status != cudaSuccess) return status;
  return state.reached == nullptr || state.reached->is_done() ? device_error() : cudaErrorNotReady;
})
CUDA_CALL(cudaEventSynchronize, (cudaEvent_t event), {
  Event state;
  const cudaError_t status = look_at(event, &state);
  return status != cudaSuccess ? status : await(state.reached);
})
CUDA_CALL(cudaEventElapsedTime, (float* ms, cudaEvent_t start, cudaEvent_t end), {
  Event from;
  Event to;
  if (ms == nullptr) return cudaErrorInvalidValue;
  if (!read_event(start, &from) || !read_event(end, &to)) return cudaErrorInvalidResourceHandle;
  return elapsed(ms, from, to);
})

CUDA_CALL(cudaStreamBeginCapture, (cudaStream_t handle, cudaStreamCaptureMode mode), {
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
})
CUDA_CALL(cudaStreamEndCapture, (cudaStream_t handle, cudaGraph_t* graph), {
  const StreamPointer stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (graph == nullptr) return cudaErrorInvalidValue;
  *graph = nullptr;
  const auto guard = lock_runtime();
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return cudaErrorIllegalState;
  if (capture->origin != stream.get()) return cudaErrorStreamCaptureUnmatched;
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != thread_number())
    return cudaErrorStreamCaptureWrongThread;
  for (const StreamPointer& joined : streams_of(stream->device())) {
    if (joined->capture == capture) joined->capture = nullptr;
  }
  if (!capture->valid) return cudaErrorStreamCaptureInvalidated;
  // Events know the capture, which must not keep the graph.
  *graph = reinterpret_cast<cudaGraph_t>(keep(std::move(capture->graph)));
  return cudaSuccess;
})
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
CUDA_CALL(cudaGraphLaunch, (cudaGraphExec_t executable, cudaStream_t on), {
  const StreamPointer stream = find_stream_with_room(on);
  const auto guard = lock_runtime();
  const GraphPointer graph = find_graph(executable);
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
