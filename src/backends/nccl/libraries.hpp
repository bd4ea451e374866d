// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include "base/error.hpp"

namespace busbar {

/// A library that is opened at run time and stays open: the program starts without it.
class SharedLibrary {
 public:
  /// Opens the first of these names that the dynamic linker finds.
  SharedLibrary(std::initializer_list<const char*> names);

  [[nodiscard]] bool is_open() const { return handle_ != nullptr; }
  /// The address of a function, or null where the library has none of this name.
  [[nodiscard]] void* find(const char* function) const;
  /// As find; a function that is not there makes the library unusable.
  [[nodiscard]] void* require(const char* function);
  /// The file that was opened, or an empty text.
  [[nodiscard]] std::string path() const;
  /// Why the library cannot be used, or an empty text.
  [[nodiscard]] std::string problem() const;

 private:
  void* handle_ = nullptr;
  std::string error_;  // the linker's, of the first name
  std::vector<std::string> missing_;
};

template <class Signature>
class LibraryFunction;

/// A function of a SharedLibrary; false where the library has none.
template <class Result, class... Arguments>
class LibraryFunction<Result(Arguments...)> {
 public:
  explicit LibraryFunction(void* address)
      : call_(reinterpret_cast<Result (*)(Arguments...)>(address)) {}
  /// One without which the library is unusable.
  LibraryFunction(SharedLibrary& library, const char* name)
      : LibraryFunction(library.require(name)) {}

  explicit operator bool() const { return call_ != nullptr; }
  Result operator()(Arguments... arguments) const { return call_(arguments...); }

 private:
  Result (*call_)(Arguments...);
};

/// What the program calls of CUDA, found at run time in libcudart and in the driver's libcuda: only
/// what is alike from CUDA 11.4 to 13, so that any of these serves, whichever the program was built
/// with. Signatures are the header's but where it has templates of the same name.
struct CudaApi {
  SharedLibrary runtime{"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so"};
  SharedLibrary driver{"libcuda.so.1"};

  template <class Signature>
  using Function = LibraryFunction<Signature>;

  Function<decltype(cudaRuntimeGetVersion)> get_runtime_version{runtime, "cudaRuntimeGetVersion"};
  Function<decltype(cudaDriverGetVersion)> get_driver_version{runtime, "cudaDriverGetVersion"};
  Function<decltype(cudaGetErrorString)> error_text{runtime, "cudaGetErrorString"};
  Function<decltype(cudaGetErrorName)> error_name{runtime, "cudaGetErrorName"};
  Function<decltype(cudaGetLastError)> take_last_error{runtime, "cudaGetLastError"};
  Function<decltype(cudaGetDeviceCount)> get_device_count{runtime, "cudaGetDeviceCount"};
  // The length of cudaDeviceProp differs between versions.
  Function<cudaError_t(void*, int)> get_properties{runtime, "cudaGetDeviceProperties"};
  Function<decltype(cudaDeviceGetAttribute)> get_attribute{runtime, "cudaDeviceGetAttribute"};
  Function<decltype(cudaDeviceGetPCIBusId)> get_bus{runtime, "cudaDeviceGetPCIBusId"};
  Function<decltype(cudaGetDevice)> get_device{runtime, "cudaGetDevice"};
  Function<decltype(cudaSetDevice)> set_device{runtime, "cudaSetDevice"};

  Function<decltype(cudaMemGetInfo)> get_memory{runtime, "cudaMemGetInfo"};
  Function<cudaError_t(void**, std::size_t)> allocate{runtime, "cudaMalloc"};
  Function<decltype(cudaFree)> release{runtime, "cudaFree"};
  Function<cudaError_t(void**, std::size_t, unsigned)> allocate_host{runtime, "cudaHostAlloc"};
  Function<decltype(cudaFreeHost)> release_host{runtime, "cudaFreeHost"};
  Function<decltype(cudaMemcpyAsync)> copy{runtime, "cudaMemcpyAsync"};
  Function<decltype(cudaMemsetAsync)> set_bytes{runtime, "cudaMemsetAsync"};

