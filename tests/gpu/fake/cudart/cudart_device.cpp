// SPDX-License-Identifier: BSD-3-Clause

#include <cstdio>
#include <cstring>

#include "tests/gpu/fake/cudart/runtime.hpp"

// Errors: their names and texts, and the last one. Devices: which there are, and which one a thread
// uses. Memory: allocation, copies, filling.
namespace fake_gpu {
namespace {

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

#define NAMED(error) cudaError##error, "cudaError" #error

/// The driver's errors have the same numbers and texts.
constexpr ErrorText kTexts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {NAMED(InvalidValue), "invalid argument"},
    {NAMED(MemoryAllocation), "out of memory"},
    {NAMED(InvalidConfiguration), "invalid configuration argument"},
    {NAMED(InvalidMemcpyDirection), "invalid copy direction for memcpy"},
    {NAMED(DevicesUnavailable), "CUDA-capable device(s) is/are busy or unavailable"},
    {NAMED(InvalidKernelImage), "device kernel image is invalid"},
    {NAMED(DeviceUninitialized), "invalid device context"},
    {NAMED(SymbolNotFound), "named symbol not found"},
    {NAMED(InvalidDeviceFunction), "invalid device function"},
    {NAMED(NoDevice), "no CUDA-capable device is detected"},
    {NAMED(InvalidDevice), "invalid device ordinal"},
    {NAMED(InvalidResourceHandle), "invalid resource handle"},
    {NAMED(IllegalState), "the operation cannot be performed in the present state"},
    {NAMED(NotReady), "device not ready"},
    {NAMED(IllegalAddress), "an illegal memory access was encountered"},
    {NAMED(StreamCaptureUnsupported), "operation not permitted when stream is capturing"},
    {NAMED(StreamCaptureInvalidated), "operation failed due to a previous error during capture"},
    {NAMED(StreamCaptureUnmatched), "capture was not initiated in this stream"},
    {NAMED(StreamCaptureWrongThread),
     "attempt to terminate a thread-local capture sequence from another thread"},
    {NAMED(CapturedEvent),
     "operation not permitted on an event last recorded in a capturing stream"},
    {NAMED(Unknown), "unknown error"},
};

const ErrorText* find(cudaError_t error) {
  for (const ErrorText& known : kTexts) {
    if (known.error == error) return &known;
  }
  return nullptr;
}

cudaError_t find_gpu(int device, const Gpu** gpu) {
  if (const auto status = check_device(device); status != cudaSuccess) return status;
  *gpu = &fake_gpu::gpu(device);
  return cudaSuccess;
}

int pci_part(const Gpu& gpu, std::uint64_t shift, std::uint64_t mask) {
  return static_cast<int>((gpu.bus_id() >> shift) & mask);
}

/// What the backend and NCCL read; the rest is 0.
cudaDeviceProp describe(const Gpu& gpu) {
  cudaDeviceProp prop{};
  static_cast<void>(std::snprintf(prop.name, sizeof prop.name, "%s", gpu.name.c_str()));
  std::memcpy(prop.uuid.bytes, gpu.uuid().data(), gpu.uuid().size());
  prop.totalGlobalMem = gpu.memory_bytes;
  prop.major = gpu.major;
  prop.minor = gpu.minor;
  return prop;
}

/// False for an attribute that the backend and NCCL do not ask for.
bool find_attribute(const Gpu& gpu, cudaDeviceAttr attribute, int* value) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = gpu.major; return true;
    case cudaDevAttrComputeCapabilityMinor: *value = gpu.minor; return true;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = gpu.major < 8 ? 98304 : gpu.major == 8 ? 166912 : 232448;
      return true;
    case cudaDevAttrGPUDirectRDMASupported: *value = 0; return true;
    case cudaDevAttrL2CacheSize: *value = 1 << 20; return true;
    case cudaDevAttrMultiProcessorCount: *value = 4; return true;
    default: return false;
  }
}

