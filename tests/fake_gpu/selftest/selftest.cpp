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

/// Device memory with contents.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes) : bytes_(bytes) {
    void* start = nullptr;
    ok(cudaMalloc(&start, bytes));
    start_ = static_cast<unsigned char*>(start);
  }
  explicit DeviceBytes(const Bytes& contents) : DeviceBytes(contents.size()) {
    ok(cudaMemcpy(start_, contents.data(), bytes_, cudaMemcpyHostToDevice));
  }
  ~DeviceBytes() { static_cast<void>(cudaFree(start_)); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  [[nodiscard]] unsigned char* at(std::size_t offset = 0) const { return start_ + offset; }
  [[nodiscard]] Bytes read() const {
    Bytes contents(bytes_);
    ok(cudaMemcpy(contents.data(), start_, bytes_, cudaMemcpyDeviceToHost));
    return contents;
  }

 private:
  unsigned char* start_ = nullptr;
  std::size_t bytes_;
};

/// The ranks of mpirun, with one communicator and stream.
struct Job {
  int rank = 0;
  int ranks = 1;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;

  /// Waits for the stream.
  void finish() const { ok(cudaStreamSynchronize(stream)); }
};

/// Joins the ranks of mpirun, each on the GPU of its number (or all on one).
Job join(bool one_gpu = false) {
  Job job;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  ok(cudaSetDevice(one_gpu ? 0 : job.rank));
  ok(cudaStreamCreateWithFlags(&job.stream, cudaStreamNonBlocking));
  return job;
}

ncclUniqueId share_id() {
  ncclUniqueId id{};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) ok(ncclGetUniqueId(&id));
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  return id;
}

void meet_all() { MPI_Barrier(MPI_COMM_WORLD); }

/// Begins the communicator of a job; the default configuration blocks.
ncclResult_t start(Job& job, const ncclUniqueId& id, bool blocking) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return ncclCommInitRankConfig(&job.comm, job.ranks, id, job.rank, blocking ? nullptr : &config);
}

/// The state of a communicator that is no longer in progress.
ncclResult_t await_state(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) {
    ::usleep(1000);
    ok(ncclCommGetAsyncError(comm, &state));
  }
  return state;
}

void leave(Job& job) {
  if (job.comm != nullptr) ok(ncclCommDestroy(job.comm));
  ok(cudaStreamDestroy(job.stream));
  MPI_Finalize();
}

/// Runs a case on the ranks of mpirun with a communicator, which may block or not.
template <class Run>
void on_ranks(const Run& run, bool blocking) {
  Job job = join();
  expect(blocking ? ncclSuccess : ncclInProgress, start(job, share_id(), blocking));
  ok(await_state(job.comm));
  run(job);
  leave(job);
}

constexpr std::size_t kMiB = 1 << 20;

void touch() {
  const DeviceBytes bytes(Bytes(100, 7));
  std::printf("%d\n", *bytes.at(3));
}

void memory() {
  std::size_t free_before = 0;
  std::size_t free_after = 0;
  std::size_t total = 0;
  ok(cudaMemGetInfo(&free_before, &total));
  require(total == 1024 * kMiB && free_before == 960 * kMiB, "a context costs 64 MiB");
  const DeviceBytes bytes(3 * kMiB);
  ok(cudaMemGetInfo(&free_after, &total));
  require(free_before - free_after == 4 * kMiB, "memory is taken in granules of 2 MiB");
  const Bytes junk = bytes.read();
  require(std::all_of(junk.begin(), junk.end(), [](auto b) { return b != 0; }),
          "fresh memory is junk");
  Bytes host(kMiB, 1);
  const auto to_device = cudaMemcpyHostToDevice;
  expect(cudaErrorInvalidValue, cudaMemcpy(bytes.at(2 * kMiB + 1), host.data(), kMiB, to_device));
  expect(cudaErrorInvalidValue, cudaMemcpy(bytes.at(), bytes.at(kMiB), 8, to_device));
  expect(cudaErrorInvalidValue, cudaMemcpy(host.data(), host.data() + 8, 8, to_device));
  expect(cudaErrorInvalidValue, cudaMemset(bytes.at(3 * kMiB - 1), 0, 2));
  expect(cudaErrorInvalidValue, cudaMemset(host.data(), 0, 2));
  expect(cudaErrorInvalidValue, cudaFree(bytes.at(1)));
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
  const ncclResult_t result = start(job, share_id(), true);
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
  ok(await_state(job.comm));
  require(handle != nullptr, "a handle");
  ok(ncclCommWindowDeregister(job.comm, handle));
  ok(ncclMemFree(memory));
}

/// Memory of cudaMalloc cannot be shared.
void plain_window(const Job& job) {
  const DeviceBytes room(4096);
  ncclWindow_t handle = nullptr;
  expect(ncclUnhandledCudaError, open_window(job, room.at(), &handle));
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
