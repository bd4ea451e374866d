// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/nccl/reduction.hpp"

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
template <class T, class Step>
T calculate(T a, T b, Step step) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    const auto result = step(static_cast<Unsigned>(a), static_cast<Unsigned>(b));
    return static_cast<T>(static_cast<Unsigned>(result));
  } else if constexpr (kIsSmallFloat<T>) {
    return T(step(static_cast<float>(a), static_cast<float>(b)));
  } else {
    return step(a, b);
  }
}

template <class T>
T plus(T a, T b) {
  return calculate(a, b, [](auto x, auto y) { return x + y; });
}

template <class T>
T times(T a, T b) {
  return calculate(a, b, [](auto x, auto y) { return x * y; });
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
  switch (how.op) {
    case ncclProd: return fold<T>(inputs, out, count, times<T>, same, same);
    case ncclMax:
      return fold<T>(
          inputs, out, count, [](T a, T b) { return less(a, b) ? b : a; }, same, same);
    case ncclMin:
      return fold<T>(
          inputs, out, count, [](T a, T b) { return less(b, a) ? b : a; }, same, same);
    case ncclAvg:
      if constexpr (std::is_integral_v<T>) {
        const auto divided = [n = how.ranks](T sum) {
          return static_cast<T>(
              sum / static_cast<std::conditional_t<std::is_signed_v<T>, long, unsigned long>>(n));
        };
        return fold<T>(inputs, out, count, plus<T>, same, divided);
      } else {
        const auto part = [one = one_part_of<T>(how.ranks)](T value) { return times(value, one); };
        return fold<T>(inputs, out, count, plus<T>, part, same);
      }
    default: return fold<T>(inputs, out, count, plus<T>, same, same);
  }
}

/// Calls `act` with a value of the type; not at all where NCCL does not know it.
template <class Act>
void with_type(ncclDataType_t type, const Act& act) {
  switch (type) {
    case ncclInt8: return act(std::int8_t{});
    case ncclUint8: return act(std::uint8_t{});
    case ncclInt32: return act(std::int32_t{});
    case ncclUint32: return act(std::uint32_t{});
    case ncclInt64: return act(std::int64_t{});
    case ncclUint64: return act(std::uint64_t{});
    case ncclFloat16: return act(__half{});
    case ncclFloat32: return act(float{});
    case ncclFloat64: return act(double{});
    case ncclBfloat16: return act(__nv_bfloat16{});
    case ncclFloat8e4m3: return act(__nv_fp8_e4m3{});
    case ncclFloat8e5m2: return act(__nv_fp8_e5m2{});
    default: return;
  }
}

}  // namespace

std::size_t size_of(ncclDataType_t type) {
  std::size_t bytes = 0;
  with_type(type, [&](auto one) { bytes = sizeof one; });
  return bytes;
}

bool is_fp8(ncclDataType_t type) { return type == ncclFloat8e4m3 || type == ncclFloat8e5m2; }

void reduce(const Reduction& how, const std::vector<const unsigned char*>& inputs,
            unsigned char* out, std::size_t bytes) {
  with_type(how.type,
            [&](auto one) { reduce_as<decltype(one)>(how, inputs, out, bytes / sizeof one); });
}

}  // namespace fake_gpu
