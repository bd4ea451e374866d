// SPDX-License-Identifier: BSD-3-Clause
// Any text is a system or a complaint; what is a system can be written and read again.
#include "topo/systems/system_file.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace topo = busbar::topo;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  topo::Graph graph;
  try {
    graph = topo::parse_system(text, "fuzz.toml");
  } catch (const busbar::Error&) {
    return 0;
  }
  // Outside the try: what was read must be accepted again.
  const std::string saved = topo::write_system(graph);
  const topo::Graph again = topo::parse_system(saved, "saved.toml");
  if (topo::write_system(again) != saved) std::abort();
  return 0;
}
