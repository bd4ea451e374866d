// SPDX-License-Identifier: BSD-3-Clause
#include "model/data_type.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/lists.hpp"

namespace busbar {
namespace {

constexpr std::uint32_t ones(int bits) { return (1U << static_cast<unsigned>(bits)) - 1; }

/// A format's landmarks, as bits without the sign.
struct Landmarks {
  explicit Landmarks(const SmallFloat& format)
      : mantissa(ones(format.mantissa_bits)),
        exponent(ones(format.exponent_bits) << static_cast<unsigned>(format.mantissa_bits)),
        sign(exponent + mantissa + 1),
        nan(format.infinite ? exponent + (mantissa + 1) / 2 : exponent + mantissa),
        largest(format.infinite ? exponent - 1 : nan - 1),
        beyond(format.infinite ? exponent : largest) {}

  std::uint32_t mantissa;
  std::uint32_t exponent;
  std::uint32_t sign;
  std::uint32_t nan;
  std::uint32_t largest;
  std::uint32_t beyond;  // what is larger than `largest` becomes this
};

/// Bits of a finite value that is not negative, as if exponents had no end.
std::uint64_t round_to_bits(const SmallFloat& format, double value) {
  const int least = 1 - format.bias;  // subnormal numbers share the least exponent
  const int exponent = std::max(std::ilogb(value), least);
  // The significand as a whole number; its leading one, where it has one, counts as an exponent of
  // one, and a carry out of it is the next exponent's first number.
  const double significand = std::nearbyint(std::ldexp(value, format.mantissa_bits - exponent));
  return (static_cast<std::uint64_t>(exponent - least)
          << static_cast<unsigned>(format.mantissa_bits)) +
         static_cast<std::uint64_t>(significand);
}

}  // namespace

const SmallFloat* small_float(DataType type) {
  return find_by(kSmallFloats, type, &SmallFloat::type);
}

std::uint16_t encode(const SmallFloat& format, double value) {
  const Landmarks marks(format);
  const std::uint32_t sign = std::signbit(value) ? marks.sign : 0;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign + marks.nan);
  std::uint64_t bits = marks.beyond;
  if (std::isfinite(value)) bits = round_to_bits(format, std::abs(value));
  if (bits > marks.largest) bits = marks.beyond;
  return static_cast<std::uint16_t>(sign + bits);
}

double decode(const SmallFloat& format, std::uint16_t bits) {
  const Landmarks marks(format);
  const double sign = (bits & marks.sign) != 0 ? -1 : 1;
  const std::uint32_t magnitude = bits & (marks.sign - 1);
  if (magnitude > marks.largest) {
    const bool infinity = format.infinite && magnitude == marks.beyond;
    using Limits = std::numeric_limits<double>;
    return std::copysign(infinity ? Limits::infinity() : Limits::quiet_NaN(), sign);
  }
  const auto exponent = static_cast<int>(magnitude >> static_cast<unsigned>(format.mantissa_bits));
  const std::uint32_t leading = exponent > 0 ? marks.mantissa + 1 : 0;
  const double significand = leading + (magnitude & marks.mantissa);
  return sign * std::ldexp(significand, std::max(exponent, 1) - format.bias - format.mantissa_bits);
}

double smallest_normal(const SmallFloat& format) { return std::ldexp(1, 1 - format.bias); }

}  // namespace busbar
