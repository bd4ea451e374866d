// SPDX-License-Identifier: BSD-3-Clause
// selftest CASE: what the fake GPU must do, asked of it through NVIDIA's headers.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <cuda_runtime_api.h>
#include <mpi.h>
#include <nccl.h>

#include "base/error.hpp"

namespace {

using busbar::Where;

/// Ends the process with one line where something is not as it must be.
void require(bool good, const std::string& what, Where where = Where::here()) {
  if (good) return;
  int started = 0;
  int rank = 0;
  MPI_Initialized(&started);
  if (started != 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static_cast<void>(
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank, where.file, where.line, what.c_str()));
  ::usleep(100'000);  // what a launcher has not read when a rank aborts is lost
  if (started != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

void expect(cudaError_t wanted, cudaError_t got, Where where = Where::here()) {
  require(wanted == got,
          std::string("wanted ") + cudaGetErrorName(wanted) + ", got " + cudaGetErrorName(got),
          where);
}

void expect(ncclResult_t wanted, ncclResult_t got, Where where = Where::here()) {
  require(wanted == got,
          std::string("wanted ") + ncclGetErrorString(wanted) + ", got " + ncclGetErrorString(got) +
              ": " + ncclGetLastError(nullptr),
          where);
}

/// The same of success.
template <class Result>
void ok(Result got, Where where = Where::here()) {
  expect(Result{}, got, where);
}

using Bytes = std::vector<unsigned char>;

/// Device memory, which the end of the process gives back.
unsigned char* device_memory(std::size_t bytes) {
  void* start = nullptr;
  ok(cudaMalloc(&start, bytes));
  return static_cast<unsigned char*>(start);
}

/// The ranks of mpirun, with one communicator.
struct Job {
  int rank = 0;
  int ranks = 1;
  ncclComm_t comm = nullptr;
};

/// Joins the ranks of mpirun, each on the GPU of its number (or all on one).
Job join(bool one_gpu = false) {
  Job job;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  ok(cudaSetDevice(one_gpu ? 0 : job.rank));
  return job;
}

void meet_all() { MPI_Barrier(MPI_COMM_WORLD); }

/// Begins the communicator of a job; the default configuration blocks.
ncclResult_t start(Job& job, bool blocking) {
  ncclUniqueId id{};
  if (job.rank == 0) ok(ncclGetUniqueId(&id));
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return ncclCommInitRankConfig(&job.comm, job.ranks, id, job.rank, blocking ? nullptr : &config);
}

/// Returns when a communicator is no longer in progress.
void await_state(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) {
    ::usleep(1000);
    ok(ncclCommGetAsyncError(comm, &state));
  }
  ok(state);
}

void leave(const Job& job) {
  if (job.comm != nullptr) ok(ncclCommDestroy(job.comm));
  MPI_Finalize();
}

/// Runs a case on the ranks of mpirun with a communicator, which may block or not.
template <class Run>
void on_ranks(const Run& run, bool blocking) {
  Job job = join();
  expect(blocking ? ncclSuccess : ncclInProgress, start(job, blocking));
  await_state(job.comm);
  run(job);
  leave(job);
}

constexpr std::size_t kMiB = 1 << 20;

void touch() { std::printf("%d\n", *device_memory(100)); }

void memory() {
  std::size_t free_before = 0;
  std::size_t free_after = 0;
  std::size_t total = 0;
  ok(cudaMemGetInfo(&free_before, &total));
  require(total == 1024 * kMiB && free_before == 960 * kMiB, "a context costs 64 MiB");
  unsigned char* bytes = device_memory(3 * kMiB);
  ok(cudaMemGetInfo(&free_after, &total));
  require(free_before - free_after == 4 * kMiB, "memory is taken in granules of 2 MiB");
  Bytes junk(3 * kMiB);
  ok(cudaMemcpy(junk.data(), bytes, junk.size(), cudaMemcpyDeviceToHost));
  require(std::all_of(junk.begin(), junk.end(), [](auto b) { return b != 0; }),
          "fresh memory is junk");
  Bytes host(kMiB, 1);
  const auto to_device = cudaMemcpyHostToDevice;
  expect(cudaErrorInvalidValue, cudaMemcpy(bytes + 2 * kMiB + 1, host.data(), kMiB, to_device));
  expect(cudaErrorInvalidValue, cudaMemcpy(bytes, bytes + kMiB, 8, to_device));
  expect(cudaErrorInvalidValue, cudaMemcpy(host.data(), host.data() + 8, 8, to_device));
  expect(cudaErrorInvalidValue, cudaMemset(bytes + 3 * kMiB - 1, 0, 2));
  expect(cudaErrorInvalidValue, cudaMemset(host.data(), 0, 2));
  expect(cudaErrorInvalidValue, cudaFree(bytes + 1));
  void* much = nullptr;
  expect(cudaErrorMemoryAllocation, cudaMalloc(&much, 957 * kMiB));
  ok(cudaMalloc(&much, 956 * kMiB));
  ok(cudaFree(much));
  expect(cudaErrorInvalidValue, cudaFree(much));
}

/// Prints what NCCL says to ranks on one GPU: with their host names apart, nothing.
void one_gpu() {
  Job job = join(true);
  const char* apart = std::getenv("SELFTEST_HOSTS_APART");
  if (apart != nullptr) ::setenv("NCCL_HOSTID", std::to_string(job.rank).c_str(), 1);
  const ncclResult_t result = start(job, true);
  if (result == ncclSuccess) {
    std::printf("rank %d: shares\n", job.rank);
  } else {
    job.comm = nullptr;  // NCCL may leave one that is of no use
    std::printf("rank %d: %d %s\n", job.rank, result, ncclGetLastError(nullptr));
  }
  meet_all();
  leave(job);
}

ncclResult_t open_window(const Job& job, void* memory, ncclWindow_t* window) {
  return ncclCommWindowRegister(job.comm, memory, 4096, window, NCCL_WIN_COLL_SYMMETRIC);
}

/// All ranks have to come; until then the call has only begun, and says success.
void window(const Job& job) {
  void* memory = nullptr;
  ok(ncclMemAlloc(&memory, 4096));
  ncclWindow_t handle = nullptr;
  ncclWindow_t second = nullptr;
  const bool last = job.rank == job.ranks - 1;
  if (last) meet_all();
  ok(open_window(job, memory, &handle));
  if (!last) {
    require(handle == nullptr, "no handle yet");
    expect(ncclInvalidArgument, open_window(job, memory, &second));
    meet_all();
  }
  await_state(job.comm);
  require(handle != nullptr, "a handle");
  ok(ncclCommWindowDeregister(job.comm, handle));
  ok(ncclMemFree(memory));
}

/// Memory of cudaMalloc cannot be shared.
void plain_window(const Job& job) {
  ncclWindow_t handle = nullptr;
  expect(ncclUnhandledCudaError, open_window(job, device_memory(4096), &handle));
  require(handle == nullptr, "no handle");
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string_view, void (*)()> cases{
      {"touch", touch},
      {"memory", memory},
      {"one_gpu", one_gpu},
      {"window", [] { on_ranks(window, false); }},
      {"plain_window", [] { on_ranks(plain_window, true); }}};
  const auto found = cases.find(count == 2 ? arguments[1] : "");
  if (found == cases.end()) return 2;
  found->second();
  return 0;
}
