// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace busbar::topo {

/// A set of small numbers (processors, NUMA nodes), as masks of hexadecimal words write it.
class BitWords {
 public:
  /// Numbers below this: more than any machine of today has processors.
  static constexpr long kMost = 65536;

  /// Of "0x00ff,,0x1" or "00ff,1", the highest word first; an empty word is 0. Nothing for what is
  /// no such mask, is too long, or is empty.
  [[nodiscard]] static std::optional<BitWords> parse(std::string_view mask);
  [[nodiscard]] static BitWords one(long number);
  /// Every number below kMost.
  [[nodiscard]] static BitWords all();

  [[nodiscard]] bool within(const BitWords& other) const;
  [[nodiscard]] bool meets(const BitWords& other) const;
  void add(const BitWords& other);
  /// "0x00000001,0x000000ff": as hwloc writes it.
  [[nodiscard]] std::string text() const;
  /// Ascending.
  [[nodiscard]] std::vector<int> numbers() const;
  [[nodiscard]] bool operator==(const BitWords& other) const = default;

 private:
  std::vector<unsigned> words_{};  ///< of 32 bits, the lowest first; the last is not 0
};

}  // namespace busbar::topo
