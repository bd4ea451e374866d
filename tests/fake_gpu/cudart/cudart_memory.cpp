// SPDX-License-Identifier: BSD-3-Clause
// Memory: allocation, copies, filling.
#include <cstring>
#include <vector>

#include <cuda_runtime_api.h>

#include "tests/fake_gpu/cudart/memory.hpp"
#include "tests/fake_gpu/cudart/runtime.hpp"

namespace fake_gpu {
namespace {

cudaError_t allocate(void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  cudaError_t status = use_device();
  if (status == cudaSuccess) status = forbid_in_capture();
  if (status != cudaSuccess) return status;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const bool fits = memory().allocate(this_thread().device, bytes, pointer);
  return fits ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t release(void* pointer) {
  const cudaError_t status = use_device();
  if (status != cudaSuccess || pointer == nullptr) return status;
  if (!memory().is_start(pointer)) return cudaErrorInvalidValue;
  if (const auto forbidden = forbid_in_capture(); forbidden != cudaSuccess) return forbidden;
  // As CUDA does: all that may still use it is done first.
  if (const auto waited = await_device(memory().device_of(pointer)); waited != cudaSuccess)
    return waited;
  return memory().release(pointer) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t allocate_pinned(void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  if (const auto status = use_device(); status != cudaSuccess) return status;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  return memory().allocate_pinned(bytes, pointer) ? cudaSuccess : cudaErrorMemoryAllocation;
}

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;

  [[nodiscard]] bool to_device() const { return memory().device_of(to) >= 0; }
  [[nodiscard]] bool from_device() const { return memory().device_of(from) >= 0; }

  [[nodiscard]] cudaError_t check(cudaMemcpyKind kind) const {
    if (bytes == 0) return cudaSuccess;
    if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
    if (to_device() && memory().contents(to, bytes) == nullptr) return cudaErrorInvalidValue;
    if (from_device() && memory().contents(from, bytes) == nullptr) return cudaErrorInvalidValue;
    switch (kind) {
      case cudaMemcpyHostToHost:
        return from_device() || to_device() ? cudaErrorInvalidValue : cudaSuccess;
      case cudaMemcpyHostToDevice:
        return from_device() || !to_device() ? cudaErrorInvalidValue : cudaSuccess;
      case cudaMemcpyDeviceToHost:
        return !from_device() || to_device() ? cudaErrorInvalidValue : cudaSuccess;
      case cudaMemcpyDeviceToDevice:
        return from_device() && to_device() ? cudaSuccess : cudaErrorInvalidValue;
      case cudaMemcpyDefault: return cudaSuccess;
    }
    return cudaErrorInvalidMemcpyDirection;
  }

  /// Host memory that is not pinned is done with when the call returns.
  [[nodiscard]] bool waits() const {
    return (!to_device() && !memory().is_pinned(to, bytes)) ||
           (!from_device() && !memory().is_pinned(from, bytes));
  }

  [[nodiscard]] Job job() const {
    return {[copy = *this, to_gpu = to_device(), from_gpu = from_device()] {
              void* target = to_gpu ? memory().contents(copy.to, copy.bytes) : copy.to;
              const void* source = from_gpu ? memory().contents(copy.from, copy.bytes) : copy.from;
              if (target == nullptr || source == nullptr) return copy.bytes == 0;
              std::memmove(target, source, copy.bytes);
              return true;
            },
            to};
  }
};

cudaError_t copy_on(const StreamPointer& stream, const Copy& copy, cudaMemcpyKind kind, bool wait) {
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  cudaError_t status = copy.check(kind);
  if (status != cudaSuccess) return status;
  Ticket done;
  status = submit(stream, copy.job(), {}, &done);
  return status == cudaSuccess && wait ? await(done) : status;
}

cudaError_t fill_on(const StreamPointer& stream, void* to, int value, std::size_t bytes) {
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (memory().contents(to, bytes) == nullptr)
    return bytes == 0 ? cudaSuccess : cudaErrorInvalidValue;
  return submit(stream, {[to, value, bytes] {
                           unsigned char* target = memory().contents(to, bytes);
                           if (target != nullptr) std::memset(target, value, bytes);
                           return target != nullptr;
                         },
                         to});
}

}  // namespace
}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT(google-build-using-namespace): the C names follow

extern "C" {

CUDA_CALL(cudaMalloc, (void** pointer, size_t bytes), { return allocate(pointer, bytes); })
cudaError_t cudaFree(void* pointer) {
  hang_if_lost();
  return call("cudaFree", [&] { return release(pointer); });
}

CUDA_CALL(cudaMallocHost, (void** pointer, size_t bytes),
          { return allocate_pinned(pointer, bytes); })
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  constexpr unsigned kKnown =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  return call("cudaHostAlloc", [&] {
    return (flags & ~kKnown) != 0 ? cudaErrorInvalidValue : allocate_pinned(pointer, bytes);
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  hang_if_lost();
  return call("cudaFreeHost", [&] {
    if (pointer == nullptr) return cudaSuccess;
    if (const auto waited = await_device(this_thread().device); waited != cudaSuccess)
      return waited;
    return memory().release_pinned(pointer) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CUDA_CALL(cudaMemcpy, (void* to, const void* from, size_t bytes, cudaMemcpyKind kind), {
  cudaError_t status = use_device();
  if (status == cudaSuccess) status = forbid_in_capture();
  if (status != cudaSuccess) return status;
  return copy_on(default_stream(this_thread().device), {to, from, bytes}, kind, true);
})
CUDA_CALL(cudaMemcpyAsync,
          (void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream), {
            const Copy copy{to, from, bytes};
            return copy_on(find_stream_with_room(stream), copy, kind, copy.waits());
          })
CUDA_CALL(cudaMemset, (void* to, int value, size_t bytes), {
  if (const auto status = forbid_in_capture(); status != cudaSuccess) return status;
  return fill_on(default_stream(this_thread().device), to, value, bytes);
})
CUDA_CALL(cudaMemsetAsync, (void* to, int value, size_t bytes, cudaStream_t stream),
          { return fill_on(find_stream_with_room(stream), to, value, bytes); })
CUDA_CALL(cudaMemGetInfo, (size_t * free_bytes, size_t* total_bytes), {
  if (free_bytes == nullptr || total_bytes == nullptr) return cudaErrorInvalidValue;
  if (const auto status = use_device(); status != cudaSuccess) return status;
  const Gpu& gpu = machine().gpus[static_cast<std::size_t>(this_thread().device)];
  *total_bytes = gpu.memory_bytes;
  *free_bytes = gpu.memory_bytes - ledger().taken(gpu.place);
  return cudaSuccess;
})

}  // extern "C"
