// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace busbar {

/// The same order everywhere for a seed: Fisher and Yates by the generator's own numbers, since a
/// library's distributions differ.
template <class Item>
void shuffle(std::vector<Item>& items, std::mt19937_64& random) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[static_cast<std::size_t>(random() % left)]);
  }
}

}  // namespace busbar
