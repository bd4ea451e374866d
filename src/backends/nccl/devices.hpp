// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <vector>

#include "model/backend.hpp"

namespace busbar {

/// What one rank sees of its host's devices. Plain data, as it is sent between ranks.
struct VisibleDevices {
  static constexpr std::size_t kMost = 64;

  std::array<char, 40> host{};  ///< the same for ranks that share devices: the kernel's boot id
  int count = 0;
  int first = 0;    ///< DeviceRequest of this rank
  int shares = 0;   ///< DeviceRequest of this rank
  int wanted = -1;  ///< index of the very device that this rank requests; -1: any
  std::array<std::array<char, 40>, kMost> uuids{};  ///< as Device::uuid
  std::array<std::array<char, 32>, kMost> buses{};  ///< PCI addresses: instances of MIG share one
};

/// A device for every rank, in rank order: the one it requests, else the first that no lower rank
/// of the host has taken, whatever CUDA_VISIBLE_DEVICES shows to each. Where there is none, ranks
/// share in turn if they may, else throws Error (Usage). Of a Device it is the index, and who
/// shares it. Pure.
[[nodiscard]] std::vector<Device> assign_devices(std::span<const VisibleDevices> ranks);

[[nodiscard]] std::vector<Device> visible_cuda_devices();

/// Why no device can be used, in CUDA's words, or nothing.
[[nodiscard]] std::optional<std::string> no_device();

/// Assigns over all ranks and makes this rank's device the current one. Collective.
[[nodiscard]] Device take_cuda_device(Bootstrap& world, const DeviceRequest& request);

}  // namespace busbar
