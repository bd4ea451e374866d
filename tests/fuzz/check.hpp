// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"

/// What the fuzz targets share.
namespace fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A finding where it does not hold.
inline void require(bool holds) {
  if (!holds) std::abort();
}

/// A parser of the text "fuzz" may refuse it by that name, and throws nothing else.
template <typename Parse>
void attempt(const Parse& parse) {
  try {
    parse();
  } catch (const busbar::Error& error) {
    require(std::string_view(error.what()).starts_with("fuzz:"));
  }
}

/// As many rows as columns, the same both ways, with an X in the diagonal only.
template <typename Cells>
void require_symmetric(const Cells& cells, std::size_t count) {
  require(cells.size() == count);
  for (std::size_t row = 0; row < count; ++row) {
    require(cells[row].size() == count);
    for (std::size_t column = 0; column < count; ++column) {
      const auto& cell = cells[row][column];
      require(cell == cells[column][row] && (cell == "X") == (row == column));
    }
  }
}

}  // namespace fuzz
