// SPDX-License-Identifier: BSD-3-Clause
// The functions that move data, and groups of them.
#include <utility>

#include <nccl.h>

#include "tests/fake_gpu/nccl/call.hpp"

namespace fake_gpu {
namespace {

ncclResult_t communicate(Operation operation, ncclComm_t comm) {
  return call_nccl(operation.function, [&](FaultKind& fault) {
    operation.fault = std::exchange(fault, FaultKind::None);
    const ncclResult_t status = operation.check(comm);
    return status != ncclSuccess ? status : add_to_group(operation);
  });
}

}  // namespace
}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT(google-build-using-namespace): the C names follow

extern "C" {

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return communicate({.function = "ncclAllReduce",
                      .what = Collective::AllReduce,
                      .from = from,
                      .to = to,
                      .count = count,
                      .type = type,
                      .op = op,
                      .stream = stream},
                     comm);
}

ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return communicate({.function = "ncclReduce",
                      .what = Collective::Reduce,
                      .from = from,
                      .to = to,
                      .count = count,
                      .type = type,
                      .op = op,
                      .root = root,
                      .stream = stream},
                     comm);
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return communicate({.function = "ncclBroadcast",
                      .what = Collective::Broadcast,
                      .from = from,
                      .to = to,
                      .count = count,
                      .type = type,
                      .root = root,
                      .stream = stream},
                     comm);
}

ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return communicate({.function = "ncclBcast",
                      .what = Collective::Broadcast,
                      .from = buffer,
                      .to = buffer,
                      .count = count,
                      .type = type,
                      .root = root,
                      .stream = stream},
                     comm);
}

ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return communicate({.function = "ncclReduceScatter",
                      .what = Collective::ReduceScatter,
                      .from = from,
                      .to = to,
                      .count = count,
                      .type = type,
                      .op = op,
                      .stream = stream},
                     comm);
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return communicate({.function = "ncclAllGather",
                      .what = Collective::AllGather,
                      .from = from,
                      .to = to,
                      .count = count,
                      .type = type,
                      .stream = stream},
                     comm);
}

ncclResult_t ncclAlltoAll(const void* from, void* to, size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream) {
  return communicate({.function = "ncclAlltoAll",
                      .what = Collective::AlltoAll,
                      .from = from,
                      .to = to,
                      .count = count,
                      .type = type,
                      .stream = stream},
                     comm);
}

ncclResult_t ncclGather(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return communicate({.function = "ncclGather",
                      .what = Collective::Gather,
                      .from = from,
                      .to = to,
                      .count = count,
                      .type = type,
                      .root = root,
                      .stream = stream},
                     comm);
}

ncclResult_t ncclScatter(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                         ncclComm_t comm, cudaStream_t stream) {
  return communicate({.function = "ncclScatter",
                      .what = Collective::Scatter,
                      .from = from,
                      .to = to,
                      .count = count,
                      .type = type,
                      .root = root,
                      .stream = stream},
                     comm);
}

ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return communicate({.function = "ncclSend",
                      .what = Collective::Send,
                      .from = from,
                      .count = count,
                      .type = type,
                      .root = peer,
                      .stream = stream},
                     comm);
}

ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return communicate({.function = "ncclRecv",
                      .what = Collective::Recv,
                      .to = to,
                      .count = count,
                      .type = type,
                      .root = peer,
                      .stream = stream},
                     comm);
}

ncclResult_t ncclGroupStart() {
  return call_without_device("ncclGroupStart", [](FaultKind&) {
    begin_group();
    return ncclSuccess;
  });
}

ncclResult_t ncclGroupEnd() {
  return call_nccl("ncclGroupEnd", [](FaultKind&) { return end_group(); });
}

}  // extern "C"
