// SPDX-License-Identifier: BSD-3-Clause
#include "model/pattern.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/random.hpp"
#include "model/collective.hpp"

namespace busbar {
namespace {

// A product of twos: 2^6 is exact in int8, the smallest type.
constexpr std::uint64_t kMostTwos = 6;
// Values need not be larger than this to distinguish ranks and positions.
constexpr std::uint64_t kLargestValue = 1U << 20U;

std::uint64_t largest_value(DataType type) {
  return std::min(info(type).exact_limit, kLargestValue);
}

void store_small(DataType type, double value, std::byte* to) {
  const std::uint16_t bits = encode(*small_float(type), value);
  if (info(type).size == 1) {
    *to = static_cast<std::byte>(bits);
  } else {
    std::memcpy(to, &bits, sizeof bits);
  }
}

template <class T>
T load(const std::byte* from) {
  T element{};
  std::memcpy(&element, from, sizeof element);
  return element;
}

double load_small(DataType type, const std::byte* from) {
  std::uint16_t bits = load<std::uint8_t>(from);
  if (info(type).size > 1) bits = load<std::uint16_t>(from);
  return decode(*small_float(type), bits);
}

void store_as(DataType type, double value, std::byte* to) {
  if (small_float(type) != nullptr) return store_small(type, value, to);
  with_element(type, [&](auto element) {
    element = static_cast<decltype(element)>(value);
    std::memcpy(to, &element, sizeof element);
  });
}

/// Why multiplying by this share and dividing need not give the same, or empty. Libraries compute
/// with 8-bit types by way of half or float (1/315 rounds to another f8e5m2 by way of half), with
/// 16-bit types by way of float.
std::string flaw_of(const SmallFloat& format, double share) {
  if (share < smallest_normal(format)) return "is below its normal numbers";
  const double by_float = static_cast<float>(share);
  const SmallFloat& half = *small_float(DataType::Half);
  const double by_half = decode(half, encode(half, by_float));
  const std::uint16_t bits = encode(format, share);
  const bool by_half_too = info(format.type).size == 1;
  const bool same_by_half = !by_half_too || bits == encode(format, by_half);
  if (same_by_half && bits == encode(format, by_float)) return {};
  return "rounds to two numbers, directly and by way of wider types";
}

}  // namespace

Pattern::Pattern(DataType type, ReduceOp op, int ranks, std::uint64_t seed)
    : type_(type), op_(op), ranks_(static_cast<std::uint64_t>(ranks)), seed_(splitmix64(seed)) {
  const auto reason = impossible(type, op, ranks);
  if (reason) throw runtime_failure(*reason);
}

std::optional<std::string> Pattern::impossible(DataType type, ReduceOp op, int ranks) {
  if (op != ReduceOp::Avg) return std::nullopt;
  const TypeInfo& known = info(type);
  if (!known.floating) {
    if (static_cast<std::uint64_t>(ranks) <= known.exact_limit) return std::nullopt;
    return fmt::format("an average of {} over {} ranks is 0 for all data that can be summed up",
                       known.name, ranks);
  }
  const SmallFloat* format = small_float(type);
  const std::string flaw = format == nullptr ? "" : flaw_of(*format, 1.0 / ranks);
  if (flaw.empty()) return std::nullopt;
  return fmt::format("no data has one average over {} ranks in {}: 1/{} {}", ranks, known.name,
                     ranks, flaw);
}

std::uint64_t Pattern::value(int rank, std::uint64_t index) const {
  const std::uint64_t position = index % kPeriod;
  switch (op_) {
    case ReduceOp::Sum: return summand(rank, position);
    case ReduceOp::Prod: return factor(rank, position);
    case ReduceOp::Max: return largest_or_not(rank, position);
    case ReduceOp::Min: return smallest_or_not(rank, position);
    case ReduceOp::Avg: return part_of_average(rank, position);
    case ReduceOp::None: break;
  }
  return random(rank, position) % (largest_value(type_) + 1);
}

std::uint64_t Pattern::random(int rank, std::uint64_t position) const {
  return splitmix64(splitmix64(seed_ + static_cast<std::uint64_t>(rank)) + position);
}

/// All ranks in turn, starting each cycle at a random rank: so every one is
/// chosen somewhere, and where is not a matter of the index alone.
bool Pattern::is_chosen(int rank, std::uint64_t position) const {
  const std::uint64_t chosen = (splitmix64(seed_ + position / ranks_) + position) % ranks_;
  return chosen == static_cast<std::uint64_t>(rank);
}

/// Every rank's share of the exact range, so that no partial sum leaves it. Where there are more
/// ranks than numbers, only every `stride`-th rank sends a one, which one differing with position.
std::uint64_t Pattern::summand(int rank, std::uint64_t position) const {
  const std::uint64_t limit = info(type_).exact_limit;
  const std::uint64_t share = std::min(limit / ranks_, kLargestValue);
  const auto r = static_cast<std::uint64_t>(rank);
  if (share > 0) return random(rank, position) % (share + 1);
  const std::uint64_t stride = (ranks_ + limit - 1) / limit + 1;
  return (r + splitmix64(seed_ + position)) % stride == 0 ? 1 : 0;
}

/// Twos at `twos` consecutive ranks from a place that differs with position, ones elsewhere.
std::uint64_t Pattern::factor(int rank, std::uint64_t position) const {
  const std::uint64_t random = splitmix64(seed_ + position);
  const std::uint64_t twos = random % (std::min(kMostTwos, ranks_) + 1);
  const std::uint64_t place = (static_cast<std::uint64_t>(rank) + (random >> 8U)) % ranks_;
  return place < twos ? 2 : 1;
}

/// The chosen rank's value is in the upper half, all others are in the lower.
std::uint64_t Pattern::largest_or_not(int rank, std::uint64_t position) const {
  const std::uint64_t most = largest_value(type_);
  const std::uint64_t half = most / 2;
  const std::uint64_t any = random(rank, position);
  return is_chosen(rank, position) ? half + 1 + any % (most - half) : any % (half + 1);
}

/// The chosen rank's value is in the lower half, all others are in the upper.
std::uint64_t Pattern::smallest_or_not(int rank, std::uint64_t position) const {
  const std::uint64_t most = largest_value(type_);
  const std::uint64_t half = most / 2;
  const std::uint64_t any = random(rank, position);
  return is_chosen(rank, position) ? any % half : half + any % (most - half + 1);
}

/// Floating point: a power of two at the chosen rank and 0 elsewhere, so that summing is exact and
/// multiplying by the rounded 1/n rounds as dividing by n does, before the sum or after it. Whole
/// numbers: summands, where one of them changes the average; else the chosen rank sends enough for
/// an average of 1 or more.
std::uint64_t Pattern::part_of_average(int rank, std::uint64_t position) const {
  constexpr std::uint64_t kMostDoublings = 6;
  if (info(type_).floating) {
    const std::uint64_t power = splitmix64(seed_ + position) % (kMostDoublings + 1);
    return is_chosen(rank, position) ? std::uint64_t{1} << power : 0;
  }
  if (info(type_).exact_limit / ranks_ >= ranks_) return summand(rank, position);
  if (!is_chosen(rank, position)) return 0;
  return ranks_ + random(rank, position) % (info(type_).exact_limit - ranks_ + 1);
}

double Pattern::reduced(std::uint64_t index) const {
  std::uint64_t result = value(0, index);
  for (int rank = 1; rank < static_cast<int>(ranks_); ++rank) {
    const std::uint64_t next = value(rank, index);
    switch (op_) {
      case ReduceOp::Sum:
      case ReduceOp::Avg: result += next; break;
      case ReduceOp::Prod: result *= next; break;
      case ReduceOp::Max: result = std::max(result, next); break;
      case ReduceOp::Min: result = std::min(result, next); break;
      case ReduceOp::None: throw runtime_failure("a reduction without an operation");
    }
  }
  const bool averages = op_ == ReduceOp::Avg;
  if (averages && info(type_).floating) {
    return static_cast<double>(result) / static_cast<double>(ranks_);
  }
  if (averages) result /= ranks_;  // rounds down
  return static_cast<double>(result);
}

Tile::Tile(const Pattern& pattern, int source)
    : type_(pattern.type()),
      bytes_(Pattern::kPeriod * info(pattern.type()).size),
      element_size_(info(pattern.type()).size) {
  for (std::uint64_t i = 0; i < Pattern::kPeriod; ++i) {
    const double value =
        source == kAllRanks ? pattern.reduced(i) : static_cast<double>(pattern.value(source, i));
    store_as(pattern.type(), value, bytes_.data() + i * element_size_);
  }
}

std::string element_text(DataType type, const std::byte* data) {
  if (small_float(type) != nullptr) return fmt::format("{}", load_small(type, data));
  std::string text;
  with_element(type, [&](auto element) {
    text = fmt::format("{}", +load<decltype(element)>(data));  // +: int8 as a number
  });
  return text;
}

}  // namespace busbar
