// SPDX-License-Identifier: BSD-3-Clause
// selftest CASE: what the fake GPU must do, asked of it through NVIDIA's headers.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>

#include <mpi.h>

#include "tests/fake_gpu/selftest/selftest.hpp"

namespace selftest {
namespace {

std::map<std::string, void (*)()>& cases() {
  static std::map<std::string, void (*)()> all;
  return all;
}

}  // namespace

Case::Case(const char* name, void (*run)()) { cases()[name] = run; }

void require(bool good, const std::string& what, Where where) {
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

void expect(cudaError_t wanted, cudaError_t got, Where where) {
  require(wanted == got,
          std::string("wanted ") + cudaGetErrorName(wanted) + ", got " + cudaGetErrorName(got),
          where);
}

void expect(CUresult wanted, CUresult got, Where where) {
  require(wanted == got,
          "wanted CUDA error " + std::to_string(wanted) + ", got " + std::to_string(got), where);
}

void expect(ncclResult_t wanted, ncclResult_t got, Where where) {
  require(wanted == got,
          std::string("wanted ") + ncclGetErrorString(wanted) + ", got " + ncclGetErrorString(got) +
              ": " + ncclGetLastError(nullptr),
          where);
}

DeviceBytes::DeviceBytes(std::size_t bytes) : bytes_(bytes) {
  void* start = nullptr;
  ok(cudaMalloc(&start, bytes));
  start_ = static_cast<unsigned char*>(start);
}

DeviceBytes::DeviceBytes(const Bytes& contents) : DeviceBytes(contents.size()) {
  if (bytes_ == 0) return;
  ok(cudaMemcpy(start_, contents.data(), bytes_, cudaMemcpyHostToDevice));
}

DeviceBytes::~DeviceBytes() { static_cast<void>(cudaFree(start_)); }

Bytes DeviceBytes::read() const {
  Bytes contents(bytes_);
  if (bytes_ == 0) return contents;
  ok(cudaMemcpy(contents.data(), start_, bytes_, cudaMemcpyDeviceToHost));
  return contents;
}

Job join(bool one_gpu) {
  Job job;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  ok(cudaSetDevice(one_gpu ? 0 : job.rank));
  job.stream = make_stream();
  return job;
}

cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
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

ncclResult_t start(Job& job, const ncclUniqueId& id, bool blocking) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return ncclCommInitRankConfig(&job.comm, job.ranks, id, job.rank, blocking ? nullptr : &config);
}

void on_ranks(void (*run)(Job&), bool blocking) {
  Job job = join();
  expect(blocking ? ncclSuccess : ncclInProgress, start(job, share_id(), blocking));
  ok(await_state(job.comm));
  run(job);
  leave(job);
}

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
  if (job.stream != nullptr) ok(cudaStreamDestroy(job.stream));
  MPI_Finalize();
}

}  // namespace selftest

int main(int count, char** arguments) {
  const std::string_view wanted = count == 2 ? arguments[1] : "";
  for (const auto& [name, run] : selftest::cases()) {
    if (wanted.empty()) std::puts(name.c_str());
    if (wanted == name) return run(), 0;
  }
  return 2;
}
