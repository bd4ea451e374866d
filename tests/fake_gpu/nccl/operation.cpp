// SPDX-License-Identifier: BSD-3-Clause
// What each call refuses, and what it sends, receives and reduces.
#include "tests/fake_gpu/nccl/operation.hpp"

#include <cstring>
#include <string>

#include "tests/fake_gpu/nccl/config.hpp"

namespace fake_gpu {
namespace {

bool reduces(Collective what) {
  return what == Collective::AllReduce || what == Collective::Reduce ||
         what == Collective::ReduceScatter;
}

/// Which have a block for or of each rank, and which go from or to one rank.
bool reads_many(Collective what) {
  return what == Collective::ReduceScatter || what == Collective::AlltoAll ||
         what == Collective::Scatter;
}
bool writes_many(Collective what) {
  return what == Collective::AllGather || what == Collective::AlltoAll ||
         what == Collective::Gather;
}
bool is_from_root(Collective what) {
  return what == Collective::Broadcast || what == Collective::Scatter;
}
bool is_to_root(Collective what) {
  return what == Collective::Reduce || what == Collective::Gather;
}

std::string describe_pointer(const Operation& call, const char* which) {
  return std::string(call.function) + " : " + which + " is not device memory of " +
         std::to_string(call.count) + " elements as needed";
}

}  // namespace

bool Operation::reads() const {
  if (what == Collective::Recv) return false;
  return !is_from_root(what) || comm->rank() == root;
}

bool Operation::writes() const {
  if (what == Collective::Send) return false;
  return !is_to_root(what) || comm->rank() == root;
}

std::size_t Operation::from_bytes() const {
  if (!reads()) return 0;
  return reads_many(what) ? bytes() * static_cast<std::size_t>(comm->ranks()) : bytes();
}

std::size_t Operation::to_bytes() const {
  if (!writes()) return 0;
  return writes_many(what) ? bytes() * static_cast<std::size_t>(comm->ranks()) : bytes();
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
  if (!is_ours(from, from_bytes())) return invalid(describe_pointer(*this, "sendbuff"));
  if (!is_ours(to, to_bytes())) return invalid(describe_pointer(*this, "recvbuff"));
  if (count != 0 && overlaps_wrongly()) {
    return invalid(std::string(function) + " : buffers overlap, and not as in place");
  }
  return ncclSuccess;
}

ncclResult_t Operation::check_arguments() {
  const std::string name = function;
  if (size_of(type) == 0 || (is_fp8(type) && nccl_version() < 22400))
    return invalid(name + " : invalid type " + std::to_string(type));
  if ((is_from_root(what) || is_to_root(what) || is_point_to_point()) &&
      (root < 0 || root >= comm->ranks())) {
    return invalid(name + " : invalid root " + std::to_string(root) +
                   " (root should be in the 0.." + std::to_string(comm->ranks()) + " range)");
  }
  if (!reduces(what)) return ncclSuccess;
  if (!comm->find_operator(op, type, &reduction)) {
    return invalid(name + " : invalid reduction operation " + std::to_string(op));
  }
  if (is_fp8(type) && comm->least_compute_capability() < 90) {
    return invalid(name + " : FP8 reduction support begins with sm90 capable devices.");
  }
  // NCCL's kernel for one rank, which only scales, is not made for fp8.
  const bool scales =
      reduction.kind == Reduction::Kind::Avg || reduction.kind == Reduction::Kind::PreMulSum;
  if (is_fp8(type) && comm->ranks() == 1 && scales)
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

namespace {

/// Up to this size an all-reduce sends everything to everybody; above, each rank reduces a part.
constexpr std::size_t kSmall = 4096;

/// An operation with the contents of its buffers.
struct Plan {
  const Operation& call;
  Exchange& exchange;
  const unsigned char* from;
  unsigned char* to;
  std::size_t bytes;
  std::uint64_t tag;
  std::size_t me;
  std::size_t ranks;

  /// The other ranks, each beginning with its neighbour.
  template <class Act>
  void each_other(const Act& act) const {
    for (std::size_t distance = 1; distance < ranks; ++distance) {
      const std::size_t peer = (me + distance) % ranks;
      act(peer, static_cast<int>(peer));
    }
  }

  void all_reduce_small() const {
    const unsigned char* own = exchange.keep(from, bytes);
    each_other([&](std::size_t, int peer) { exchange.send(peer, own, bytes, tag); });
    exchange.reduce(own, to, bytes, call.reduction, tag);
  }

  void all_reduce() const {
    const std::size_t element = size_of(call.type);
    const auto begin = [&](std::size_t rank) { return call.count * rank / ranks * element; };
    const auto length = [&](std::size_t rank) {
      const std::size_t end = begin(rank + 1);
      return end - begin(rank);
    };
    each_other(
        [&](std::size_t at, int peer) { exchange.send(peer, from + begin(at), length(at), tag); });
    const std::size_t* ready =
        exchange.reduce(from + begin(me), to + begin(me), length(me), call.reduction, tag);
    each_other([&](std::size_t at, int peer) {
      exchange.send(peer, to + begin(me), length(me), tag, ready);
      exchange.receive(peer, to + begin(at), length(at), tag);
    });
  }

  /// Every other collective: from or to one rank or all, with a block for each rank or one.
  void move() const {
    const bool reducing = reduces(call.what);
    const bool from_root = is_from_root(call.what);
    const bool to_root = is_to_root(call.what);
    const std::size_t read_step = reads_many(call.what) ? bytes : 0;
    const std::size_t write_step = writes_many(call.what) ? bytes : 0;
    const bool is_root = static_cast<int>(me) == call.root;
    if (from_root && !is_root) return exchange.receive(call.root, to, bytes, tag);
    if (to_root && !is_root) return exchange.send(call.root, from, bytes, tag);
    each_other([&](std::size_t at, int peer) {
      if (!to_root) exchange.send(peer, from + at * read_step, bytes, tag);
      if (!from_root && !reducing) exchange.receive(peer, to + at * write_step, bytes, tag);
    });
    const unsigned char* own = from + me * read_step;
    unsigned char* target = to + me * write_step;
    if (reducing) {
      exchange.reduce(own, target, bytes, call.reduction, tag);
    } else if (bytes != 0 && target != own) {
      std::memmove(target, own, bytes);
    }
  }

  void make() const {
    switch (call.what) {
      case Collective::AllReduce: return bytes <= kSmall ? all_reduce_small() : all_reduce();
      case Collective::Send: return exchange.send(call.root, from, bytes, tag);
      case Collective::Recv: return exchange.receive(call.root, to, bytes, tag);
      default: return move();
    }
  }
};

/// Equal for calls that belong together.
std::uint64_t make_tag(const Operation& call) {
  if (call.is_point_to_point()) return static_cast<std::uint64_t>(call.type) << 8;
  return 1 + static_cast<std::uint64_t>(call.what) + (static_cast<std::uint64_t>(call.type) << 8) +
         (static_cast<std::uint64_t>(call.op) << 16);
}

}  // namespace

bool Operation::plan(Exchange& exchange) const {
  unsigned char* read = from_bytes() == 0 ? nullptr : memory().contents(from, from_bytes());
  unsigned char* written = to_bytes() == 0 ? nullptr : memory().contents(to, to_bytes());
  if ((read == nullptr && from_bytes() != 0) || (written == nullptr && to_bytes() != 0))
    return false;
  if (count == 0 && !is_point_to_point()) return true;
  if (registered_to != nullptr) written = registered_to.get();
  const auto me = static_cast<std::size_t>(comm->rank());
  const auto ranks = static_cast<std::size_t>(comm->ranks());
  Plan{*this, exchange, read, written, bytes(), make_tag(*this), me, ranks}.make();
  return true;
}

}  // namespace fake_gpu
