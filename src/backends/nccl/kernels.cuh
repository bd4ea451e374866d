// SPDX-License-Identifier: BSD-3-Clause
// What runs on the device: it reads and writes at about the speed of memory, 16 bytes at a time.
// extern "C", so that the names are the same for every compiler. Apart from kernels.cu, so that a
// test can run it thread by thread on the host.
#pragma once

namespace {

using Count = unsigned long long;

constexpr Count kVector = sizeof(uint4);

/// Bytes before the first 16-byte boundary, at most all.
__device__ Count head_of(const void* data, Count bytes) {
  const Count past = reinterpret_cast<Count>(data) % kVector;
  const Count head = past == 0 ? 0 : kVector - past;
  return head < bytes ? head : bytes;
}

/// 16 bytes of the tile from any byte on: five aligned words, shifted together.
__device__ uint4 tile_vector(const unsigned char* tile, Count at) {
  const auto* words = reinterpret_cast<const unsigned*>(tile) + at / 4;
  const unsigned shift = static_cast<unsigned>(at % 4) * 8;
  const unsigned w0 = __ldg(words);
  const unsigned w1 = __ldg(words + 1);
  const unsigned w2 = __ldg(words + 2);
  const unsigned w3 = __ldg(words + 3);
  const unsigned w4 = __ldg(words + 4);
  return make_uint4(__funnelshift_r(w0, w1, shift), __funnelshift_r(w1, w2, shift),
                    __funnelshift_r(w2, w3, shift), __funnelshift_r(w3, w4, shift));
}

__device__ bool equal(uint4 a, uint4 b) {
  return ((a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z) | (a.w ^ b.w)) == 0;
}

/// A position in the period that goes on by a fixed step without a division.
struct Walk {
  __device__ Walk(Count start, Count stride, Count whole)
      : at(start % whole), step(stride % whole), period(whole) {}
  __device__ void advance() {
    at += step;
    if (at >= period) at -= period;
  }
  Count at;
  Count step;
  Count period;
};

struct Comparand {
  const unsigned char* data;
  unsigned element;
  const unsigned char* tile;
  Count period;
  Count first_byte;
  Count* result;

  /// Compares bytes [begin, end), whole elements, one by one.
  __device__ void compare(Count begin, Count end) {
    for (Count at = begin; at < end; at += element) {
      const Count expected = (first_byte + at) % period;
      bool same = true;
      for (unsigned i = 0; i < element; ++i) same = same && data[at + i] == tile[expected + i];
      if (same) continue;
      ++wrong;
      if (at / element < first_wrong) first_wrong = at / element;
    }
  }
  /// Once for each thread: adding every element would be slow where all are wrong.
  __device__ void report() const {
    if (wrong == 0) return;
    atomicAdd(&result[0], wrong);
    atomicMin(&result[1], first_wrong);
  }

  Count wrong = 0;
  Count first_wrong = ~Count{0};
};

}  // namespace

extern "C" __global__ void busbar_fill(unsigned char* to, unsigned long long bytes,
                                       const unsigned char* tile, unsigned long long period,
                                       unsigned long long first_byte) {
  const Count thread = Count{blockIdx.x} * blockDim.x + threadIdx.x;
  const Count threads = Count{gridDim.x} * blockDim.x;
  const Count head = head_of(to, bytes);
  const Count vectors = (bytes - head) / kVector;
  const Count tail = head + vectors * kVector;
  if (thread < head) to[thread] = tile[(first_byte + thread) % period];
  if (thread < bytes - tail) to[tail + thread] = tile[(first_byte + tail + thread) % period];
  auto* wide = reinterpret_cast<uint4*>(to + head);
  Walk walk(first_byte + head + thread * kVector, threads * kVector, period);
  for (Count i = thread; i < vectors; i += threads) {
    wide[i] = tile_vector(tile, walk.at);
    walk.advance();
  }
}

extern "C" __global__ void busbar_compare(const unsigned char* data, unsigned long long count,
                                          unsigned element, const unsigned char* tile,
                                          unsigned long long period, unsigned long long first_byte,
                                          unsigned long long* result) {
  const Count thread = Count{blockIdx.x} * blockDim.x + threadIdx.x;
  const Count threads = Count{gridDim.x} * blockDim.x;
  const Count bytes = count * element;
  const Count head = head_of(data, bytes);
  const Count vectors = (bytes - head) / kVector;
  Comparand comparand{data, element, tile, period, first_byte, result};
  if (thread == 0) {
    comparand.compare(0, head);
    comparand.compare(head + vectors * kVector, bytes);
  }
  const auto* wide = reinterpret_cast<const uint4*>(data + head);
  Walk walk(first_byte + head + thread * kVector, threads * kVector, period);
  for (Count i = thread; i < vectors; i += threads) {
    if (!equal(wide[i], tile_vector(tile, walk.at))) {
      const Count begin = head + i * kVector;
      comparand.compare(begin, begin + kVector);
    }
    walk.advance();
  }
  comparand.report();
}

/// --load beside:copy: takes memory bandwidth.
extern "C" __global__ void busbar_load_copy(unsigned char* to, const unsigned char* from,
                                            unsigned long long bytes) {
  const Count thread = Count{blockIdx.x} * blockDim.x + threadIdx.x;
  const Count threads = Count{gridDim.x} * blockDim.x;
  const Count vectors = bytes / kVector;
  const Count tail = vectors * kVector;
  auto* wide = reinterpret_cast<uint4*>(to);
  const auto* source = reinterpret_cast<const uint4*>(from);
  for (Count i = thread; i < vectors; i += threads) wide[i] = source[i];
  if (thread < bytes - tail) to[tail + thread] = from[tail + thread];
}

/// --load beside:spin: takes the multiprocessors' arithmetic, in four chains that do not wait for
/// each other. `result` is written so that no compiler leaves them out.
extern "C" __global__ void busbar_load_spin(float* result, unsigned long long turns) {
  float a = static_cast<float>(threadIdx.x) + 1;
  float b = a + 1;
  float c = a + 2;
  float d = a + 3;
  for (Count turn = 0; turn < turns; ++turn) {
    a = a * 0.99F + 1;
    b = b * 0.98F + 1;
    c = c * 0.97F + 1;
    d = d * 0.96F + 1;
  }
  if (a + b + c + d < 1) *result = a;  // never
}
