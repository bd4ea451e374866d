// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "backends/nccl/shared_library.hpp"
#include "base/where.hpp"

namespace busbar {

/// What the program calls of CUDA, found at run time in libcudart and in the driver's libcuda. Only
/// functions and structs that are alike from CUDA 11.4 to 13 are used, so that any of these
/// versions serves, whichever the program was built with.
struct CudaApi {
  SharedLibrary runtime{"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so"};
  SharedLibrary driver{"libcuda.so.1"};

  template <class Signature>
  using Function = LibraryFunction<Signature>;

  Function<cudaError_t(int*)> get_runtime_version{runtime.require("cudaRuntimeGetVersion")};
  Function<cudaError_t(int*)> get_driver_version{runtime.require("cudaDriverGetVersion")};
  Function<const char*(cudaError_t)> error_text{runtime.require("cudaGetErrorString")};
  Function<const char*(cudaError_t)> error_name{runtime.require("cudaGetErrorName")};
  Function<cudaError_t()> take_last_error{runtime.require("cudaGetLastError")};

  Function<cudaError_t(int*)> get_device_count{runtime.require("cudaGetDeviceCount")};
  Function<cudaError_t(void*, int)> get_properties{runtime.require("cudaGetDeviceProperties")};
  Function<cudaError_t(int*, cudaDeviceAttr, int)> get_attribute{
      runtime.require("cudaDeviceGetAttribute")};
  Function<cudaError_t(char*, int, int)> get_bus{runtime.require("cudaDeviceGetPCIBusId")};
  Function<cudaError_t(int*)> get_device{runtime.require("cudaGetDevice")};
  Function<cudaError_t(int)> set_device{runtime.require("cudaSetDevice")};

  Function<cudaError_t(std::size_t*, std::size_t*)> get_memory{runtime.require("cudaMemGetInfo")};
  Function<cudaError_t(void**, std::size_t)> allocate{runtime.require("cudaMalloc")};
  Function<cudaError_t(void*)> release{runtime.require("cudaFree")};
  Function<cudaError_t(void**, std::size_t, unsigned)> allocate_host{
      runtime.require("cudaHostAlloc")};
  Function<cudaError_t(void*)> release_host{runtime.require("cudaFreeHost")};
  Function<cudaError_t(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t)> copy{
      runtime.require("cudaMemcpyAsync")};
  Function<cudaError_t(void*, int, std::size_t, cudaStream_t)> set_bytes{
      runtime.require("cudaMemsetAsync")};

  Function<cudaError_t(cudaStream_t*, unsigned)> create_stream{
      runtime.require("cudaStreamCreateWithFlags")};
  Function<cudaError_t(cudaStream_t)> destroy_stream{runtime.require("cudaStreamDestroy")};
  Function<cudaError_t(cudaStream_t)> query_stream{runtime.require("cudaStreamQuery")};
  Function<cudaError_t(cudaStream_t)> await_stream{runtime.require("cudaStreamSynchronize")};

  Function<cudaError_t(cudaEvent_t*)> create_event{runtime.require("cudaEventCreate")};
  Function<cudaError_t(cudaEvent_t)> destroy_event{runtime.require("cudaEventDestroy")};
  Function<cudaError_t(cudaEvent_t, cudaStream_t)> record_event{runtime.require("cudaEventRecord")};
  Function<cudaError_t(float*, cudaEvent_t, cudaEvent_t)> get_elapsed_ms{
      runtime.require("cudaEventElapsedTime")};

  Function<cudaError_t(cudaStream_t, cudaStreamCaptureMode)> begin_capture{
      runtime.require("cudaStreamBeginCapture")};
  Function<cudaError_t(cudaStream_t, cudaGraph_t*)> end_capture{
      runtime.require("cudaStreamEndCapture")};
  // CUDA 11 has five arguments for cudaGraphInstantiate, CUDA 12 three; this one stayed (11.4).
  Function<cudaError_t(cudaGraphExec_t*, cudaGraph_t, unsigned long long)> instantiate_graph{
      runtime.require("cudaGraphInstantiateWithFlags")};
  Function<cudaError_t(cudaGraphExec_t, cudaStream_t)> launch_graph{
      runtime.require("cudaGraphLaunch")};
  Function<cudaError_t(cudaGraphExec_t)> destroy_graph_exec{
      runtime.require("cudaGraphExecDestroy")};
  Function<cudaError_t(cudaGraph_t)> destroy_graph{runtime.require("cudaGraphDestroy")};

  Function<CUresult(CUresult, const char**)> driver_error_text{driver.require("cuGetErrorString")};
  Function<CUresult(CUmodule*, const void*)> load_module{driver.require("cuModuleLoadData")};
  Function<CUresult(CUmodule)> unload_module{driver.require("cuModuleUnload")};
  Function<CUresult(CUfunction*, CUmodule, const char*)> get_kernel{
      driver.require("cuModuleGetFunction")};
  Function<CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                    unsigned, CUstream, void**, void**)>
      launch_kernel{driver.require("cuLaunchKernel")};
  /// From CUDA 11.7 on; null before.
  Function<CUresult(CUstream, CUdeviceptr, cuuint32_t, unsigned)> wait_for_value{
      driver.find("cuStreamWaitValue32_v2")};
};

/// CUDA, opened at the first call. Its functions may be called where `problem` is empty.
[[nodiscard]] const CudaApi& cuda();
/// Why CUDA cannot be used in this process, or an empty text.
[[nodiscard]] std::string cuda_problem();

/// Throws Error (Runtime) with CUDA's own text unless `code` is cudaSuccess.
void check_cuda(cudaError_t code, Where where = Where::here());
/// As check_cuda, for the driver's functions.
void check_driver(CUresult code, Where where = Where::here());

/// A stream of the current device that does not wait for the default stream.
class CudaStream {
 public:
  CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream() { (void)cuda().destroy_stream(stream_); }

  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A mark on a stream with a time; move-only.
class CudaEvent {
 public:
  CudaEvent();
  CudaEvent(CudaEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() {
    if (event_ != nullptr) (void)cuda().destroy_event(event_);
  }

  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace busbar
