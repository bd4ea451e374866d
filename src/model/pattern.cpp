// SPDX-License-Identifier: BSD-3-Clause
#include "model/pattern.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "model/collective.hpp"

namespace busbar {
namespace {

/// Steele, Lea, Flood: SplitMix64's mixing function, so that neighbours are unlike each other.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

// A product of twos: 2^6 is exact in int8, the smallest type.
constexpr std::uint64_t kMostTwos = 6;
// Values need not be larger than this to tell ranks and places apart.
constexpr std::uint64_t kLargestValue = 1U << 20U;

template <class T>
void store(std::uint64_t value, std::byte* to) {
  const T element = static_cast<T>(value);
  std::memcpy(to, &element, sizeof element);
}

template <class T>
T load(const std::byte* from) {
  T element{};
  std::memcpy(&element, from, sizeof element);
  return element;
}

void store_as(DataType type, std::uint64_t value, std::byte* to) {
  switch (type) {
    case DataType::Int8: return store<std::int8_t>(value, to);
    case DataType::Uint8: return store<std::uint8_t>(value, to);
    case DataType::Int32: return store<std::int32_t>(value, to);
    case DataType::Uint32: return store<std::uint32_t>(value, to);
    case DataType::Int64: return store<std::int64_t>(value, to);
    case DataType::Uint64: return store<std::uint64_t>(value, to);
    case DataType::Float: return store<float>(value, to);
    case DataType::Double: return store<double>(value, to);
    case DataType::Half:
    case DataType::Bfloat16: break;
  }
  throw runtime_failure(fmt::format("no host representation of {}", info(type).name));
}

}  // namespace

Pattern::Pattern(DataType type, ReduceOp op, int ranks, std::uint64_t seed)
    : type_(type), op_(op), ranks_(static_cast<std::uint64_t>(ranks)), seed_(seed) {}

std::uint64_t Pattern::value(int rank, std::uint64_t index) const {
  const std::uint64_t position = index % kPeriod;
  switch (op_) {
    case ReduceOp::Sum: return summand(rank, position);
    case ReduceOp::Prod: return factor(rank, position);
    case ReduceOp::Max:
    case ReduceOp::Min:
    case ReduceOp::Avg:
    case ReduceOp::None: break;
  }
  const std::uint64_t limit = std::min(info(type_).exact_limit, kLargestValue);
  return mix(mix(seed_ + static_cast<std::uint64_t>(rank)) + position) % (limit + 1);
}

/// Every rank's share of the exact range, so that no partial sum leaves it. Where there are more
/// ranks than numbers, only every `stride`-th rank sends a one, which one differing with position.
std::uint64_t Pattern::summand(int rank, std::uint64_t position) const {
  const std::uint64_t limit = info(type_).exact_limit;
  const std::uint64_t share = std::min(limit / ranks_, kLargestValue);
  const auto r = static_cast<std::uint64_t>(rank);
  if (share > 0) return mix(mix(seed_ + r) + position) % (share + 1);
  const std::uint64_t stride = (ranks_ + limit - 1) / limit + 1;
  return (r + mix(seed_ + position)) % stride == 0 ? 1 : 0;
}

/// Twos at `twos` consecutive ranks from a place that differs with position, ones elsewhere.
std::uint64_t Pattern::factor(int rank, std::uint64_t position) const {
  const std::uint64_t random = mix(seed_ + position);
  const std::uint64_t twos = random % (std::min(kMostTwos, ranks_) + 1);
  const std::uint64_t place = (static_cast<std::uint64_t>(rank) + (random >> 8U)) % ranks_;
  return place < twos ? 2 : 1;
}

std::uint64_t Pattern::reduced(std::uint64_t index) const {
  std::uint64_t result = value(0, index);
  for (int rank = 1; rank < static_cast<int>(ranks_); ++rank) {
    const std::uint64_t next = value(rank, index);
    switch (op_) {
      case ReduceOp::Sum: result += next; break;
      case ReduceOp::Prod: result *= next; break;
      case ReduceOp::Max: result = std::max(result, next); break;
      case ReduceOp::Min: result = std::min(result, next); break;
      case ReduceOp::Avg:
      case ReduceOp::None:
        throw runtime_failure(fmt::format("no exact pattern for op {}", name(op_)));
    }
  }
  return result;
}

Tile::Tile(const Pattern& pattern, int source)
    : type_(pattern.type()),
      bytes_(Pattern::kPeriod * info(pattern.type()).size),
      element_size_(info(pattern.type()).size) {
  for (std::uint64_t i = 0; i < Pattern::kPeriod; ++i) {
    const std::uint64_t value = source == kAllRanks ? pattern.reduced(i) : pattern.value(source, i);
    store_as(pattern.type(), value, bytes_.data() + i * element_size_);
  }
}

std::string element_text(DataType type, const std::byte* data) {
  switch (type) {
    case DataType::Int8: return fmt::format("{}", static_cast<int>(load<std::int8_t>(data)));
    case DataType::Uint8: return fmt::format("{}", static_cast<int>(load<std::uint8_t>(data)));
    case DataType::Int32: return fmt::format("{}", load<std::int32_t>(data));
    case DataType::Uint32: return fmt::format("{}", load<std::uint32_t>(data));
    case DataType::Int64: return fmt::format("{}", load<std::int64_t>(data));
    case DataType::Uint64: return fmt::format("{}", load<std::uint64_t>(data));
    case DataType::Float: return fmt::format("{}", load<float>(data));
    case DataType::Double: return fmt::format("{}", load<double>(data));
    case DataType::Half:
    case DataType::Bfloat16: break;
  }
  return fmt::format("{:#04x}{:02x}", static_cast<int>(data[1]), static_cast<int>(data[0]));
}

}  // namespace busbar
