// SPDX-License-Identifier: BSD-3-Clause
// Every collective, on every type and operator where it reduces, with numbers known in advance.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "tests/fake_gpu/selftest/selftest.hpp"

namespace selftest {
namespace {

constexpr std::size_t kCounts[] = {0, 1, 7, 1000, 70001};
constexpr ncclRedOp_t kOps[] = {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg};

template <class T>
Bytes encode(std::size_t count, const std::function<double(std::size_t)>& value) {
  Bytes bytes(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    const T one = static_cast<T>(static_cast<float>(value(i)));
    std::memcpy(bytes.data() + i * sizeof(T), &one, sizeof(T));
  }
  return bytes;
}

template <class T>
double decode(const Bytes& bytes, std::size_t i) {
  T one;
  std::memcpy(&one, bytes.data() + i * sizeof(T), sizeof(T));
  return static_cast<double>(static_cast<float>(one));
}

/// At each element one rank stands out, another one at the next: who is left out or taken twice is
/// seen, and all numbers are small enough for fp8.
double input(ncclRedOp_t op, const Job& job, int rank, std::size_t i) {
  const bool stands_out =
      (static_cast<std::size_t>(rank) + i) % static_cast<std::size_t>(job.ranks) == 0;
  const double small = 1 + static_cast<double>(i % 3);
  switch (op) {
    case ncclSum: return stands_out ? small : 0;
    case ncclProd: return stands_out ? small : 1;
    case ncclMax: return stands_out ? small + 1 : 1;
    case ncclMin: return stands_out ? small : 4;
    default: return rank;
  }
}

template <class T>
double output(ncclRedOp_t op, const Job& job, std::size_t i) {
  const double small = 1 + static_cast<double>(i % 3);
  if (op == ncclMax) return small + 1;
  if (op != ncclAvg) return small;
  const double mean = (job.ranks - 1) / 2.0;
  if constexpr (std::is_integral_v<T>) return std::floor(mean);
  return mean;
}

template <class T>
void check(const Job& job, ncclRedOp_t op, const Bytes& got, std::size_t first,
           const std::string& what) {
  // The parts of a mean are rounded, and three bits are all that an fp8 has.
  const double tolerance = op == ncclAvg && !std::is_integral_v<T> ? 0.5 : 0;
  for (std::size_t i = 0; i < got.size() / sizeof(T); ++i) {
    const double wanted = output<T>(op, job, first + i);
    const double found = decode<T>(got, i);
    if (std::abs(found - wanted) <= tolerance * wanted) continue;
    require(false, what + ", element " + std::to_string(i) + ": wanted " + std::to_string(wanted) +
                       ", got " + std::to_string(found));
  }
}

enum class Reducing { All, One, Scattered };

template <class T>
void reduction(const Job& job, ncclDataType_t type, std::size_t count, ncclRedOp_t op,
               bool in_place, Reducing kind) {
  const auto ranks = static_cast<std::size_t>(job.ranks);
  const bool scattered = kind == Reducing::Scattered;
  const std::size_t first = scattered ? static_cast<std::size_t>(job.rank) * count : 0;
  const int root = static_cast<int>(count % ranks);
  const auto mine = [&](std::size_t i) { return input(op, job, job.rank, i); };
  const DeviceBytes from(encode<T>(scattered ? count * ranks : count, mine));
  const DeviceBytes to(count * sizeof(T));
  const bool has_result = kind != Reducing::One || job.rank == root;
  unsigned char* result = in_place ? from.at(first * sizeof(T)) : to.at();
  unsigned char* target = has_result ? result : nullptr;
  switch (kind) {
    case Reducing::All: ok(job.all_reduce(from.at(), target, count, type, op)); break;
    case Reducing::One:
      ok(ncclReduce(from.at(), target, count, type, op, root, job.comm, job.stream));
      break;
    case Reducing::Scattered:
      ok(ncclReduceScatter(from.at(), target, count, type, op, job.comm, job.stream));
  }
  job.finish();
  if (!has_result) return;
  Bytes got = in_place ? from.read() : to.read();
  if (in_place)
    got.erase(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(first * sizeof(T)));
  got.resize(count * sizeof(T));
  check<T>(job, op, got, first,
           "reduction " + std::to_string(static_cast<int>(kind)) + " type " + std::to_string(type) +
               " op " + std::to_string(op) + " count " + std::to_string(count));
}

template <class T>
void reductions_of(const Job& job, ncclDataType_t type) {
  for (const std::size_t count : kCounts) {
    if (count > 1000 && type != ncclFloat32 && type != ncclBfloat16) continue;
    for (const ncclRedOp_t op : kOps) {
      // On one rank NCCL has no fp8 average.
      if (job.ranks == 1 && sizeof(T) == 1 && !std::is_integral_v<T> && op == ncclAvg) continue;
      for (const bool in_place : {false, true}) {
        for (const auto kind : {Reducing::All, Reducing::One, Reducing::Scattered})
          reduction<T>(job, type, count, op, in_place, kind);
      }
    }
  }
}

SELFTEST_ON_RANKS(reductions, true) {
  reductions_of<std::int8_t>(job, ncclInt8);
  reductions_of<std::uint8_t>(job, ncclUint8);
  reductions_of<std::int32_t>(job, ncclInt32);
  reductions_of<std::uint32_t>(job, ncclUint32);
  reductions_of<std::int64_t>(job, ncclInt64);
  reductions_of<std::uint64_t>(job, ncclUint64);
  reductions_of<__half>(job, ncclFloat16);
  reductions_of<float>(job, ncclFloat32);
  reductions_of<double>(job, ncclFloat64);
  reductions_of<__nv_bfloat16>(job, ncclBfloat16);
  reductions_of<__nv_fp8_e4m3>(job, ncclFloat8e4m3);
  reductions_of<__nv_fp8_e5m2>(job, ncclFloat8e5m2);
}

/// Half has 11 bits: 2048 + 1 is 2048, in this order and rounded at each step; wrapped integers.
SELFTEST_ON_RANKS(rounding, true) {
  const DeviceBytes half(encode<__half>(1, [&](std::size_t) { return job.rank == 0 ? 2048 : 1; }));
  const DeviceBytes small(encode<std::uint8_t>(1, [&](std::size_t) { return 200; }));
  ok(job.all_reduce(half.at(), half.at(), 1, ncclFloat16, ncclSum));
  ok(job.all_reduce(small.at(), small.at(), 1, ncclUint8, ncclSum));
  job.finish();
  require(decode<__half>(half.read(), 0) == 2048, "half rounds at each step");
  require(decode<std::uint8_t>(small.read(), 0) == (200 * job.ranks) % 256, "integers wrap");
}

/// Byte i of the block that rank `from` has for rank `to`.
unsigned char moved(int from, int to, std::size_t i) {
  return static_cast<unsigned char>(37 * from + 11 * to + static_cast<int>(i % 251));
}

Bytes block(std::size_t bytes, int from, int to) {
  Bytes all;
  for (std::size_t i = 0; i < bytes; ++i) all.push_back(moved(from, to, i));
  return all;
}

/// The blocks of all ranks: from each, or to each.
Bytes blocks_of_all(const Job& job, std::size_t bytes, bool from_each, int other) {
  Bytes all;
  for (int rank = 0; rank < job.ranks; ++rank) {
    const Bytes one = from_each ? block(bytes, rank, other) : block(bytes, other, rank);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

void moves_of(const Job& job, std::size_t bytes, int root) {
  const auto ranks = static_cast<std::size_t>(job.ranks);
  const bool is_root = job.rank == root;
  const DeviceBytes own(block(bytes, job.rank, 0));
  const DeviceBytes to_each(blocks_of_all(job, bytes, false, job.rank));
  const DeviceBytes one(bytes);
  const DeviceBytes many(bytes * ranks);
  const auto is = [&](const DeviceBytes& got, const Bytes& wanted, const char* what) {
    job.finish();
    require(got.read() == wanted, what);
  };
  const auto type = ncclInt8;
  unsigned char* only_own = is_root ? own.at() : nullptr;
  unsigned char* only_each = is_root ? to_each.at() : nullptr;
  unsigned char* only_many = is_root ? many.at() : nullptr;
  ok(ncclBroadcast(only_own, one.at(), bytes, type, root, job.comm, job.stream));
  is(one, block(bytes, root, 0), "broadcast");
  ok(ncclScatter(only_each, one.at(), bytes, type, root, job.comm, job.stream));
  is(one, block(bytes, root, job.rank), "scatter");
  ok(ncclAllGather(own.at(), many.at(), bytes, type, job.comm, job.stream));
  is(many, blocks_of_all(job, bytes, true, 0), "all-gather");
  ok(ncclAlltoAll(to_each.at(), many.at(), bytes, type, job.comm, job.stream));
  is(many, blocks_of_all(job, bytes, true, job.rank), "all-to-all");
  ok(ncclGather(own.at(), only_many, bytes, type, root, job.comm, job.stream));
  is(many, blocks_of_all(job, bytes, true, is_root ? 0 : job.rank), "gather");
  ok(ncclBroadcast(own.at(), own.at(), bytes, type, root, job.comm, job.stream));
  is(own, block(bytes, root, 0), "broadcast in place");
}

SELFTEST_ON_RANKS(moves, true) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{5}, std::size_t{300'001}}) {
    for (int root = 0; root < job.ranks; ++root) moves_of(job, bytes, root);
  }
}

/// All sends before all receives, of much data, with oneself too: only concurrent progress ends it.
SELFTEST_ON_RANKS(point_to_point, true) {
  const std::size_t bytes = 700'000;
  const DeviceBytes from(blocks_of_all(job, bytes, false, job.rank));
  const DeviceBytes to(bytes * static_cast<std::size_t>(job.ranks));
  for (int round = 0; round < 2; ++round) {
    ok(ncclGroupStart());
    for (int peer = 0; peer < job.ranks; ++peer) {
      const std::size_t at = static_cast<std::size_t>(peer) * bytes;
      ok(ncclSend(from.at(at), bytes, ncclInt8, peer, job.comm, job.stream));
    }
    for (int peer = job.ranks - 1; peer >= 0; --peer) {
      const std::size_t at = static_cast<std::size_t>(peer) * bytes;
      ok(ncclRecv(to.at(at), bytes, ncclInt8, peer, job.comm, job.stream));
    }
    ok(ncclGroupEnd());
    job.finish();
    require(to.read() == blocks_of_all(job, bytes, true, job.rank), "grouped sends and receives");
  }
}

}  // namespace
}  // namespace selftest
