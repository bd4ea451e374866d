// SPDX-License-Identifier: BSD-3-Clause

#include <cstdio>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cuda.h>

#include "tests/gpu/fake/cudart/runtime.hpp"

// Devices, contexts and virtual memory as NCCL asks the driver for them: physical memory by
// handles, which other processes get as file descriptors, and addresses that it is mapped to.
namespace fake_gpu {
namespace {

struct Handle {
  PhysicalPointer memory;
  CUmemAllocationProp properties{};
  int uses = 1;
};

/// Guarded by the runtime's mutex.
std::map<CUmemGenericAllocationHandle, Handle>& handles() {
  static auto* const kHandles = new std::map<CUmemGenericAllocationHandle, Handle>;
  return *kHandles;
}

CUmemGenericAllocationHandle keep(PhysicalPointer memory, const CUmemAllocationProp& properties) {
  const auto handle = reinterpret_cast<CUmemGenericAllocationHandle>(memory.get());
  const auto guard = lock_runtime();
  handles()[handle] = {std::move(memory), properties};
  return handle;
}

/// With FAKE_GPU_TRACE, what becomes of addresses is told on stdout, between the lines of NCCL's
/// log: "fake map ADDRESS BYTES", "fake unmap ADDRESS", and at the end "fake left handles=N
/// mapped=N".
class Trace {
 public:
  static Trace& get() {
    static auto* const kTrace = new Trace;
    return *kTrace;
  }
  void mapped(CUdeviceptr address, std::size_t bytes) {
    mapped_ += 1;
    if (on_) std::printf("fake map %#llx %zu\n", address, bytes);
  }
  void unmapped(CUdeviceptr address) {
    mapped_ -= 1;
    if (on_) std::printf("fake unmap %#llx\n", address);
  }
  void end() const {
    if (on_) std::printf("fake left handles=%zu mapped=%d\n", handles().size(), mapped_.load());
  }

 private:
  Trace() = default;
  const bool on_ = ::getenv("FAKE_GPU_TRACE") != nullptr;
  std::atomic<int> mapped_{0};
};

/// The last word of the library.
struct AtEnd {
  AtEnd() = default;
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() { Trace::get().end(); }
} const at_end;

void* pointer_of(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

/// As far as the memory itself shows them.
CUmemAllocationProp properties_of(const Physical& memory) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  const bool of_host = memory.device() < 0;
  properties.location.type = of_host ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = of_host ? 0 : memory.device();
  return properties;
}

/// A driver's call on this process's memory.
template <class Body>
CUresult with(CUmemGenericAllocationHandle handle, const Body& body) {
  const auto guard = lock_runtime();
  const auto found = handles().find(handle);
  return found == handles().end() ? CUDA_ERROR_INVALID_HANDLE : body(found->second);
}

int attribute_of(CUdevice_attribute attribute, int device) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return gpu(device).major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return gpu(device).minor;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED: return machine().multicast ? 1 : 0;
    // No fabric handles, no DMA-BUF, NUMA node 0 for memory of the host.
    default: return 0;
  }
}

}  // namespace
}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT(google-build-using-namespace): the C names follow

extern "C" {

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (check_device(ordinal) != cudaSuccess) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (check_device(device) != cudaSuccess) return CUDA_ERROR_INVALID_DEVICE;
  *value = attribute_of(attribute, device);
  return CUDA_SUCCESS;
}

