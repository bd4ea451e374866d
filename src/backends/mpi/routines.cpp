// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/routines.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace busbar {
namespace {

// MPICH 4.0.2

/// reduce_scatter_allgather takes half the message where the ranks are a power of two, else all.
Bytes half_or_all(Bytes size, int ranks) {
  if (ranks == 1) return 0;
  return std::has_single_bit(static_cast<unsigned>(ranks)) ? size / 2 : size;
}

/// pairwise (512 KiB and above) takes one block; recursive_halving twice the message.
Bytes block_or_twice(Bytes size, int ranks) {
  constexpr Bytes kPairwise = 512 * kKiB;
  return size >= kPairwise ? size / static_cast<Bytes>(ranks) : 2 * size;
}

/// ring and recursive_doubling take nothing; brucks (small, ranks no power of two) the message.
Bytes all_if_small(Bytes size, int /*ranks*/) {
  constexpr Bytes kRing = 80 * kKiB;
  return size < kRing ? size : 0;
}

/// All but the root need a receive buffer beside what an all-reduce takes; the root of a
/// nonblocking call needs two where it is not rank 0.
Bytes twice_all_and_half_or_all(Bytes size, int ranks) {
  return ranks == 1 ? 0 : 2 * size + half_or_all(size, ranks);
}

/// pairwise in place exchanges block by block; out of place it takes nothing.
Bytes one_block(Bytes size, int ranks) { return size / static_cast<Bytes>(ranks); }

/// binomial gathers, in the middle of its tree, what goes to other ranks.
Bytes half(Bytes size, int /*ranks*/) { return size / 2; }

/// binomial takes half at most, but a root that is not rank 0 puts all in order first.
Bytes all(Bytes size, int ranks) { return ranks == 1 ? 0 : size; }

// Open MPI 4.1.4

/// ring, for any number of ranks but a power of two, goes by bruck; so do small messages.
Bytes all_but_for_powers_of_two(Bytes size, int ranks) {
  return std::has_single_bit(static_cast<unsigned>(ranks)) ? all_if_small(size, ranks) : size;
}

/// One to three times the message, by algorithms that change with size and number of ranks.
Bytes up_to_thrice(Bytes size, int ranks) {
  return static_cast<Bytes>(std::clamp(ranks - 1, 0, 3)) * size;
}

using A = MpiArguments;
using R = MpiRequests;

/// Where every rank says that it works in place.
const void* send_of(const A& a) { return a.in_place ? MPI_IN_PLACE : a.send; }

/// Where only the root says so; the other ranks have one buffer in any case.
bool is_root_in_place(const A& a) { return a.in_place && a.rank == a.root; }
const void* send_of_rooted(const A& a) { return is_root_in_place(a) ? MPI_IN_PLACE : a.send; }
void* recv_of_rooted(const A& a) { return is_root_in_place(a) ? MPI_IN_PLACE : a.recv; }

/// A rank without a peer sends to, or receives from, MPI's "no process": nothing happens.
int process(int peer) { return peer < 0 ? MPI_PROC_NULL : peer; }

void* copy_sent(const A& a, void* to) {
  int element = 0;
  MPI_Type_size(a.type, &element);
  return std::memcpy(to, a.send,
                     static_cast<std::size_t>(a.count) * static_cast<std::size_t>(element));
}

/// MPI broadcasts one buffer. Out of place the root's data goes to its receive buffer too, as in
/// ncclBroadcast, so that out of place means the same on every backend.
void copy_at_root(const A& a) {
  if (a.rank == a.root && !a.in_place) copy_sent(a, a.recv);
}

template <class Block, class Post, class... Arguments>
int call(R* requests, Block block, Post post, Arguments... arguments) {
  return requests == nullptr ? block(arguments...) : post(arguments..., requests->data());
}

/// In place with a root that is not rank 0 MPI_Reduce crashes in MPICH 4.0 to 4.1.1 (pmodels/mpich
/// issue 6540), and maybe in its relatives; MPI_Ireduce does not. Open MPI's is many times slower.
int reduce(const A& a, R* requests) {
  const bool may_crash = mpi_library().family != MpiFamily::OpenMpi;
  const bool waits = requests == nullptr && a.in_place && a.root != 0 && may_crash;
  R own{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  const int code = call(waits ? &own : requests, MPI_Reduce, MPI_Ireduce, send_of_rooted(a), a.recv,
                        a.count, a.type, a.op, a.root, a.comm);
  return waits && code == MPI_SUCCESS ? MPI_Wait(own.data(), MPI_STATUS_IGNORE) : code;
}

/// In place as MPI_Sendrecv_replace, whose nonblocking form only MPI 4 has: it sends from a copy.
int exchange(const A& a, R* requests) {
  constexpr int kTag = 0;
  const int to = process(a.peers.to);
  const int from = process(a.peers.from);
  if (requests == nullptr && a.in_place) {
    return MPI_Sendrecv_replace(a.recv, a.count, a.type, to, kTag, from, kTag, a.comm,
                                MPI_STATUS_IGNORE);
  }
  if (requests == nullptr) {
    return MPI_Sendrecv(a.send, a.count, a.type, to, kTag, a.recv, a.count, a.type, from, kTag,
                        a.comm, MPI_STATUS_IGNORE);
  }
  const void* send = a.in_place ? copy_sent(a, a.copy) : a.send;
  const int code = MPI_Irecv(a.recv, a.count, a.type, from, kTag, a.comm, requests->data());
  if (code != MPI_SUCCESS) return code;
  return MPI_Isend(send, a.count, a.type, to, kTag, a.comm, &(*requests)[1]);
}

const auto kRoutines = std::to_array<MpiRoutine>({
    {.collective = "allreduce",
     .call =
         [](const A& a, R* r) {
           return call(r, MPI_Allreduce, MPI_Iallreduce, send_of(a), a.recv, a.count, a.type, a.op,
                       a.comm);
         },
     .temporary = {.mpich = half_or_all, .open_mpi = all}},
    {.collective = "broadcast",
     .call =
         [](const A& a, R* r) {
           copy_at_root(a);
           return call(r, MPI_Bcast, MPI_Ibcast, a.recv, a.count, a.type, a.root, a.comm);
         }},
    {.collective = "reducescatter",
     .call =
         [](const A& a, R* r) {
           return call(r, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, send_of(a), a.recv,
                       a.count, a.type, a.op, a.comm);
         },
     .temporary = {.mpich = block_or_twice, .open_mpi = up_to_thrice},
     // The result of MPI_IN_PLACE is at the start of the buffer.
     .in_place = [](std::uint64_t, int) { return InPlace{}; }},
    {.collective = "allgather",
     .call =
         [](const A& a, R* r) {
           return call(r, MPI_Allgather, MPI_Iallgather, send_of(a), a.count, a.type, a.recv,
                       a.count, a.type, a.comm);
         },
     .temporary = {.mpich = all_if_small, .open_mpi = all_but_for_powers_of_two},
     .widens = true},
    {.collective = "reduce",
     .call = reduce,
     .temporary = {.mpich = twice_all_and_half_or_all, .open_mpi = up_to_thrice}},
    {.collective = "alltoall",
     .call =
         [](const A& a, R* r) {
           return call(r, MPI_Alltoall, MPI_Ialltoall, send_of(a), a.count, a.type, a.recv, a.count,
                       a.type, a.comm);
         },
     .temporary = {.mpich = one_block, .open_mpi = one_block}},
    {.collective = "alltoallv",
     .call =
         [](const A& a, R* r) {
           const MpiParts& p = *a.parts;
           return call(r, MPI_Alltoallv, MPI_Ialltoallv, a.send, p.send_counts.data(),
                       p.send_offsets.data(), a.type, a.recv, p.recv_counts.data(),
                       p.recv_offsets.data(), a.type, a.comm);
         },
     .not_in_place =
         "MPI can exchange parts in place only if both directions have the same length"},
    {.collective = "sendrecv", .call = exchange, .copies_in_place = true},
    {.collective = "gather",
     .call =
         [](const A& a, R* r) {
           return call(r, MPI_Gather, MPI_Igather, send_of_rooted(a), a.count, a.type, a.recv,
                       a.count, a.type, a.root, a.comm);
         },
     .temporary = {.mpich = half, .open_mpi = all}},
    {.collective = "scatter",
     .call =
         [](const A& a, R* r) {
           return call(r, MPI_Scatter, MPI_Iscatter, a.send, a.count, a.type, recv_of_rooted(a),
                       a.count, a.type, a.root, a.comm);
         },
     .temporary = {.mpich = all, .open_mpi = all}},
});

}  // namespace

Bytes TemporaryMemory::bytes(MpiFamily family, Bytes size, int ranks) const {
  switch (family) {
    case MpiFamily::Mpich: return mpich(size, ranks);
    case MpiFamily::OpenMpi: return open_mpi(size, ranks);
    case MpiFamily::Other: break;
  }
  return std::max(mpich(size, ranks), open_mpi(size, ranks));
}

const MpiRoutine& mpi_routine(std::string_view collective) {
  return routine_of(kRoutines, collective, "MPI");
}

MPI_Datatype mpi_type(DataType type) {
  const std::array types{MPI_INT8_T,  MPI_UINT8_T,       MPI_INT32_T,       MPI_UINT32_T,
                         MPI_INT64_T, MPI_UINT64_T,      MPI_DATATYPE_NULL, MPI_FLOAT,
                         MPI_DOUBLE,  MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  return types.at(static_cast<std::size_t>(type));
}

MPI_Op mpi_op(ReduceOp op) {
  const std::array ops{MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_OP_NULL, MPI_OP_NULL};
  return ops.at(static_cast<std::size_t>(op));
}

}  // namespace busbar
