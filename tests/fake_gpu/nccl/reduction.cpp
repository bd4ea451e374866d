// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/nccl/reduction.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace fake_gpu {
namespace {

template <class T>
constexpr bool kIsSmallFloat = !std::is_arithmetic_v<T>;

/// Integers wrap; small floats calculate in float, whose result rounds to the same.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(
        static_cast<Unsigned>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b)));
  } else if constexpr (kIsSmallFloat<T>) {
    return T(static_cast<float>(a) + static_cast<float>(b));
  } else {
    return a + b;
  }
}

template <class T>
T times(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(
        static_cast<Unsigned>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b)));
  } else if constexpr (kIsSmallFloat<T>) {
    return T(static_cast<float>(a) * static_cast<float>(b));
  } else {
    return a * b;
  }
}

template <class T>
bool less(T a, T b) {
  if constexpr (kIsSmallFloat<T>) {
    return static_cast<float>(a) < static_cast<float>(b);
  } else {
    return a < b;
  }
}

template <class T>
T load(const unsigned char* from, std::size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <class T, class Step, class First, class Last>
void fold(const std::vector<const unsigned char*>& inputs, unsigned char* out, std::size_t count,
          Step step, First first, Last last) {
  // Blocks that stay in the cache, finished before `out` is touched: it may be an input.
  constexpr std::size_t kBlock = 1024;
  T block[kBlock];
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t length = std::min(kBlock, count - begin);
    for (std::size_t i = 0; i < length; ++i) block[i] = first(load<T>(inputs[0], begin + i));
    for (std::size_t input = 1; input < inputs.size(); ++input) {
      const unsigned char* next = inputs[input];
      for (std::size_t i = 0; i < length; ++i)
        block[i] = step(block[i], first(load<T>(next, begin + i)));
    }
    for (std::size_t i = 0; i < length; ++i) block[i] = last(block[i]);
    std::memcpy(out + begin * sizeof(T), block, length * sizeof(T));
  }
}

template <class T>
T one_part_of(int ranks) {
  if constexpr (std::is_same_v<T, double>) {
    return 1.0 / ranks;
  } else {
    return T(static_cast<float>(1.0 / ranks));
  }
}

template <class T>
void reduce_as(const Reduction& how, const std::vector<const unsigned char*>& inputs,
               unsigned char* out, std::size_t count) {
  const auto same = [](T value) { return value; };
  const auto scaled_by = [](T scalar) {
    return [scalar](T value) { return times(value, scalar); };
  };
  switch (how.kind) {
    case Reduction::Kind::Sum: return fold<T>(inputs, out, count, plus<T>, same, same);
    case Reduction::Kind::Prod: return fold<T>(inputs, out, count, times<T>, same, same);
    case Reduction::Kind::Max:
      return fold<T>(
          inputs, out, count, [](T a, T b) { return less(a, b) ? b : a; }, same, same);
    case Reduction::Kind::Min:
      return fold<T>(
          inputs, out, count, [](T a, T b) { return less(b, a) ? b : a; }, same, same);
    case Reduction::Kind::PreMulSum:
      return fold<T>(inputs, out, count, plus<T>, scaled_by(load<T>(how.scalar.data(), 0)), same);
    case Reduction::Kind::Avg:
      if constexpr (std::is_integral_v<T>) {
        const auto divided = [n = how.ranks](T sum) {
          return static_cast<T>(
              sum / static_cast<std::conditional_t<std::is_signed_v<T>, long, unsigned long>>(n));
        };
        return fold<T>(inputs, out, count, plus<T>, same, divided);
      } else {
        return fold<T>(inputs, out, count, plus<T>, scaled_by(one_part_of<T>(how.ranks)), same);
      }
  }
}

}  // namespace

std::size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
    case ncclFloat8e5m2: return 1;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8;
    default: return 0;
  }
}

bool is_fp8(ncclDataType_t type) { return type == ncclFloat8e4m3 || type == ncclFloat8e5m2; }

void reduce(const Reduction& how, const std::vector<const unsigned char*>& inputs,
            unsigned char* out, std::size_t bytes) {
  const std::size_t count = bytes / size_of(how.type);
  switch (how.type) {
    case ncclInt8: return reduce_as<std::int8_t>(how, inputs, out, count);
    case ncclUint8: return reduce_as<std::uint8_t>(how, inputs, out, count);
    case ncclInt32: return reduce_as<std::int32_t>(how, inputs, out, count);
    case ncclUint32: return reduce_as<std::uint32_t>(how, inputs, out, count);
    case ncclInt64: return reduce_as<std::int64_t>(how, inputs, out, count);
    case ncclUint64: return reduce_as<std::uint64_t>(how, inputs, out, count);
    case ncclFloat16: return reduce_as<__half>(how, inputs, out, count);
    case ncclFloat32: return reduce_as<float>(how, inputs, out, count);
    case ncclFloat64: return reduce_as<double>(how, inputs, out, count);
    case ncclBfloat16: return reduce_as<__nv_bfloat16>(how, inputs, out, count);
    case ncclFloat8e4m3: return reduce_as<__nv_fp8_e4m3>(how, inputs, out, count);
    case ncclFloat8e5m2: return reduce_as<__nv_fp8_e5m2>(how, inputs, out, count);
    default: return;
  }
}

}  // namespace fake_gpu
