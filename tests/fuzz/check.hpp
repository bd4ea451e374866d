// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"

/// What the fuzz targets share.
namespace fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A file in memory, which the reader opens by its name.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : number_(::memfd_create("fuzz", 0)) {
    if (number_ < 0 ||
        ::write(number_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      std::abort();
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(number_); }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

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
