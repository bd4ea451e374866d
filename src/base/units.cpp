// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

constexpr std::string_view kPrefixes = "KMGT";  // each is 1024 of the one before

/// What a suffix multiplies by. nccl-tests' K, M, G are binary in either case; the spelled-out
/// forms are ours.
std::optional<Bytes> factor_of(std::string_view suffix) {
  if (suffix.empty() || suffix == "B" || suffix == "b") return 1;
  const char first = suffix.front();
  const bool spelled_out = suffix.substr(1) == "iB" && kPrefixes.find(first) != View::npos;
  if (suffix.size() > 1 && !spelled_out) return std::nullopt;
  const std::size_t place = kPrefixes.find(static_cast<char>(first & ~0x20));  // in upper case
  if (place == View::npos) return std::nullopt;
  return Bytes{1} << 10U * (place + 1);
}

Error bad_size(std::string_view option, std::string_view text, std::string_view why) {
  return usage_error(
      "{}: '{}' is not a size: {}; write bytes or K, M, G, as in 8, 64K, 1.5M or 2GiB", option,
      text, why);
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
  for (std::size_t i = kPrefixes.size(); i > 0; --i) {
    const Bytes factor = Bytes{1} << 10U * i;
    if (bytes < factor) continue;
    std::string number =
        fmt::format("{:.2f}", static_cast<double>(bytes) / static_cast<double>(factor));
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
    return fmt::format("{} {}iB", number, kPrefixes[i - 1]);
  }
  return fmt::format("{} B", bytes);
}

Bytes parse_bytes(std::string_view option, std::string_view text) {
  constexpr double kLargestSize = 1e18;
  const auto [digits, suffix] = split_number(text);
  const auto number = to_number<double>(digits);
  if (!number) throw bad_size(option, text, "it does not begin with a number");
  const auto factor = factor_of(suffix);
  if (!factor && suffix.size() == 2 && suffix[1] == 'B' &&
      kPrefixes.find(suffix[0]) != View::npos) {
    throw bad_size(option, text,
                   fmt::format("'{}' could be decimal or binary (write {} or {}iB for binary)",
                               suffix, suffix.front(), suffix.front()));
  }
  if (!factor) throw bad_size(option, text, fmt::format("'{}' is not a suffix", suffix));
  const double bytes = *number * static_cast<double>(*factor);
  if (bytes > kLargestSize) throw bad_size(option, text, "it is too large");
  if (bytes != std::floor(bytes)) throw bad_size(option, text, "it is not a whole number of bytes");
  return static_cast<Bytes>(bytes);
}

std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t low,
                           std::int64_t high) {
  const auto value = to_number<std::int64_t>(text);
  if (!value) {
    throw usage_error("{}: '{}' is not a whole number", option, text);
  }
  if (*value >= low && *value <= high) return *value;
  if (high == std::numeric_limits<std::int64_t>::max()) {
    throw usage_error("{}: {} is out of range; give {} or more", option, *value, low);
  }
  throw usage_error("{}: {} is out of range; give {} to {}", option, *value, low, high);
}

Seconds parse_duration(std::string_view option, std::string_view text, double low) {
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits{
      {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
  constexpr double kLongest = 1e7;
  const auto [digits, suffix] = split_number(text);
  const auto number = to_number<double>(digits);
  const auto* unit = find_by(kUnits, suffix, &std::pair<std::string_view, double>::first);
  if (!number || unit == nullptr) {
    throw usage_error("{}: '{}' is not a time; write 90s, 5m, 1h or 500ms", option, text);
  }
  const double seconds = *number * unit->second;
  if (seconds >= low && seconds <= kLongest) return Seconds{seconds};
  throw usage_error("{}: '{}' is out of range; give {:g}s to {:g}d", option, text, low,
                    kLongest / 86400);
}

double parse_number(std::string_view option, std::string_view text, double low, double high) {
  const auto value = to_number<double>(text);
  if (!value || !std::isfinite(*value)) {
    throw usage_error("{}: '{}' is not a number", option, text);
  }
  if (*value < low || *value > high) {
    throw usage_error("{}: {} is out of range; give {} to {}", option, *value, low, high);
  }
  return *value;
}

}  // namespace busbar
