// SPDX-License-Identifier: BSD-3-Clause
#include "topo/assemble/live.hpp"

#include <array>
#include <unistd.h>

#include "base/error.hpp"
#include "topo/probes/hwloc.hpp"

namespace busbar::topo {

Sources probe_machine(const std::string& nvidia_smi) {
  Sources sources;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  sources.name = host.data();
  sources.smi = probe_nvidia_smi(nvidia_smi);
  try {
    sources.hwloc = probe_hwloc();
  } catch (const Error& error) {
    sources.smi.warnings.emplace_back(error.what());
  }
  return sources;
}

}  // namespace busbar::topo
