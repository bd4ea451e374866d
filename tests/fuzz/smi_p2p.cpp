// SPDX-License-Identifier: BSD-3-Clause
// What parse_smi_p2p accepts is square and symmetric; it throws Error or nothing.

#include "tests/fuzz/check.hpp"
#include "topo/probes/smi_matrix.hpp"

namespace {

void check(const busbar::topo::P2pMatrix& matrix) {
  fuzz::require(!matrix.gpus.empty());
  fuzz::require_symmetric(matrix.cells, matrix.gpus.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::attempt([&] { check(busbar::topo::parse_smi_p2p(text, "fuzz")); });
  return 0;
}
