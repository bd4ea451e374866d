// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/data_type.hpp"

namespace busbar {

/// The data that ranks send, and what comes out: whole numbers that are exact in every type, for
/// every operation, in every order of reduction, so that results are compared bit by bit. (An
/// average is the one result that need not be whole: it is rounded once, to the nearest.)
///
/// For every rank, at least one element of the period would have another result if that rank's
/// part were missing (tested up to 512 ranks). Element i of rank r is value(r, i mod kPeriod). The
/// period is a prime, so data that lands a block, a page or a segment away from its place does not
/// look right.
class Pattern {
 public:
  static constexpr std::uint64_t kPeriod = 4093;

  /// Throws Error (Runtime) where that is impossible.
  Pattern(DataType type, ReduceOp op, int ranks, std::uint64_t seed);

  /// Why no data can distinguish a right result from a wrong one, or nothing where some can.
  [[nodiscard]] static std::optional<std::string> impossible(DataType type, ReduceOp op, int ranks);

  /// What `rank` sends at element `index`.
  [[nodiscard]] std::uint64_t value(int rank, std::uint64_t index) const;
  /// The reduction of value(r, index) over all ranks r, before it is rounded to the type.
  [[nodiscard]] double reduced(std::uint64_t index) const;
  [[nodiscard]] DataType type() const { return type_; }

 private:
  [[nodiscard]] std::uint64_t summand(int rank, std::uint64_t position) const;
  [[nodiscard]] std::uint64_t factor(int rank, std::uint64_t position) const;
  [[nodiscard]] std::uint64_t largest_or_not(int rank, std::uint64_t position) const;
  [[nodiscard]] std::uint64_t smallest_or_not(int rank, std::uint64_t position) const;
  [[nodiscard]] std::uint64_t part_of_average(int rank, std::uint64_t position) const;
  [[nodiscard]] std::uint64_t random(int rank, std::uint64_t position) const;
  [[nodiscard]] bool is_chosen(int rank, std::uint64_t position) const;

  DataType type_;
  ReduceOp op_;
  std::uint64_t ranks_;
  std::uint64_t seed_;  // mixed: that of the next check is not this one a rank or an element on
};

/// One period of a pattern in memory, as its type stores it: what is copied and compared with.
class Tile {
 public:
  /// What `source` sends, or the reduction over all ranks (kAllRanks).
  Tile(const Pattern& pattern, int source);

  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t element_size() const { return element_size_; }
  [[nodiscard]] DataType type() const { return type_; }

 private:
  DataType type_;
  std::vector<std::byte> bytes_;
  std::size_t element_size_;
};

/// The element at `data` as text, for a message about wrong data.
[[nodiscard]] std::string element_text(DataType type, const std::byte* data);

}  // namespace busbar
