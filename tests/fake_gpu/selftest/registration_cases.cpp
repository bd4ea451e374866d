// SPDX-License-Identifier: BSD-3-Clause
// Registration of user buffers: windows, local registration, and what graphs register.
#include <cstdio>
#include <functional>
#include <memory>
#include <unistd.h>

#include "tests/fake_gpu/selftest/selftest.hpp"

namespace selftest {
namespace {

constexpr std::size_t kBytes = 64;

void* allocate() {
  void* memory = nullptr;
  expect(ncclSuccess, ncclMemAlloc(&memory, 4096));
  return memory;
}

ncclResult_t open_window(const Job& job, void* memory, ncclWindow_t* window) {
  return ncclCommWindowRegister(job.comm, memory, 4096, window, NCCL_WIN_COLL_SYMMETRIC);
}

/// All ranks have to come; until then the call has only begun, and says success.
void window() {
  Job job = join();
  connect_without_blocking(job);
  void* memory = allocate();
  ncclWindow_t handle = nullptr;
  ncclWindow_t second = nullptr;
  const bool last = job.rank == job.ranks - 1;
  if (last) meet_all();
  expect(ncclSuccess, open_window(job, memory, &handle));
  if (!last) {
    require(handle == nullptr, "no handle yet");
    expect(ncclInvalidArgument, open_window(job, memory, &second));
    meet_all();
  }
  expect(ncclSuccess, await_state(job.comm));
  require(handle != nullptr, "a handle");
  expect(ncclSuccess, ncclCommWindowDeregister(job.comm, handle));
  expect(ncclSuccess, ncclMemFree(memory));
  leave(job);
}

/// Memory of cudaMalloc cannot be shared.
void plain_window() {
  Job job = join();
  connect(job);
  const DeviceBytes room(4096);
  ncclWindow_t handle = nullptr;
  expect(ncclUnhandledCudaError, open_window(job, room.at(), &handle));
  require(handle == nullptr, "no handle");
  leave(job);
}

/// Prints which of a window and a local registration have a handle.
void handles() {
  Job job = join();
  connect(job);
  void* memory = allocate();
  ncclWindow_t made = nullptr;
  void* local = nullptr;
  expect(ncclSuccess, open_window(job, memory, &made));
  expect(ncclSuccess, ncclCommRegister(job.comm, memory, 4096, &local));
  if (job.rank == 0) {
    std::printf("window %s, local %s\n", made == nullptr ? "null" : "handle",
                local == nullptr ? "null" : "handle");
  }
  expect(ncclSuccess, ncclCommWindowDeregister(job.comm, made));
  expect(ncclSuccess, ncclCommDeregister(job.comm, local));
  expect(ncclSuccess, ncclMemFree(memory));
  leave(job);
}

/// Buffers of an all-reduce, at the addresses that the last ones had.
struct Buffers {
  DeviceBytes from{std::vector<unsigned char>(kBytes, 1)};
  DeviceBytes to{std::vector<unsigned char>(kBytes, 0)};

  void reduce(const Job& job) const {
    expect(ncclSuccess,
           ncclAllReduce(from.at(), to.at(), kBytes, ncclUint8, ncclSum, job.comm, job.stream));
  }
  [[nodiscard]] bool is_sum(const Job& job) const {
    return to.read() == std::vector<unsigned char>(kBytes, static_cast<unsigned char>(job.ranks));
  }
};

/// Captures an all-reduce, launches it and forgets the graph.
bool is_right_by_graph(const Job& job, const Buffers& buffers) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  expect(cudaSuccess, cudaStreamBeginCapture(job.stream, cudaStreamCaptureModeThreadLocal));
  buffers.reduce(job);
  expect(cudaSuccess, cudaStreamEndCapture(job.stream, &graph));
  expect(cudaSuccess, cudaGraphInstantiateWithFlags(&executable, graph, 0));
  expect(cudaSuccess, cudaGraphDestroy(graph));
  expect(cudaSuccess, cudaGraphLaunch(executable, job.stream));
  job.finish();
  expect(cudaSuccess, cudaGraphExecDestroy(executable));
  return buffers.is_sum(job);
}

/// A graph's registration outlives the graph and its buffers, until the eleventh group.
void stale_graph() {
  Job job = join();
  connect(job);
  const unsigned char* address = nullptr;
  {
    const Buffers buffers;
    address = buffers.to.at();
    require(is_right_by_graph(job, buffers), "the first graph");
    require(is_right_by_graph(job, buffers), "another graph of the same buffers");
  }
  {
    const Buffers buffers;
    require(buffers.to.at() == address, "the same address");
    require(!is_right_by_graph(job, buffers), "results go to the memory that was there");
    buffers.reduce(job);
    job.finish();
    require(buffers.is_sum(job), "without a graph all is well");
    for (int group = 0; group < 11; ++group) buffers.reduce(job);
    job.finish();
    require(is_right_by_graph(job, buffers), "after eleven groups the registration is new");
  }
  leave(job);
}

/// A user's registration ends where a graph still uses the range, but the range stays.
void stale_user() {
  Job job = join();
  connect(job);
  void* before = nullptr;
  void* after = nullptr;
  {
    const Buffers buffers;
    expect(ncclSuccess, ncclCommRegister(job.comm, buffers.to.at(), kBytes, &before));
    require(is_right_by_graph(job, buffers), "a graph");
    expect(ncclSuccess, ncclCommDeregister(job.comm, before));
  }
  const Buffers buffers;
  expect(ncclSuccess, ncclCommRegister(job.comm, buffers.to.at(), kBytes, &after));
  require(before == after, "the same range");
  buffers.reduce(job);
  job.finish();
  require(!buffers.is_sum(job), "results go to the memory that was there");
  leave(job);
}

}  // namespace

const std::vector<Case>& registration_cases() {
  static const std::vector<Case> kCases = {{"window", window},
                                           {"plain_window", plain_window},
                                           {"handles", handles},
                                           {"stale_graph", stale_graph},
                                           {"stale_user", stale_user}};
  return kCases;
}

}  // namespace selftest
