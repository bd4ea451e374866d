// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "machine/host_reading.hpp"

namespace busbar::machine {

/// Adds what lies between GPUs on PCIe: their number, their domains of the IOMMU, and the ports
/// above them whose ACS redirects, which root alone can read.
void add_gpu_paths(const std::string& root, HostReading& reading);

}  // namespace busbar::machine
