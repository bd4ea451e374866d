// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/routines.hpp"

namespace busbar {
namespace {

using A = NcclArguments;

/// Sends and receives that are issued as one; remembers the first failure.
class NcclGroup {
 public:
  NcclGroup() { note(nccl().group_start()); }

  /// `first` is an element of the buffer.
  void send(const A& a, std::size_t first, std::size_t count, int peer) {
    const std::byte* from = a.call.send + first * info(a.call.type).size;
    note(nccl().send(from, count, a.type, peer, a.comm, a.stream));
  }
  void receive(const A& a, std::size_t first, std::size_t count, int peer) {
    std::byte* to = a.call.recv + first * info(a.call.type).size;
    note(nccl().receive(to, count, a.type, peer, a.comm, a.stream));
  }
  [[nodiscard]] ncclResult_t end() {
    const ncclResult_t result = nccl().group_end();
    return first_failure_ == ncclSuccess ? result : first_failure_;
  }

 private:
  void note(ncclResult_t result) {
    if (first_failure_ == ncclSuccess && result != ncclInProgress) first_failure_ = result;
  }
  ncclResult_t first_failure_ = ncclSuccess;
};

/// With the operation's own configuration where it has one.
template <class Plain, class Configured, class... Arguments>
ncclResult_t issue(const A& a, const Plain& plain, const Configured& configured,
                   Arguments... arguments) {
  if (a.config != nullptr) return configured(arguments..., a.config);
  return plain(arguments...);
}

std::size_t block_of(const A& a, int rank) { return a.call.count * static_cast<std::size_t>(rank); }

ncclResult_t alltoall(const A& a) {
  if (nccl().alltoall) {
    return issue(a, nccl().alltoall, nccl().alltoall_config, a.call.send, a.call.recv, a.call.count,
                 a.type, a.comm, a.stream);
  }
  NcclGroup group;
  for (int peer = 0; peer < a.ranks; ++peer) {
    group.send(a, block_of(a, peer), a.call.count, peer);
    group.receive(a, block_of(a, peer), a.call.count, peer);
  }
  return group.end();
}

/// Who has nothing for another sends it nothing.
ncclResult_t alltoallv(const A& a) {
  const Traffic& traffic = *a.call.traffic;
  NcclGroup group;
  std::size_t sent = 0;
  std::size_t received = 0;
  for (int peer = 0; peer < a.ranks; ++peer) {
    const std::uint64_t out = traffic.count(a.rank, peer);
    const std::uint64_t in = traffic.count(peer, a.rank);
    if (out > 0) group.send(a, sent, out, peer);
    if (in > 0) group.receive(a, received, in, peer);
    sent += out;
    received += in;
  }
  return group.end();
}

ncclResult_t gather(const A& a) {
  if (nccl().gather) {
    return issue(a, nccl().gather, nccl().gather_config, a.call.send, a.call.recv, a.call.count,
                 a.type, a.call.root, a.comm, a.stream);
  }
  NcclGroup group;
  for (int peer = 0; a.rank == a.call.root && peer < a.ranks; ++peer) {
    group.receive(a, block_of(a, peer), a.call.count, peer);
  }
  group.send(a, 0, a.call.count, a.call.root);
  return group.end();
}

ncclResult_t scatter(const A& a) {
  if (nccl().scatter) {
    return issue(a, nccl().scatter, nccl().scatter_config, a.call.send, a.call.recv, a.call.count,
                 a.type, a.call.root, a.comm, a.stream);
  }
  NcclGroup group;
  for (int peer = 0; a.rank == a.call.root && peer < a.ranks; ++peer) {
    group.send(a, block_of(a, peer), a.call.count, peer);
  }
  group.receive(a, 0, a.call.count, a.call.root);
  return group.end();
}

ncclResult_t sendrecv(const A& a) {
  NcclGroup group;
  if (a.call.peers.to >= 0) group.send(a, 0, a.call.count, a.call.peers.to);
  if (a.call.peers.from >= 0) group.receive(a, 0, a.call.count, a.call.peers.from);
  return group.end();
}

const auto kRoutines = std::to_array<NcclRoutine>({
    {"allreduce",
     [](const A& a) {
       return issue(a, nccl().allreduce, nccl().allreduce_config, a.call.send, a.call.recv,
                    a.call.count, a.type, a.op, a.comm, a.stream);
     }},
    {"broadcast",
     [](const A& a) {
       return issue(a, nccl().broadcast, nccl().broadcast_config, a.call.send, a.call.recv,
                    a.call.count, a.type, a.call.root, a.comm, a.stream);
     }},
    {"reduce",
     [](const A& a) {
       return issue(a, nccl().reduce, nccl().reduce_config, a.call.send, a.call.recv, a.call.count,
                    a.type, a.op, a.call.root, a.comm, a.stream);
     }},
    {"reducescatter",
     [](const A& a) {
       return issue(a, nccl().reducescatter, nccl().reducescatter_config, a.call.send, a.call.recv,
                    a.call.count, a.type, a.op, a.comm, a.stream);
     }},
    {"allgather",
     [](const A& a) {
       return issue(a, nccl().allgather, nccl().allgather_config, a.call.send, a.call.recv,
                    a.call.count, a.type, a.comm, a.stream);
     }},
    {"gather", gather},
    {"scatter", scatter},
    {"alltoall", alltoall, true},
    {"alltoallv", alltoallv, true, true},
    {"sendrecv", sendrecv, true, true},
});

}  // namespace

const NcclRoutine& nccl_routine(std::string_view collective) {
  return routine_of(kRoutines, collective, "NCCL");
}

ncclDataType_t nccl_type(DataType type) { return static_cast<ncclDataType_t>(type); }

ncclRedOp_t nccl_op(ReduceOp op) {
  return op == ReduceOp::None ? ncclSum : static_cast<ncclRedOp_t>(op);
}

}  // namespace busbar
