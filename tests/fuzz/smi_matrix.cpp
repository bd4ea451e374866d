// SPDX-License-Identifier: BSD-3-Clause
// What parse_smi_matrix accepts is square, symmetric and complete; it throws Error or nothing.
#include "topo/probes/smi_matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const busbar::topo::SmiMatrix& matrix) {
  const std::size_t gpus = matrix.gpus.size();
  const std::size_t devices = gpus + matrix.nics.size();
  require(gpus > 0 && matrix.cells.size() == devices);
  require(matrix.cpu_affinity.size() == gpus && matrix.numa_affinity.size() == gpus);
  for (std::size_t row = 0; row < devices; ++row) {
    require(matrix.cells[row].size() == devices);
    for (std::size_t column = 0; column < devices; ++column) {
      const std::string& cell = matrix.cells[row][column];
      require(cell == matrix.cells[column][row] && (cell == "X") == (row == column));
      require(!cell.empty() || (row >= gpus && column >= gpus));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    check(busbar::topo::parse_smi_matrix(text, "fuzz"));
  } catch (const busbar::Error& error) {
    require(std::string_view(error.what()).substr(0, 5) == "fuzz:");
  }
  return 0;
}
