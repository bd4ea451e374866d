// SPDX-License-Identifier: BSD-3-Clause
// What NCCL's own code calls besides what our programs call: entry points of the driver, peers,
// memory of other processes, memory pools, host functions, and the graph that a stream captures.
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/gpu/fake/cudart/runtime.hpp"

namespace fake_gpu {
namespace {

/// The newest form of a driver's function that the fake has: its name may end with a version.
void* find_entry_point(const std::string& name) {
  static void* const kDriver = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (kDriver == nullptr) return nullptr;
  for (const char* version : {"_v4", "_v3", "_v2", ""}) {
    if (void* found = ::dlsym(kDriver, (name + version).c_str()); found != nullptr) return found;
  }
  return nullptr;
}

/// A part of a process's contents, as another process opens it.
struct IpcHandle {
  SharedContents contents;
  int device;
  off_t offset;
  std::size_t bytes;
};
static_assert(sizeof(IpcHandle) <= sizeof(cudaIpcMemHandle_t));

std::shared_ptr<Capture> capture_of(cudaStream_t handle) {
  const StreamPointer stream = find_stream(handle);
  return stream == nullptr ? nullptr : stream->capture;
}

}  // namespace
}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT(google-build-using-namespace): the C names follow

extern "C" {

CUDA_CALL(cudaGetDriverEntryPointByVersion,
          (const char* symbol, void** function, unsigned, unsigned long long,
           cudaDriverEntryPointQueryResult* status),
          {
            *function = find_entry_point(symbol);
            if (status != nullptr)
              *status = *function == nullptr ? cudaDriverEntryPointSymbolNotFound
                                             : cudaDriverEntryPointSuccess;
            return cudaSuccess;
          })

CUDA_CALL(cudaDeviceGetByPCIBusId, (int* device, const char* text), {
  for (std::size_t i = 0; i < machine().gpus.size(); ++i) {
    if (::strcasecmp(machine().gpus[i].pci.c_str(), text) != 0) continue;
    *device = static_cast<int>(i);
    return cudaSuccess;
  }
  return cudaErrorInvalidDevice;
})
CUDA_CALL(cudaDeviceCanAccessPeer, (int* can, int device, int peer), {
  if (check_device(device) != cudaSuccess || check_device(peer) != cudaSuccess)
    return cudaErrorInvalidDevice;
  *can = device != peer && machine().symmetric ? 1 : 0;
  return cudaSuccess;
})
CUDA_CALL(cudaDeviceEnablePeerAccess, (int peer, unsigned), { return check_device(peer); })
CUDA_CALL(cudaDeviceSetLimit, (cudaLimit, std::size_t), { return use_device(); })
CUDA_CALL(cudaFuncGetAttributes, (cudaFuncAttributes * attributes, const void*), {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 96;
  attributes->binaryVersion = attributes->ptxVersion =
      10 * gpu(this_thread().device).major + gpu(this_thread().device).minor;
  return cudaSuccess;
})
CUDA_CALL(cudaFuncSetAttribute, (const void*, cudaFuncAttribute, int), { return cudaSuccess; })
CUDA_CALL(cudaGetFuncBySymbol, (cudaFunction_t * function, const void* symbol), {
  *function = reinterpret_cast<cudaFunction_t>(const_cast<void*>(symbol));
  return cudaSuccess;
})

CUDA_CALL(cudaPointerGetAttributes, (cudaPointerAttributes * attributes, const void* pointer), {
  *attributes = {};
  attributes->device = memory().device_of(pointer);
  if (attributes->device >= 0) {
    attributes->type = cudaMemoryTypeDevice;
    attributes->devicePointer = const_cast<void*>(pointer);
  } else if (memory().is_pinned(pointer, 1)) {
    attributes->type = cudaMemoryTypeHost;
    attributes->device = this_thread().device;
    attributes->devicePointer = attributes->hostPointer = const_cast<void*>(pointer);
  } else {
    attributes->type = cudaMemoryTypeUnregistered;
  }
  return cudaSuccess;
})

CUDA_CALL(cudaHostRegister, (void* pointer, std::size_t bytes, unsigned), {
  memory().register_pinned(pointer, bytes);
  return cudaSuccess;
})
CUDA_CALL(cudaHostUnregister, (void* pointer),
          { return memory().release_pinned(pointer) ? cudaSuccess : cudaErrorInvalidValue; })
CUDA_CALL(cudaHostGetDevicePointer, (void** device, void* host, unsigned), {
  if (!memory().is_pinned(host, 1)) return cudaErrorInvalidValue;
  *device = host;
  return cudaSuccess;
})

CUDA_CALL(cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void* pointer), {
  const auto found = memory().allocation(pointer);
  if (!found || found->kind == MemoryKind::Virtual) return cudaErrorInvalidValue;
  const IpcHandle made{own_contents(), found->device, found->pages.get() - contents_start(),
                       found->bytes};
  std::memcpy(handle, &made, sizeof made);
  return cudaSuccess;
})
CUDA_CALL(cudaIpcOpenMemHandle, (void** pointer, cudaIpcMemHandle_t handle, unsigned), {
  IpcHandle made{};
  std::memcpy(static_cast<void*>(&made), &handle, sizeof made);
  const PhysicalPointer shared =
      Physical::import(made.contents, made.device, made.offset, made.bytes);
  if (shared == nullptr) return cudaErrorInvalidResourceHandle;
  *pointer = memory().reserve(made.bytes);
  return memory().map(*pointer, made.bytes, shared, 0) ? cudaSuccess : cudaErrorInvalidValue;
})
CUDA_CALL(cudaIpcCloseMemHandle, (void* pointer), {
  const auto found = memory().allocation(pointer);
  if (!found || found->start != reinterpret_cast<std::uintptr_t>(pointer))
    return cudaErrorInvalidValue;
  if (!memory().unmap(pointer, found->bytes)) return cudaErrorInvalidValue;
  memory().free_addresses(pointer, found->bytes);
  return cudaSuccess;
})