  Function<decltype(cudaStreamCreateWithFlags)> create_stream{runtime, "cudaStreamCreateWithFlags"};
  Function<decltype(cudaStreamDestroy)> destroy_stream{runtime, "cudaStreamDestroy"};
  Function<decltype(cudaStreamQuery)> query_stream{runtime, "cudaStreamQuery"};
  Function<decltype(cudaStreamSynchronize)> await_stream{runtime, "cudaStreamSynchronize"};

  Function<cudaError_t(cudaEvent_t*)> create_event{runtime, "cudaEventCreate"};
  Function<decltype(cudaEventDestroy)> destroy_event{runtime, "cudaEventDestroy"};
  Function<decltype(cudaEventRecord)> record_event{runtime, "cudaEventRecord"};
  Function<decltype(cudaEventQuery)> query_event{runtime, "cudaEventQuery"};
  Function<decltype(cudaEventElapsedTime)> get_elapsed_ms{runtime, "cudaEventElapsedTime"};

  Function<decltype(cudaStreamBeginCapture)> begin_capture{runtime, "cudaStreamBeginCapture"};
  Function<decltype(cudaStreamEndCapture)> end_capture{runtime, "cudaStreamEndCapture"};
  // CUDA 11 has five arguments for cudaGraphInstantiate, CUDA 12 three; this one stayed (11.4).
  Function<decltype(cudaGraphInstantiateWithFlags)> instantiate_graph{
      runtime, "cudaGraphInstantiateWithFlags"};
  Function<decltype(cudaGraphLaunch)> launch_graph{runtime, "cudaGraphLaunch"};
  Function<decltype(cudaGraphExecDestroy)> destroy_graph_exec{runtime, "cudaGraphExecDestroy"};
  Function<decltype(cudaGraphDestroy)> destroy_graph{runtime, "cudaGraphDestroy"};

  Function<decltype(cuGetErrorString)> driver_error_text{driver, "cuGetErrorString"};
  Function<decltype(cuModuleLoadData)> load_module{driver, "cuModuleLoadData"};
  Function<decltype(cuModuleUnload)> unload_module{driver, "cuModuleUnload"};
  Function<decltype(cuModuleGetFunction)> get_kernel{driver, "cuModuleGetFunction"};
  Function<decltype(cuLaunchKernel)> launch_kernel{driver, "cuLaunchKernel"};
  /// From CUDA 11.7 on; null before.
  Function<decltype(cuStreamWaitValue32)> wait_for_value{driver.find("cuStreamWaitValue32_v2")};
};

/// CUDA, opened at the first call. Its functions may be called where `problem` is empty.
[[nodiscard]] const CudaApi& cuda();
/// Why CUDA cannot be used in this process, or an empty text.
[[nodiscard]] std::string cuda_problem();

/// Throws Error (Runtime) with CUDA's own text unless `code` is cudaSuccess.
void check_cuda(cudaError_t code, Where where = Where::here());
/// As check_cuda, for the driver's functions.
void check_driver(CUresult code, Where where = Where::here());

struct CudaRelease {
  void operator()(cudaStream_t stream) const { (void)cuda().destroy_stream(stream); }
  void operator()(cudaEvent_t event) const { (void)cuda().destroy_event(event); }
  void operator()(cudaGraph_t graph) const { (void)cuda().destroy_graph(graph); }
  void operator()(cudaGraphExec_t graph) const { (void)cuda().destroy_graph_exec(graph); }
  void operator()(CUmodule module) const { (void)cuda().unload_module(module); }
  void operator()(std::byte* device_memory) const { (void)cuda().release(device_memory); }
};
template <class Handle>
using CudaOwned = std::unique_ptr<std::remove_pointer_t<Handle>, CudaRelease>;

/// A stream of the current device that does not wait for the default stream.
[[nodiscard]] CudaOwned<cudaStream_t> make_cuda_stream();
/// An event that is timed.
[[nodiscard]] CudaOwned<cudaEvent_t> make_cuda_event();
[[nodiscard]] CudaOwned<std::byte*> allocate_cuda_memory(std::size_t bytes);

/// ncclConfig_t as NCCL 2.30 lays it out: a library reads as many bytes of it as it knows itself,
/// and leaves undefined fields at its own defaults (nccl.h, all versions).
struct NcclConfig {
  static constexpr int kUndefined = std::numeric_limits<int>::min();

