// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "model/data_type.hpp"

namespace busbar {

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

/// The nearest number's bits, ties to even. Beyond the largest number: infinity, or where there is
/// none the largest number.
[[nodiscard]] std::uint16_t encode(const SmallFloat& format, double value);
/// The number that these bits are, exactly.
[[nodiscard]] double decode(const SmallFloat& format, std::uint16_t bits);
/// Numbers below have fewer significant digits.
[[nodiscard]] double smallest_normal(const SmallFloat& format);

}  // namespace busbar