cudaError_t give_version(int* version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t use_device_outside_capture() {
  const cudaError_t status = use_device();
  return status == cudaSuccess ? forbid_in_capture() : status;
}

cudaError_t allocate_pinned(void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  if (const auto status = use_device(); status != cudaSuccess) return status;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  memory().allocate_pinned(bytes, pointer);
  return cudaSuccess;
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
    if (kind == cudaMemcpyDefault) return cudaSuccess;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    const bool is_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool is_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return is_to == to_device() && is_from == from_device() ? cudaSuccess : cudaErrorInvalidValue;
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

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* known = find(error);
  return known == nullptr ? "unrecognized error code" : known->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* known = find(error);
  return known == nullptr ? "unrecognized error code" : known->text;
}

cudaError_t cudaPeekAtLastError() {
  const cudaError_t broken = device_error();
  return broken != cudaSuccess ? broken : this_thread().last_error;
}

cudaError_t cudaGetLastError() {
  const cudaError_t last = cudaPeekAtLastError();
  this_thread().last_error = cudaSuccess;
  return last;
}

CUDA_CALL(cudaGetDeviceCount, (int* count), {
  if (count == nullptr) return cudaErrorInvalidValue;
  *count = static_cast<int>(machine().gpus.size());
  return machine().gpus.empty() ? cudaErrorNoDevice : cudaSuccess;
})
CUDA_CALL(cudaGetDevice, (int* device), {
  if (device == nullptr) return cudaErrorInvalidValue;
  if (machine().gpus.empty()) return cudaErrorNoDevice;
  *device = this_thread().device;
  return cudaSuccess;
})
CUDA_CALL(cudaSetDevice, (int device), {
  const cudaError_t status = use_device(device);
  if (status == cudaSuccess) this_thread().device = device;
  return status;
})
CUDA_CALL(cudaGetDeviceProperties, (cudaDeviceProp * prop, int device), {
  const Gpu* gpu = nullptr;
  if (prop == nullptr) return cudaErrorInvalidValue;
  const cudaError_t status = find_gpu(device, &gpu);
  if (status == cudaSuccess) *prop = describe(*gpu);
  return status;
})
CUDA_CALL(cudaDeviceGetAttribute, (int* value, cudaDeviceAttr attribute, int device), {
  const Gpu* gpu = nullptr;
  if (value == nullptr) return cudaErrorInvalidValue;
  if (const auto status = find_gpu(device, &gpu); status != cudaSuccess) return status;
  return find_attribute(*gpu, attribute, value) ? cudaSuccess : cudaErrorInvalidValue;
})
CUDA_CALL(cudaDeviceGetPCIBusId, (char* text, int bytes, int device), {
  const Gpu* gpu = nullptr;
  if (const auto status = find_gpu(device, &gpu); status != cudaSuccess) return status;
  if (text == nullptr || bytes <= static_cast<int>(gpu->pci.size())) return cudaErrorInvalidValue;
  // As CUDA writes it: capital hexadecimal digits.
  static_cast<void>(std::snprintf(text, static_cast<std::size_t>(bytes), "%04X:%02X:%02X.0",
                                  static_cast<unsigned>(pci_part(*gpu, 20, 0xFFFF)),
                                  static_cast<unsigned>(pci_part(*gpu, 12, 0xFF)),
                                  static_cast<unsigned>(pci_part(*gpu, 4, 0xFF))));
  return cudaSuccess;
})
CUDA_CALL(cudaRuntimeGetVersion, (int* version), { return give_version(version); })
CUDA_CALL(cudaDriverGetVersion, (int* version), { return give_version(version); })

CUDA_CALL(cudaMalloc, (void** pointer, size_t bytes), {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  if (const auto status = use_device_outside_capture(); status != cudaSuccess) return status;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const bool fits = memory().allocate(this_thread().device, bytes, pointer);
  return fits ? cudaSuccess : cudaErrorMemoryAllocation;
})

cudaError_t cudaFree(void* pointer) {
  hang_if_lost();
  return call("cudaFree", [&] {
    const cudaError_t status = use_device();
    if (status != cudaSuccess || pointer == nullptr) return status;
    if (!memory().is_start(pointer)) return cudaErrorInvalidValue;
    if (const auto forbidden = forbid_in_capture(); forbidden != cudaSuccess) return forbidden;
    // As CUDA does: all that may still use it is done first.
    if (const auto waited = await_device(memory().device_of(pointer)); waited != cudaSuccess)
      return waited;
    return memory().release(pointer) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CUDA_CALL(cudaHostAlloc, (void** pointer, size_t bytes, unsigned flags), {
  constexpr unsigned kKnown =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  return (flags & ~kKnown) != 0 ? cudaErrorInvalidValue : allocate_pinned(pointer, bytes);
})

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
  if (const auto status = use_device_outside_capture(); status != cudaSuccess) return status;
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
  const Gpu& own = gpu(this_thread().device);
  *total_bytes = own.memory_bytes;
  *free_bytes = own.memory_bytes - ledger().taken(own.place);
  return cudaSuccess;
})

}  // extern "C"
