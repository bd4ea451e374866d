// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/nccl/operation.hpp"

namespace fake_gpu {
namespace {

/// In the order of Collective.
constexpr Traits kTraits[] = {
    {.logged = "AllReduce", .reduces = true},
    {.logged = "Reduce", .reduces = true, .to_root = true},
    {.logged = "Broadcast", .from_root = true},
    {.logged = "ReduceScatter", .reduces = true, .reads_many = true},
    {.logged = "AllGather", .writes_many = true},
    {.logged = nullptr, .reads_many = true, .writes_many = true},
    {.logged = nullptr, .writes_many = true, .to_root = true},
    {.logged = nullptr, .reads_many = true, .from_root = true},
    {.logged = nullptr},
    {.logged = nullptr},
};

std::string describe_pointer(const Operation& call, const char* which) {
  return std::string(call.function) + " : " + which + " is not device memory of " +
         std::to_string(call.count) + " elements as needed";
}

}  // namespace

const Traits& Operation::traits() const { return kTraits[static_cast<int>(what)]; }

bool Operation::reads() const {
  return what != Collective::Recv && (!traits().from_root || comm->rank() == root);
}

bool Operation::writes() const {
  return what != Collective::Send && (!traits().to_root || comm->rank() == root);
}

std::size_t Operation::from_bytes() const {
  if (!reads()) return 0;
  return traits().reads_many ? bytes() * static_cast<std::size_t>(comm->ranks()) : bytes();
}

std::size_t Operation::to_bytes() const {
  if (!writes()) return 0;
  return traits().writes_many ? bytes() * static_cast<std::size_t>(comm->ranks()) : bytes();
}

unsigned char* Operation::from_contents() const {
  return from_bytes() == 0 ? nullptr : memory().contents(from, from_bytes());
}

unsigned char* Operation::to_contents() const {
  unsigned char* now = to_bytes() == 0 ? nullptr : memory().contents(to, to_bytes());
  return now != nullptr && registered_to != nullptr ? registered_to.get() : now;
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
    default: return read != written;
  }
}

ncclResult_t Operation::check_memory() const {
  const auto is_ours = [this](const void* pointer, std::size_t size) {
    return size == 0 || (memory().contents(pointer, size) != nullptr &&
                         memory().device_of(pointer) == comm->device());
  };
  if (!is_ours(from, from_bytes())) return invalid(describe_pointer(*this, "sendbuff"));
  if (!is_ours(to, to_bytes())) return invalid(describe_pointer(*this, "recvbuff"));
  if (count != 0 && overlaps_wrongly()) {
    return invalid(std::string(function) + " : buffers overlap, and not as in place");
  }
  return ncclSuccess;
}

ncclResult_t Operation::check_arguments() const {
  const std::string name = function;
  if (size_of(type) == 0 || (is_fp8(type) && nccl_version() < 22400))
    return invalid(name + " : invalid type " + std::to_string(type));
  if ((traits().from_root || traits().to_root || is_point_to_point()) &&
      (root < 0 || root >= comm->ranks())) {
    return invalid(name + " : invalid root " + std::to_string(root) +
                   " (root should be in the 0.." + std::to_string(comm->ranks()) + " range)");
  }
  if (!traits().reduces) return ncclSuccess;
  if (op < ncclSum || op > ncclAvg) {
    return invalid(name + " : invalid reduction operation " + std::to_string(op));
  }
  if (is_fp8(type) && comm->least_compute_capability() < 90) {
    return invalid(name + " : FP8 reduction support begins with sm90 capable devices.");
  }
  // NCCL's kernel for one rank, which only scales, is not made for fp8.
  if (is_fp8(type) && comm->ranks() == 1 && op == ncclAvg)
    return invalid(name + " : no such kernel for one rank");
  return ncclSuccess;
}

ncclResult_t Operation::check(ncclComm_t handle) {
  const std::string name = function;
  comm = find_comm(handle);
  if (comm == nullptr) return invalid(name + " : no such communicator");
  ncclResult_t status = comm->ensure_ready();
  if (status == ncclSuccess) status = check_arguments();
  if (status != ncclSuccess) return status;
  queue = find_stream(stream);
  if (queue == nullptr || queue->device() != comm->device())
    return refuse(ncclUnhandledCudaError, name + " : no stream of this communicator's device");
  return check_memory();
}

}  // namespace fake_gpu
