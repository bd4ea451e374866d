// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include "base/error.hpp"

namespace selftest {

using busbar::Where;

/// Ends the process with one line where something is not as it must be.
void require(bool good, const std::string& what, Where where = Where::here());
/// The result of a call is this one; of ok(), success.
void expect(cudaError_t wanted, cudaError_t got, Where where = Where::here());
void expect(CUresult wanted, CUresult got, Where where = Where::here());
void expect(ncclResult_t wanted, ncclResult_t got, Where where = Where::here());
template <class Result>
void ok(Result got, Where where = Where::here()) {
  expect(Result{}, got, where);
}

using Bytes = std::vector<unsigned char>;

/// Device memory with contents.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes);
  explicit DeviceBytes(const Bytes& contents);
  ~DeviceBytes();
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  [[nodiscard]] unsigned char* at(std::size_t offset = 0) const { return start_ + offset; }
  [[nodiscard]] Bytes read() const;

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
  ncclResult_t all_reduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                          ncclRedOp_t op) const {
    return ncclAllReduce(from, to, count, type, op, comm, stream);
  }
};

/// Joins the ranks of mpirun, each on the GPU of its number (or all on one).
[[nodiscard]] Job join(bool one_gpu = false);
[[nodiscard]] ncclUniqueId share_id();
void meet_all();
/// One that does not wait for the default stream.
[[nodiscard]] cudaStream_t make_stream();
/// Begins the communicator of a job; the default configuration blocks.
[[nodiscard]] ncclResult_t start(Job& job, const ncclUniqueId& id, bool blocking);
/// The state of a communicator that is no longer in progress.
[[nodiscard]] ncclResult_t await_state(ncclComm_t comm);
void leave(Job& job);

/// Runs a case on the ranks of mpirun with a communicator, which may block or not.
void on_ranks(void (*run)(Job&), bool blocking);

/// Makes a case known by its name.
struct Case {
  Case(const char* name, void (*run)());
};
#define SELFTEST(name)                     \
  void name();                             \
  const Case name##_is_known(#name, name); \
  void name()
#define SELFTEST_ON_RANKS(name, blocking)                              \
  void name(Job& job);                                                 \
  const Case name##_is_known(#name, [] { on_ranks(name, blocking); }); \
  void name(Job& job)

}  // namespace selftest
