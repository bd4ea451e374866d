// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/units.hpp"

namespace busbar {

/// Element types, in the order in which nccl-tests lists them.
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

}  // namespace busbar