// One context per device, named by its number.
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(static_cast<std::intptr_t>(this_thread().device) + 1);
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  const auto device = static_cast<int>(reinterpret_cast<std::intptr_t>(context)) - 1;
  if (check_device(device) != cudaSuccess) return CUDA_ERROR_INVALID_CONTEXT;
  this_thread().device = device;
  this_thread().has_context = true;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  *device = this_thread().device;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  *bytes = kGranule;
  return CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long) {
  const bool of_device = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  PhysicalPointer memory = Physical::make(of_device ? properties->location.id : -1, bytes);
  if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *handle = keep(std::move(memory), *properties);
  return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return with(handle, [&](Handle& known) {
    if (--known.uses == 0) handles().erase(handle);
    return CUDA_SUCCESS;
  });
}
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  const auto mapped = fake_gpu::memory().allocation(address);
  const PhysicalPointer memory = mapped ? mapped->physical : nullptr;
  if (memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(memory.get());
  const auto guard = lock_runtime();
  const auto found = handles().find(*handle);
  if (found != handles().end()) {
    ++found->second.uses;
    return CUDA_SUCCESS;
  }
  handles()[*handle] = {memory, properties_of(*memory)};
  return CUDA_SUCCESS;
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  return with(handle, [&](const Handle& known) {
    *properties = known.properties;
    return CUDA_SUCCESS;
  });
}
CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long) {
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return with(handle, [&](const Handle& known) {
    // What the other process is told of it besides its pages: the device, by the descriptor's
    // offset.
    const int file = ::fcntl(known.memory->file(), F_DUPFD_CLOEXEC, 0);
    if (file < 0) return CUDA_ERROR_UNKNOWN;
    *static_cast<int*>(shareable) = file;
    return CUDA_SUCCESS;
  });
}
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                        CUmemAllocationHandleType type) {
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  const int file =
      ::fcntl(static_cast<int>(reinterpret_cast<std::intptr_t>(shareable)), F_DUPFD_CLOEXEC, 0);
  PhysicalPointer memory = file < 0 ? nullptr : Physical::import(file);
  if (memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUmemAllocationProp properties = properties_of(*memory);
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  *handle = keep(std::move(memory), properties);
  return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t, CUdeviceptr,
                             unsigned long long) {
  *address = reinterpret_cast<CUdeviceptr>(memory().reserve(bytes));
  return CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  memory().free_addresses(pointer_of(address), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long) {
  return with(handle, [&](const Handle& known) {
    if (!memory().map(pointer_of(address), bytes, known.memory, offset))
      return CUDA_ERROR_INVALID_VALUE;
    Trace::get().mapped(address, bytes);
    return CUDA_SUCCESS;
  });
}
CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  if (!memory().unmap(pointer_of(address), bytes)) return CUDA_ERROR_INVALID_VALUE;
  Trace::get().unmapped(address);
  return CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) {
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  const auto found = memory().allocation(pointer_of(address));
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(value) = found->device; break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      *static_cast<int*>(value) = found->kind == MemoryKind::Plain ? 1 : 0;
      break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      *static_cast<std::uint64_t*>(value) =
          found->kind == MemoryKind::Plain ? 0 : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
      break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

// A multicast object, which NVLS needs, is memory of its own: what is bound to it does not see it.
CUresult cuMulticastGetGranularity(std::size_t* bytes, const CUmulticastObjectProp*,
                                   CUmulticastGranularity_flags) {
  *bytes = kGranule;
  return CUDA_SUCCESS;
}
CUresult cuMulticastCreate(CUmemGenericAllocationHandle* handle, const CUmulticastObjectProp* of) {
  *handle = keep(Physical::make(-1, of->size), {});
  return CUDA_SUCCESS;
}
CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle, CUdevice) { return CUDA_SUCCESS; }
CUresult cuMulticastBindMem(CUmemGenericAllocationHandle, std::size_t, CUmemGenericAllocationHandle,
                            std::size_t, std::size_t, unsigned long long) {
  return CUDA_SUCCESS;
}
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle, std::size_t, CUdeviceptr, std::size_t,
                             unsigned long long) {
  return CUDA_SUCCESS;
}
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle, CUdevice, std::size_t, std::size_t) {
  return CUDA_SUCCESS;
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned) {
  const StreamPointer queue = find_stream_with_room(stream);
  if (queue == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  auto* word = reinterpret_cast<cuuint32_t*>(address);
  return static_cast<CUresult>(submit(queue, {[=] {
                                        *word = value;
                                        return true;
                                      }}));
}

}  // extern "C"
