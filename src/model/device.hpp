// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string_view>

#include "base/units.hpp"

namespace busbar {

/// An accelerator that a rank has taken. Plain data, as it is sent between ranks.
struct Device {
  int index = 0;                ///< among those that the process sees
  std::array<char, 32> bus{};   ///< PCI address, "0000:07:00.0"
  std::array<char, 64> name{};  ///< as the vendor's library tells it
  std::array<char, 40> uuid{};  ///< one for each device, whatever the process sees
  int ranks_on_device = 1;      ///< ranks of this job on it
  int ranks_on_gpu = 1;         ///< and on any MIG instance of the same GPU
};

/// Which device a rank wants.
struct DeviceRequest {
  int first = 0;       ///< index of the device for the first rank of a host (NCCL_TESTS_DEVICE)
  bool share = false;  ///< --share-gpus: more ranks than devices are welcome
  std::array<char, 40> uuid{};  ///< the very device, as Device::uuid has it; empty: any
};

/// Whether the device is one of the fake GPU machine of our tests: what runs on it is labelled so.
[[nodiscard]] inline bool is_fake(const Device& device) {
  return std::string_view(device.name.data()).starts_with("Fake");
}

}  // namespace busbar
