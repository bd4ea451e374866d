// SPDX-License-Identifier: BSD-3-Clause
// Streams and events.
#include <map>

#include <cuda_runtime_api.h>

#include "tests/fake_gpu/cudart/runtime.hpp"
#include "tests/fake_gpu/cudart/stream.hpp"

namespace fake_gpu {
namespace {

std::map<cudaEvent_t, EventPointer>& events() {
  static auto* const kEvents = new std::map<cudaEvent_t, EventPointer>;
  return *kEvents;
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

cudaError_t record(const EventPointer& event, const StreamPointer& stream) {
  const auto guard = lock_runtime();
  if (event == nullptr || stream == nullptr || event->device != stream->device()) {
    return cudaErrorInvalidResourceHandle;
  }
  Ticket reached;
  if (const auto status = submit(stream, {[] { return true; }}, {}, &reached);
      status != cudaSuccess)
    return status;
  event->recorded = true;
  event->reached = reached;
  event->captured = stream->capture;
  return cudaSuccess;
}

cudaError_t wait_for_event(const StreamPointer& stream, cudaEvent_t handle) {
  const auto guard = lock_runtime();
  const EventPointer event = find_event(handle);
  if (event == nullptr || stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->captured != nullptr) {
    if (stream->capture != nullptr && stream->capture != event->captured) {
      return cudaErrorStreamCaptureIsolation;
    }
    stream->capture = event->captured;  // the stream joins
    return cudaSuccess;
  }
  if (stream->capture != nullptr) {
    if (!event->recorded) return cudaSuccess;
    stream->capture->valid = false;
    return cudaErrorStreamCaptureIsolation;
  }
  return submit(stream, {[] { return true; }}, {event->reached});
}

cudaError_t elapsed(float* ms, const Event& start, const Event& end) {
  if (!start.recorded || !end.recorded || !start.timed || !end.timed) {
    return cudaErrorInvalidResourceHandle;
  }
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

}  // namespace

EventPointer find_event(cudaEvent_t handle) {
  const auto found = events().find(handle);
  return found == events().end() ? nullptr : found->second;
}

}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT(google-build-using-namespace): the C names follow

extern "C" {

CUDA_CALL(cudaStreamCreate, (cudaStream_t * stream),
          { return create_stream(stream, cudaStreamDefault); })
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
CUDA_CALL(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned),
          { return wait_for_event(find_stream_with_room(stream), event); })
CUDA_CALL(cudaEventCreate, (cudaEvent_t * event), { return create_event(event, cudaEventDefault); })
CUDA_CALL(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags),
          { return create_event(event, flags); })
CUDA_CALL(cudaEventDestroy, (cudaEvent_t event), {
  const auto guard = lock_runtime();
  return events().erase(event) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
})
CUDA_CALL(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), {
  const StreamPointer queue = find_stream_with_room(stream);
  const auto guard = lock_runtime();
  return record(find_event(event), queue);
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

}  // extern "C"