  std::size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 23000;
  int blocking = 1;  ///< 2.14 knows no undefined value of this one
  int cga_cluster_size = kUndefined;
  int min_ctas = kUndefined;
  int max_ctas = kUndefined;
  const char* net_name = nullptr;
  int split_share = kUndefined;
  int traffic_class = kUndefined;
  const char* comm_name = nullptr;
  int collnet_enable = kUndefined;
  int cta_policy = kUndefined;  ///< from 2.27 on
  int shrink_share = kUndefined;
  int nvls_ctas = kUndefined;
  int channels_per_net_peer = kUndefined;
  int nvlink_centric_sched = kUndefined;  ///< from 2.28 on
  int graph_usage_mode = kUndefined;
  int num_rma_ctx = kUndefined;
  int max_p2p_peers = kUndefined;  ///< from 2.30 on
  int graph_stream_ordering = kUndefined;
};

/// ncclCollConfig_t of NCCL 2.31: what one operation is configured with.
struct NcclCallConfig {
  std::size_t size = sizeof(NcclCallConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 23100;
  void* extension = nullptr;
  int min_ctas = NcclConfig::kUndefined;
  int max_ctas = NcclConfig::kUndefined;
  int nvls_ctas = NcclConfig::kUndefined;
  int cga_cluster_size = NcclConfig::kUndefined;
  const char* algorithm = nullptr;
  int forces_algorithm = 1;  ///< one that is not possible is an error
  int cta_policy = NcclConfig::kUndefined;
  std::uint64_t profiler_tag = 0;
};

/// What the program calls of NCCL, found at run time in libnccl. Whatever came after 2.14 may be
/// null; its types and constants are given as numbers, so that any header serves.
struct NcclApi {
  SharedLibrary library{"libnccl.so.2", "libnccl.so"};

  template <class Signature>
  using Function = LibraryFunction<Signature>;
  using Comm = ncclComm_t;
  using Result = ncclResult_t;
  using Type = ncclDataType_t;
  using Count = std::size_t;

  Function<decltype(ncclGetVersion)> get_version{library, "ncclGetVersion"};
  Function<decltype(ncclGetUniqueId)> get_unique_id{library, "ncclGetUniqueId"};
  Function<Result(Comm*, int, ncclUniqueId, int, NcclConfig*)> init{library,
                                                                    "ncclCommInitRankConfig"};
  Function<decltype(ncclCommDestroy)> destroy{library, "ncclCommDestroy"};
  Function<decltype(ncclCommAbort)> abort{library, "ncclCommAbort"};
  Function<decltype(ncclCommGetAsyncError)> get_async_error{library, "ncclCommGetAsyncError"};
  Function<decltype(ncclGetErrorString)> error_text{library, "ncclGetErrorString"};
  Function<decltype(ncclGetLastError)> last_error{library, "ncclGetLastError"};

  Function<decltype(ncclGroupStart)> group_start{library, "ncclGroupStart"};
  Function<decltype(ncclGroupEnd)> group_end{library, "ncclGroupEnd"};
  Function<decltype(ncclAllReduce)> allreduce{library, "ncclAllReduce"};
  Function<decltype(ncclBroadcast)> broadcast{library, "ncclBroadcast"};
  Function<decltype(ncclReduce)> reduce{library, "ncclReduce"};
  Function<decltype(ncclReduceScatter)> reducescatter{library, "ncclReduceScatter"};
  Function<decltype(ncclAllGather)> allgather{library, "ncclAllGather"};
  Function<decltype(ncclSend)> send{library, "ncclSend"};
  Function<decltype(ncclRecv)> receive{library, "ncclRecv"};

