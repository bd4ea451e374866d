// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/units.hpp"

namespace busbar {

/// Element types, in the order in which nccl-tests lists them: NCCL's numbers.
enum class DataType {
  Int8,
  Uint8,
  Int32,
  Uint32,
  Int64,
  Uint64,
  Half,
  Float,
  Double,
  Bfloat16,
  F8e4m3,
  F8e5m2
};

struct TypeInfo {
  DataType type;
  std::string_view name;
  Bytes size;
  /// Every whole number from 0 to this one is represented exactly (uint8: half of its range, so
  /// that poisoned memory never looks like data).
  std::uint64_t exact_limit;
  bool floating;
};

inline constexpr std::array<TypeInfo, 12> kTypes{{
    {DataType::Int8, "int8", 1, 127, false},
    {DataType::Uint8, "uint8", 1, 127, false},
    {DataType::Int32, "int32", 4, 0x7fffffff, false},
    {DataType::Uint32, "uint32", 4, 0xffffffff, false},
    {DataType::Int64, "int64", 8, std::uint64_t{1} << 53U, false},
    {DataType::Uint64, "uint64", 8, std::uint64_t{1} << 53U, false},
    {DataType::Half, "half", 2, 2048, true},
    {DataType::Float, "float", 4, 1U << 24U, true},
    {DataType::Double, "double", 8, std::uint64_t{1} << 53U, true},
    {DataType::Bfloat16, "bfloat16", 2, 256, true},
    {DataType::F8e4m3, "f8e4m3", 1, 16, true},
    {DataType::F8e5m2, "f8e5m2", 1, 8, true},
}};

[[nodiscard]] constexpr const TypeInfo& info(DataType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

/// Reduction operations, by NCCL's numbers; None is for collectives that only move data.
enum class ReduceOp { Sum, Prod, Max, Min, Avg, None };

inline constexpr std::array<std::string_view, 6> kOpNames{"sum", "prod", "max",
                                                          "min", "avg",  "none"};

[[nodiscard]] constexpr std::string_view name(ReduceOp op) {
  return kOpNames[static_cast<std::size_t>(op)];
}

/// A floating-point type of at most 16 bits: a sign, an exponent and a mantissa, in this order.
struct SmallFloat {
  DataType type;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  /// As IEEE 754 has it, the largest exponent is for infinity and NaN. Where it is not ("fn"), it
  /// is for numbers too, there is no infinity, and only all ones are NaN.
  bool infinite;
};

inline constexpr std::array<SmallFloat, 4> kSmallFloats{{
    {DataType::Half, 5, 10, 15, true},
    {DataType::Bfloat16, 8, 7, 127, true},
    {DataType::F8e4m3, 4, 3, 7, false},
    {DataType::F8e5m2, 5, 2, 15, true},
}};

/// The format of a type, or null where C++ has the type itself.
[[nodiscard]] const SmallFloat* small_float(DataType type);

/// Calls `use` with a value of the C++ type that a data type is; not for a small float.
template <class Use>
void with_element(DataType type, const Use& use) {
  switch (type) {
    case DataType::Int8: return use(std::int8_t{});
    case DataType::Uint8: return use(std::uint8_t{});
    case DataType::Int32: return use(std::int32_t{});
    case DataType::Uint32: return use(std::uint32_t{});
    case DataType::Int64: return use(std::int64_t{});
    case DataType::Uint64: return use(std::uint64_t{});
    case DataType::Float: return use(float{});
    case DataType::Double: return use(double{});
    case DataType::Half:
    case DataType::Bfloat16:
    case DataType::F8e4m3:
    case DataType::F8e5m2: return;
  }
}

/// The nearest number's bits, ties to even. Beyond the largest number: infinity, or where there is
/// none the largest number.
[[nodiscard]] std::uint16_t encode(const SmallFloat& format, double value);
/// Exact.
[[nodiscard]] double decode(const SmallFloat& format, std::uint16_t bits);
/// Numbers below have fewer significant digits.
[[nodiscard]] double smallest_normal(const SmallFloat& format);

}  // namespace busbar
