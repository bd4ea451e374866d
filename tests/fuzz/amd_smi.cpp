// SPDX-License-Identifier: BSD-3-Clause
// What parse_amd_topology accepts is square and symmetric, and parse_amd_gpus numbers its GPUs;
// both throw Error or nothing.
#include "topo/probes/amd_smi.hpp"

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
  require(gpus > 0 && matrix.cells.size() == gpus && matrix.bus_ids.size() == gpus);
  require(matrix.cpu_affinity.size() == gpus && matrix.numa_affinity.size() == gpus);
  for (std::size_t row = 0; row < gpus; ++row) {
    require(matrix.cells[row].size() == gpus);
    for (std::size_t column = 0; column < gpus; ++column) {
      const std::string& cell = matrix.cells[row][column];
      require(cell == matrix.cells[column][row] && (cell == "X") == (row == column));
    }
  }
}

template <typename Parse>
void attempt(const Parse& parse) {
  try {
    parse();
  } catch (const busbar::Error& error) {
    require(std::string_view(error.what()).substr(0, 5) == "fuzz:");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] { check(busbar::topo::parse_amd_topology(text, "fuzz").matrix); });
  attempt([&] {
    int index = 0;
    for (const auto& gpu : busbar::topo::parse_amd_gpus(text, "fuzz"))
      require(gpu.index == index++);
  });
  return 0;
}
