// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

struct Suffix {
  std::string_view text;
  Bytes factor;
};

constexpr Bytes kTiB = Bytes{1} << 40U;
// nccl-tests' K, M, G are binary in either case; the spelled-out forms are ours.
constexpr std::array<Suffix, 15> kSuffixes{{{"", 1},
                                            {"B", 1},
                                            {"K", kKiB},
                                            {"k", kKiB},
                                            {"KiB", kKiB},
                                            {"M", kMiB},
                                            {"m", kMiB},
                                            {"MiB", kMiB},
                                            {"G", kGiB},
                                            {"g", kGiB},
                                            {"GiB", kGiB},
                                            {"T", kTiB},
                                            {"t", kTiB},
                                            {"TiB", kTiB},
                                            {"b", 1}}};
constexpr double kLargestSize = 1e18;

Error bad_size(std::string_view option, std::string_view text, std::string_view why) {
  return usage_error(
      fmt::format("{}: '{}' is not a size: {}; write bytes or K, M, G, as in 8, 64K, 1.5M or 2GiB",
                  option, text, why));
}

/// Splits "1.5M" into the number's text and the suffix; the number has digits and one point only.
std::pair<std::string_view, std::string_view> split_number(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  if (end == std::string_view::npos) return {text, {}};
  std::string_view suffix = text.substr(end);
  if (suffix.front() == ' ') suffix.remove_prefix(1);
  return {text.substr(0, end), suffix};
}

}  // namespace

std::string format_bytes(Bytes bytes) {
  constexpr std::array<Suffix, 4> kUnits{
      {{"TiB", kTiB}, {"GiB", kGiB}, {"MiB", kMiB}, {"KiB", kKiB}}};
  for (const Suffix& unit : kUnits) {
    if (bytes < unit.factor) continue;
    std::string number =
        fmt::format("{:.2f}", static_cast<double>(bytes) / static_cast<double>(unit.factor));
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
    return fmt::format("{} {}", number, unit.text);
  }
  return fmt::format("{} B", bytes);
}

Bytes parse_bytes(std::string_view option, std::string_view text) {
  const auto [digits, suffix] = split_number(text);
  const auto number = to_number<double>(digits);
  if (!number) {
    throw bad_size(option, text, "it does not begin with a number");
  }
  for (const Suffix& known : kSuffixes) {
    if (known.text != suffix) continue;
    const double bytes = *number * static_cast<double>(known.factor);
    if (bytes > kLargestSize) throw bad_size(option, text, "it is too large");
    if (bytes != std::floor(bytes)) {
      throw bad_size(option, text, "it is not a whole number of bytes");
    }
    return static_cast<Bytes>(bytes);
  }
  if (suffix == "KB" || suffix == "MB" || suffix == "GB" || suffix == "TB") {
    throw bad_size(option, text,
                   fmt::format("'{}' could be decimal or binary (say {} or {}iB for binary)",
                               suffix, suffix.front(), suffix.front()));
  }
  throw bad_size(option, text, fmt::format("'{}' is no suffix", suffix));
}

std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t low,
                           std::int64_t high) {
  const auto value = to_number<std::int64_t>(text);
  if (!value) {
    throw usage_error(fmt::format("{}: '{}' is not a whole number", option, text));
  }
  if (*value >= low && *value <= high) return *value;
  if (high == std::numeric_limits<std::int64_t>::max()) {
    throw usage_error(fmt::format("{}: {} is out of range; give {} or more", option, *value, low));
  }
  throw usage_error(
      fmt::format("{}: {} is out of range; give {} to {}", option, *value, low, high));
}

double parse_number(std::string_view option, std::string_view text, double low, double high) {
  const auto value = to_number<double>(text);
  if (!value || !std::isfinite(*value)) {
    throw usage_error(fmt::format("{}: '{}' is not a number", option, text));
  }
  if (*value < low || *value > high) {
    throw usage_error(
        fmt::format("{}: {} is out of range; give {} to {}", option, *value, low, high));
  }
  return *value;
}

}  // namespace busbar