// A pool gives memory at once and takes it back in the stream's order.
CUDA_CALL(cudaMemPoolCreate, (cudaMemPool_t * pool, const cudaMemPoolProps*), {
  *pool = reinterpret_cast<cudaMemPool_t>(new int(0));
  return cudaSuccess;
})
CUDA_CALL(cudaMemPoolDestroy, (cudaMemPool_t pool), {
  delete reinterpret_cast<int*>(pool);
  return cudaSuccess;
})
CUDA_CALL(cudaMemPoolSetAttribute, (cudaMemPool_t, cudaMemPoolAttr, void*), { return cudaSuccess; })
CUDA_CALL(cudaMallocFromPoolAsync, (void** pointer, std::size_t bytes, cudaMemPool_t, cudaStream_t),
          {
            return memory().allocate(this_thread().device, bytes, pointer)
                       ? cudaSuccess
                       : cudaErrorMemoryAllocation;
          })
CUDA_CALL(cudaFreeAsync, (void* pointer, cudaStream_t stream), {
  const StreamPointer queue = find_stream_with_room(stream);
  if (queue == nullptr || !memory().is_start(pointer)) return cudaErrorInvalidValue;
  return submit(queue, {[pointer] { return memory().release(pointer); }});
})
CUDA_CALL(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void* argument), {
  const StreamPointer queue = find_stream_with_room(stream);
  if (queue == nullptr) return cudaErrorInvalidResourceHandle;
  return submit(queue, {[function, argument] {
                  function(argument);
                  return true;
                }});
})
CUDA_CALL(cudaMemcpyBatchAsync,
          (void* const* to, const void* const* from, const std::size_t* bytes, std::size_t count,
           cudaMemcpyAttributes*, std::size_t*, std::size_t, cudaStream_t stream),
          {
            for (std::size_t i = 0; i < count; ++i) {
              const cudaError_t status =
                  cudaMemcpyAsync(to[i], from[i], bytes[i], cudaMemcpyDefault, stream);
              if (status != cudaSuccess) return status;
            }
            return cudaSuccess;
          })

// A graph is a list in the order of the calls, so that nothing depends on anything else.
CUDA_CALL(cudaStreamGetCaptureInfo,
          (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
           cudaGraph_t* graph, const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
           std::size_t* count),
          {
            const auto guard = lock_runtime();
            const std::shared_ptr<Capture> capture = capture_of(stream);
            *status = capture == nullptr ? cudaStreamCaptureStatusNone
                      : capture->valid   ? cudaStreamCaptureStatusActive
                                         : cudaStreamCaptureStatusInvalidated;
            if (capture == nullptr) return cudaSuccess;
            if (id != nullptr) *id = capture->graph->id;
            if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(capture->graph.get());
            if (nodes != nullptr) *nodes = nullptr;
            if (edges != nullptr) *edges = nullptr;
            if (count != nullptr) *count = 0;
            return cudaSuccess;
          })
CUDA_CALL(cudaStreamUpdateCaptureDependencies,
          (cudaStream_t stream, cudaGraphNode_t*, const cudaGraphEdgeData*, std::size_t, unsigned),
          { return capture_of(stream) == nullptr ? cudaErrorIllegalState : cudaSuccess; })
CUDA_CALL(cudaGraphAddDependencies,
          (cudaGraph_t, const cudaGraphNode_t*, const cudaGraphNode_t*, const cudaGraphEdgeData*,
           std::size_t),
          { return cudaSuccess; })
CUDA_CALL(cudaGraphAddEventRecordNode,
          (cudaGraphNode_t * node, cudaGraph_t, const cudaGraphNode_t*, std::size_t, cudaEvent_t), {
            *node = nullptr;
            return cudaSuccess;
          })
CUDA_CALL(cudaUserObjectCreate,
          (cudaUserObject_t * object, void* value, cudaHostFn_t destroy, unsigned, unsigned), {
            *object = reinterpret_cast<cudaUserObject_t>(new std::shared_ptr<void>(value, destroy));
            return cudaSuccess;
          })
CUDA_CALL(cudaGraphRetainUserObject,
          (cudaGraph_t graph, cudaUserObject_t object, unsigned, unsigned), {
            auto* const owner = reinterpret_cast<std::shared_ptr<void>*>(object);
            reinterpret_cast<Graph*>(graph)->objects.push_back(std::move(*owner));
            delete owner;
            return cudaSuccess;
          })

}  // extern "C"
