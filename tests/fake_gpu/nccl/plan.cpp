// SPDX-License-Identifier: BSD-3-Clause
// What each collective sends, receives and reduces.
#include <cstring>

#include "tests/fake_gpu/nccl/operation.hpp"

namespace fake_gpu {
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

  void copy(unsigned char* target, const unsigned char* source) const {
    if (bytes != 0 && target != source) std::memmove(target, source, bytes);
  }

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
    if (bytes <= kSmall) return all_reduce_small();
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

  void reduce() const {
    if (static_cast<int>(me) != call.root) return exchange.send(call.root, from, bytes, tag);
    exchange.reduce(from, to, bytes, call.reduction, tag);
  }

  void reduce_scatter() const {
    each_other(
        [&](std::size_t at, int peer) { exchange.send(peer, from + at * bytes, bytes, tag); });
    exchange.reduce(from + me * bytes, to, bytes, call.reduction, tag);
  }

  void broadcast() const {
    if (static_cast<int>(me) != call.root) return exchange.receive(call.root, to, bytes, tag);
    each_other([&](std::size_t, int peer) { exchange.send(peer, from, bytes, tag); });
    copy(to, from);
  }

  void all_gather() const {
    each_other([&](std::size_t at, int peer) {
      exchange.send(peer, from, bytes, tag);
      exchange.receive(peer, to + at * bytes, bytes, tag);
    });
    copy(to + me * bytes, from);
  }

  void all_to_all() const {
    each_other([&](std::size_t at, int peer) {
      exchange.send(peer, from + at * bytes, bytes, tag);
      exchange.receive(peer, to + at * bytes, bytes, tag);
    });
    copy(to + me * bytes, from + me * bytes);
  }

  void gather() const {
    if (static_cast<int>(me) != call.root) return exchange.send(call.root, from, bytes, tag);
    each_other(
        [&](std::size_t at, int peer) { exchange.receive(peer, to + at * bytes, bytes, tag); });
    copy(to + me * bytes, from);
  }

  void scatter() const {
    if (static_cast<int>(me) != call.root) return exchange.receive(call.root, to, bytes, tag);
    each_other(
        [&](std::size_t at, int peer) { exchange.send(peer, from + at * bytes, bytes, tag); });
    copy(to, from + me * bytes);
  }

  void make() const {
    switch (call.what) {
      case Collective::AllReduce: return all_reduce();
      case Collective::Reduce: return reduce();
      case Collective::Broadcast: return broadcast();
      case Collective::ReduceScatter: return reduce_scatter();
      case Collective::AllGather: return all_gather();
      case Collective::AlltoAll: return all_to_all();
      case Collective::Gather: return gather();
      case Collective::Scatter: return scatter();
      case Collective::Send: return exchange.send(call.root, from, bytes, tag);
      case Collective::Recv: return exchange.receive(call.root, to, bytes, tag);
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
  Plan{*this,
       exchange,
       read,
       written,
       bytes(),
       make_tag(*this),
       static_cast<std::size_t>(comm->rank()),
       static_cast<std::size_t>(comm->ranks())}
      .make();
  return true;
}

}  // namespace fake_gpu
