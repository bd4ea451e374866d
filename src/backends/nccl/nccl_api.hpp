// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include "backends/nccl/shared_library.hpp"

namespace busbar {

/// ncclConfig_t as NCCL 2.30 lays it out, whatever the header knows: a library reads as many bytes
/// of it as it knows itself, and leaves undefined fields at its own defaults (nccl.h, all
/// versions).
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

/// What the program calls of NCCL, found at run time in libnccl. Whatever came after 2.14 may be
/// null; types and constants of later versions are given as numbers, so that one program
/// serves old and new libraries, whichever header it was built with.
struct NcclApi {
  SharedLibrary library{"libnccl.so.2", "libnccl.so"};

  template <class Signature>
  using Function = LibraryFunction<Signature>;
  using Comm = ncclComm_t;
  using Result = ncclResult_t;
  using Type = ncclDataType_t;
  using Count = std::size_t;

  Function<Result(int*)> get_version{library.require("ncclGetVersion")};
  Function<Result(ncclUniqueId*)> get_unique_id{library.require("ncclGetUniqueId")};
  Function<Result(Comm*, int, ncclUniqueId, int, NcclConfig*)> init{
      library.require("ncclCommInitRankConfig")};
  Function<Result(Comm)> destroy{library.require("ncclCommDestroy")};
  Function<Result(Comm)> abort{library.require("ncclCommAbort")};
  Function<Result(Comm, Result*)> get_async_error{library.require("ncclCommGetAsyncError")};
  Function<const char*(Result)> error_text{library.require("ncclGetErrorString")};
  Function<const char*(Comm)> last_error{library.require("ncclGetLastError")};

  Function<Result()> group_start{library.require("ncclGroupStart")};
  Function<Result()> group_end{library.require("ncclGroupEnd")};
  Function<Result(const void*, void*, Count, Type, ncclRedOp_t, Comm, cudaStream_t)> allreduce{
      library.require("ncclAllReduce")};
  Function<Result(const void*, void*, Count, Type, int, Comm, cudaStream_t)> broadcast{
      library.require("ncclBroadcast")};
  Function<Result(const void*, void*, Count, Type, ncclRedOp_t, int, Comm, cudaStream_t)> reduce{
      library.require("ncclReduce")};
  Function<Result(const void*, void*, Count, Type, ncclRedOp_t, Comm, cudaStream_t)> reducescatter{
      library.require("ncclReduceScatter")};
  Function<Result(const void*, void*, Count, Type, Comm, cudaStream_t)> allgather{
      library.require("ncclAllGather")};
  Function<Result(const void*, Count, Type, int, Comm, cudaStream_t)> send{
      library.require("ncclSend")};
  Function<Result(void*, Count, Type, int, Comm, cudaStream_t)> receive{
      library.require("ncclRecv")};

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
};

/// NCCL, opened at the first call. Its functions may be called where nccl_problem() is empty.
[[nodiscard]] const NcclApi& nccl();

/// The first version with a feature, as ncclGetVersion reports it.
inline constexpr int kNcclFirst = 21400;          ///< the oldest that is used at all
inline constexpr int kNcclRegistration = 21900;   ///< ncclCommRegister
inline constexpr int kNcclSmallFloats = 22400;    ///< 8-bit floating types
inline constexpr int kNcclWindows = 22700;        ///< symmetric windows, CTAPolicy 0 and 1
inline constexpr int kNcclZeroCtas = 22800;       ///< CTAPolicy 2, nvlinkCentricSched
inline constexpr int kNcclNullWindows = 22900;    ///< no window is a null handle
inline constexpr int kNcclSharedDevices = 23000;  ///< ranks that share a device, maxP2pPeers

/// Of the library; 0 where there is none.
[[nodiscard]] int nccl_version();
/// "2.28.9" of a version's code.
[[nodiscard]] std::string nccl_version_text(int code);
/// Why NCCL cannot be used in this process, or an empty text.
[[nodiscard]] std::string nccl_problem();

}  // namespace busbar
