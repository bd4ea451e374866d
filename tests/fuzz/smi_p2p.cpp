// SPDX-License-Identifier: BSD-3-Clause
// What parse_smi_p2p accepts is square and symmetric; it throws Error or nothing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"
#include "topo/probes/smi_matrix.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const busbar::topo::P2pMatrix& matrix) {
  require(!matrix.gpus.empty() && matrix.cells.size() == matrix.gpus.size());
  for (std::size_t row = 0; row < matrix.cells.size(); ++row) {
    require(matrix.cells[row].size() == matrix.cells.size());
    for (std::size_t column = 0; column < matrix.cells.size(); ++column)
      require(matrix.cells[row][column] == matrix.cells[column][row] &&
              (matrix.cells[row][column] == "X") == (row == column));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    check(busbar::topo::parse_smi_p2p(text, "fuzz"));
  } catch (const busbar::Error& error) {
    require(std::string_view(error.what()).substr(0, 5) == "fuzz:");
  }
  return 0;
}
