// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/nccl/operation.hpp"

#include <string>

#include "tests/fake_gpu/nccl/config.hpp"

namespace fake_gpu {
namespace {

bool reduces(Collective what) {
  return what == Collective::AllReduce || what == Collective::Reduce ||
         what == Collective::ReduceScatter;
}

bool has_root(Collective what) {
  return what == Collective::Reduce || what == Collective::Broadcast ||
         what == Collective::Gather || what == Collective::Scatter;
}

std::string describe_pointer(const Operation& call, const char* which) {
  return std::string(call.function) + " : " + which + " is not device memory of " +
         std::to_string(call.count) + " elements as needed";
}

}  // namespace

bool Operation::reads() const {
  if (what == Collective::Recv) return false;
  const bool only_root = what == Collective::Broadcast || what == Collective::Scatter;
  return !only_root || comm->rank() == root;
}

bool Operation::writes() const {
  if (what == Collective::Send) return false;
  const bool only_root = what == Collective::Reduce || what == Collective::Gather;
  return !only_root || comm->rank() == root;
}

std::size_t Operation::from_bytes() const {
  const auto ranks = static_cast<std::size_t>(comm->ranks());
  const bool many = what == Collective::ReduceScatter || what == Collective::AlltoAll ||
                    what == Collective::Scatter;
  return reads() ? bytes() * (many ? ranks : 1) : 0;
}

std::size_t Operation::to_bytes() const {
  const auto ranks = static_cast<std::size_t>(comm->ranks());
  const bool many =
      what == Collective::AllGather || what == Collective::AlltoAll || what == Collective::Gather;
  return writes() ? bytes() * (many ? ranks : 1) : 0;
}

bool Operation::overlaps_wrongly() const {
  if (!reads() || !writes()) return false;
  const auto* read = static_cast<const unsigned char*>(from);
  const auto* written = static_cast<const unsigned char*>(to);
  if (read >= written + to_bytes() || written >= read + from_bytes()) return false;
  const std::size_t own = static_cast<std::size_t>(comm->rank()) * bytes();
  switch (what) {
    case Collective::AllGather:
    case Collective::Gather: return read != written + own;
    case Collective::ReduceScatter:
    case Collective::Scatter: return written != read + own;
    case Collective::AlltoAll: return true;
    default: return read != written;
  }
}

ncclResult_t Operation::check_memory() const {
  const auto is_ours = [this](const void* pointer, std::size_t size) {
    return size == 0 || (memory().contents(pointer, size) != nullptr &&
                         memory().device_of(pointer) == comm->device());
  };
  if (!is_ours(from, from_bytes()))
    return refuse(ncclInvalidArgument, describe_pointer(*this, "sendbuff"));
  if (!is_ours(to, to_bytes()))
    return refuse(ncclInvalidArgument, describe_pointer(*this, "recvbuff"));
  if (count != 0 && overlaps_wrongly()) {
    return refuse(ncclInvalidArgument,
                  std::string(function) + " : buffers overlap, and not as in place");
  }
  return ncclSuccess;
}

ncclResult_t Operation::check_arguments() {
  const std::string name = function;
  if (size_of(type) == 0 || (is_fp8(type) && nccl_version() < 22400)) {
    return refuse(ncclInvalidArgument, name + " : invalid type " + std::to_string(type));
  }
  if ((has_root(what) || is_point_to_point()) && (root < 0 || root >= comm->ranks())) {
    return refuse(ncclInvalidArgument, name + " : invalid root " + std::to_string(root) +
                                           " (root should be in the 0.." +
                                           std::to_string(comm->ranks()) + " range)");
  }
  if (!reduces(what)) return ncclSuccess;
  if (!comm->find_operator(op, type, &reduction)) {
    return refuse(ncclInvalidArgument,
                  name + " : invalid reduction operation " + std::to_string(op));
  }
  if (is_fp8(type) && comm->least_compute_capability() < 90) {
    return refuse(ncclInvalidArgument,
                  name + " : FP8 reduction support begins with sm90 capable devices.");
  }
  // NCCL's kernel for one rank, which only scales, is not made for fp8.
  const bool scales =
      reduction.kind == Reduction::Kind::Avg || reduction.kind == Reduction::Kind::PreMulSum;
  if (is_fp8(type) && comm->ranks() == 1 && scales) {
    return refuse(ncclInvalidArgument, name + " : no such kernel for one rank");
  }
  return ncclSuccess;
}

ncclResult_t Operation::check(ncclComm_t handle) {
  const std::string name = function;
  comm = find_comm(handle);
  if (comm == nullptr) return refuse(ncclInvalidArgument, name + " : no such communicator");
  ncclResult_t status = comm->ensure_ready();
  if (status == ncclSuccess) status = check_arguments();
  if (status != ncclSuccess) return status;
  queue = find_stream(stream);
  if (queue == nullptr || queue->device() != comm->device()) {
    return refuse(ncclUnhandledCudaError, name + " : no stream of this communicator's device");
  }
  return check_memory();
}

}  // namespace fake_gpu
