// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "base/lists.hpp"

namespace busbar {

/// The finaliser of splitmix64 (Steele, Lea, Flood 2014): every bit of the result depends on every
/// bit of the value.
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

/// The same order everywhere for a seed: Fisher and Yates by the generator's own numbers, since a
/// library's distributions differ.
template <class Item>
void shuffle(std::vector<Item>& items, std::mt19937_64& random) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[static_cast<std::size_t>(random() % left)]);
  }
}

/// The numbers from 0 to below `count`.
[[nodiscard]] inline std::vector<std::size_t> shuffled_numbers(std::size_t count,
                                                               std::mt19937_64& random) {
  auto numbers = first_numbers<std::size_t>(count);
  shuffle(numbers, random);
  return numbers;
}

}  // namespace busbar