  // From 2.19 on.
  Function<Result(void**, std::size_t)> allocate{library.find("ncclMemAlloc")};
  Function<Result(void*)> release{library.find("ncclMemFree")};
  Function<Result(Comm, void*, std::size_t, void**)> register_buffer{
      library.find("ncclCommRegister")};
  Function<Result(Comm, void*)> deregister_buffer{library.find("ncclCommDeregister")};
  // From 2.24 on.
  Function<void()> reread_log_settings{library.find("ncclResetDebugInit")};
  // From 2.27 on; the handle is an ncclWindow_t.
  Function<Result(Comm, void*, std::size_t, void**, int)> register_window{
      library.find("ncclCommWindowRegister")};
  Function<Result(Comm, void*)> deregister_window{library.find("ncclCommWindowDeregister")};
  // From 2.28 on; without them send and receive must do.
  Function<Result(const void*, void*, Count, Type, Comm, cudaStream_t)> alltoall{
      library.find("ncclAlltoAll")};
  Function<Result(const void*, void*, Count, Type, int, Comm, cudaStream_t)> gather{
      library.find("ncclGather")};
  Function<Result(const void*, void*, Count, Type, int, Comm, cudaStream_t)> scatter{
      library.find("ncclScatter")};
  // From 2.31 on.
  using Op = ncclRedOp_t;
  using CallConfig = const NcclCallConfig*;
  Function<Result(const void*, void*, Count, Type, Op, Comm, cudaStream_t, CallConfig)>
      allreduce_config{library.find("ncclAllReduceConfig")};
  Function<Result(const void*, void*, Count, Type, int, Comm, cudaStream_t, CallConfig)>
      broadcast_config{library.find("ncclBroadcastConfig")};
  Function<Result(const void*, void*, Count, Type, Op, int, Comm, cudaStream_t, CallConfig)>
      reduce_config{library.find("ncclReduceConfig")};
  Function<Result(const void*, void*, Count, Type, Op, Comm, cudaStream_t, CallConfig)>
      reducescatter_config{library.find("ncclReduceScatterConfig")};
  Function<Result(const void*, void*, Count, Type, Comm, cudaStream_t, CallConfig)>
      allgather_config{library.find("ncclAllGatherConfig")};
  Function<Result(const void*, void*, Count, Type, Comm, cudaStream_t, CallConfig)> alltoall_config{
      library.find("ncclAlltoAllConfig")};
  Function<Result(const void*, void*, Count, Type, int, Comm, cudaStream_t, CallConfig)>
      gather_config{library.find("ncclGatherConfig")};
  Function<Result(const void*, void*, Count, Type, int, Comm, cudaStream_t, CallConfig)>
      scatter_config{library.find("ncclScatterConfig")};
};

/// NCCL, opened at the first call. Its functions may be called where nccl_problem() is empty.
[[nodiscard]] const NcclApi& nccl();

/// The first version with a feature, as ncclGetVersion reports it.
inline constexpr int kNcclFirst = 21400;          ///< the oldest that is used at all
inline constexpr int kNcclRegistration = 21900;   ///< ncclCommRegister
inline constexpr int kNcclSmallFloats = 22400;    ///< 8-bit floating types
inline constexpr int kNcclRas = 22400;            ///< ncclras, which asks a running job
inline constexpr int kNcclWindows = 22700;        ///< symmetric windows, CTAPolicy 0 and 1
inline constexpr int kNcclZeroCtas = 22800;       ///< CTAPolicy 2, nvlinkCentricSched
inline constexpr int kNcclNullWindows = 22900;    ///< no window is a null handle
inline constexpr int kNcclSharedDevices = 23000;  ///< ranks that share a device, maxP2pPeers
inline constexpr int kNcclCallConfigs = 23100;    ///< ncclCollConfig_t

/// The version of the library; 0 if there is none.
[[nodiscard]] int nccl_version();
/// "WHAT comes with NCCL 2.27.0, this library is 2.14.3".
[[nodiscard]] std::string newer_nccl_text(std::string_view what, int needed);
/// Why NCCL cannot be used in this process, or an empty text.
[[nodiscard]] std::string nccl_problem();

}  // namespace busbar
