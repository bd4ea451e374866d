// SPDX-License-Identifier: BSD-3-Clause
// What parse_smi_matrix accepts is square, symmetric and complete; it throws Error or nothing.
#include "topo/probes/smi_matrix.hpp"

#include "tests/fuzz/check.hpp"

namespace {

using fuzz::require;

void check(const busbar::topo::SmiMatrix& matrix) {
  const std::size_t gpus = matrix.gpus.size();
  const std::size_t devices = gpus + matrix.nics.size();
  require(gpus > 0);
  require(matrix.cpu_affinity.size() == gpus && matrix.numa_affinity.size() == gpus);
  fuzz::require_symmetric(matrix.cells, devices);
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    for (const std::string& cell : matrix.cells[gpu]) require(!cell.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::attempt([&] { check(busbar::topo::parse_smi_matrix(text, "fuzz")); });
  return 0;
}
