// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace busbar {

using Bytes = std::uint64_t;
using Seconds = std::chrono::duration<double>;
/// The clock of every host measurement: CLOCK_MONOTONIC, one clock for all ranks of a Linux host.
using Clock = std::chrono::steady_clock;

inline constexpr Bytes kKiB = Bytes{1} << 10U;
inline constexpr Bytes kMiB = Bytes{1} << 20U;
inline constexpr Bytes kGiB = Bytes{1} << 30U;

/// Bytes over seconds in GB/s; GB is 10^9 bytes, as in nccl-tests.
[[nodiscard]] constexpr double gigabytes_per_second(Bytes bytes, Seconds time) {
  return static_cast<double>(bytes) / time.count() / 1e9;
}

[[nodiscard]] constexpr double microseconds(Seconds time) { return time.count() * 1e6; }

/// "8 B", "64 KiB", "1.5 GiB": for people; at most two decimals.
[[nodiscard]] std::string format_bytes(Bytes bytes);

/// Reads a size: digits with an optional fraction, then an optional binary suffix K, M, G, T, or
/// the same with iB. Throws a usage error that begins with `option` and says how to write it.
[[nodiscard]] Bytes parse_bytes(std::string_view option, std::string_view text);

/// Reads a whole number within [low, high]; throws a usage error that begins with `option`.
[[nodiscard]] std::int64_t parse_integer(std::string_view option, std::string_view text,
                                         std::int64_t low, std::int64_t high);

/// Reads a finite decimal number within [low, high]; throws a usage error that begins with
/// `option`.
[[nodiscard]] double parse_number(std::string_view option, std::string_view text, double low,
                                  double high);

/// Reads a time of at least `low` seconds, 90s, 5m, 1.5h, 2d, 500ms or seconds alone; throws a
/// usage error that begins with `option`.
[[nodiscard]] Seconds parse_duration(std::string_view option, std::string_view text, double low);

}  // namespace busbar
