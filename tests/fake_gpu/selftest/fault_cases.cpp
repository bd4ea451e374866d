// SPDX-License-Identifier: BSD-3-Clause
// A program that tells what its calls return: for FAKE_GPU_FAULT.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

#include "tests/fake_gpu/selftest/selftest.hpp"

namespace selftest {
namespace {

/// One line for each all-reduce: what it returned, what the communicator says after 0.2 s at most,
/// whether the work is done, and the first byte.
void all_reduces(Job& job) {
  const DeviceBytes room(std::vector<unsigned char>(8, 2));
  for (int call = 1; call <= 3; ++call) {
    const ncclResult_t result =
        ncclAllReduce(room.at(), room.at(), 8, ncclInt8, ncclMax, job.comm, job.stream);
    cudaError_t query = cudaStreamQuery(job.stream);
    for (int i = 0; i < 200 && query == cudaErrorNotReady; ++i) {
      ::usleep(1000);
      query = cudaStreamQuery(job.stream);
    }
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = ncclCommGetAsyncError(job.comm, &state);
    const int byte = query == cudaSuccess ? room.read().front() : -1;
    std::printf("rank %d call %d: %d %d %d %s %d\n", job.rank, call, result, asked, state,
                cudaGetErrorName(query), byte);
    static_cast<void>(std::fflush(stdout));
  }
  static_cast<void>(ncclCommAbort(job.comm));
  const cudaError_t ended = cudaStreamSynchronize(job.stream);
  std::printf("rank %d end: %s\n", job.rank, cudaGetErrorName(ended));
  meet_all();
  job.comm = nullptr;
  if (ended == cudaSuccess) expect(cudaSuccess, cudaStreamDestroy(job.stream));
  job.stream = nullptr;
}

/// What three allocations return.
void allocations() {
  for (int call = 1; call <= 3; ++call) {
    void* pointer = nullptr;
    const cudaError_t result = cudaMalloc(&pointer, 1000);
    std::printf("cudaMalloc %d: %s\n", call, cudaGetErrorName(result));
  }
  void* pointer = nullptr;
  std::printf("ncclMemAlloc: %d\n", ncclMemAlloc(&pointer, 1000));
}

/// Starts a communicator without waiting, gives up after 0.3 s and tells its state.
void starts() {
  Job job = join();
  const ncclUniqueId id = share_id();
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const ncclResult_t result = ncclCommInitRankConfig(&job.comm, job.ranks, id, job.rank, &config);
  ncclResult_t state = result;
  for (int i = 0; i < 300 && job.comm != nullptr && state == ncclInProgress; ++i) {
    ::usleep(1000);
    expect(ncclSuccess, ncclCommGetAsyncError(job.comm, &state));
  }
  std::printf("rank %d: %d %d\n", job.rank, result, state);
  meet_all();
  if (job.comm != nullptr) expect(ncclSuccess, ncclCommAbort(job.comm));
  job.comm = nullptr;
  leave(job);
}

/// The unique id by a file: mpirun would end all ranks with the one that is killed.
ncclUniqueId share_id_by_file(int rank, const std::string& path) {
  ncclUniqueId id{};
  if (rank == 0) {
    expect(ncclSuccess, ncclGetUniqueId(&id));
    std::ofstream(path + ".new").write(id.internal, sizeof id.internal);
    require(std::rename((path + ".new").c_str(), path.c_str()) == 0, "rename");
    return id;
  }
  for (;;) {
    std::ifstream file(path);
    if (file.read(id.internal, sizeof id.internal)) return id;
    ::usleep(1000);
  }
}

/// `SELFTEST_RANK` of three: rank 0 is killed in the middle of the work, the others end by abort.
void killed() {
  Job job;
  job.rank = std::atoi(std::getenv("SELFTEST_RANK"));
  const ncclUniqueId id = share_id_by_file(job.rank, std::getenv("SELFTEST_ID"));
  expect(cudaSuccess, cudaSetDevice(job.rank));
  expect(cudaSuccess, cudaStreamCreateWithFlags(&job.stream, cudaStreamNonBlocking));
  expect(ncclSuccess, ncclCommInitRank(&job.comm, 3, id, job.rank));
  const DeviceBytes room(std::vector<unsigned char>(8, 2));
  const auto reduce = [&] {
    expect(ncclSuccess,
           ncclAllReduce(room.at(), room.at(), 8, ncclInt8, ncclMax, job.comm, job.stream));
  };
  reduce();
  job.finish();
  if (job.rank == 0) ::kill(::getpid(), SIGKILL);
  reduce();
  ::usleep(100'000);
  expect(cudaErrorNotReady, cudaStreamQuery(job.stream));
  expect(ncclSuccess, ncclCommAbort(job.comm));
  job.finish();
}

}  // namespace

const std::vector<Case>& fault_cases() {
  static const std::vector<Case> kCases = {{"all_reduces", on_ranks<all_reduces>},
                                           {"allocations", allocations},
                                           {"starts", starts},
                                           {"killed", killed}};
  return kCases;
}

}  // namespace selftest
