// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/devices.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/nccl/libraries.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "base/text.hpp"
#include "model/agreement.hpp"

namespace busbar {
namespace {

/// How cudaDeviceProp begins in every version of CUDA; its length differs.
struct Properties {
  std::array<char, 256> name{};
  std::array<unsigned char, 16> uuid{};
  std::array<char, 8192> rest{};
};

Device describe(int index) {
  Properties properties;
  check_cuda(cuda().get_properties(&properties, index));
  Device device{.index = index};
  copy_text(properties.name.data(), device.name);
  copy_text(fmt::format("{:02x}", fmt::join(properties.uuid, "")), device.uuid);
  check_cuda(cuda().get_bus(device.bus.data(), static_cast<int>(device.bus.size()), index));
  return device;
}

VisibleDevices look(const DeviceRequest& request) {
  VisibleDevices seen{.host = boot_id(), .first = request.first, .shares = request.share ? 1 : 0};
  for (const Device& device : visible_cuda_devices()) {
    const auto at = static_cast<std::size_t>(seen.count);
    if (at == VisibleDevices::kMost) break;
    seen.uuids.at(at) = device.uuid;
    seen.buses.at(at) = device.bus;
    if (device.uuid == request.uuid) seen.wanted = seen.count;
    ++seen.count;
  }
  return seen;
}

const std::array<char, 40>& uuid(const VisibleDevices& rank, int index) {
  return rank.uuids.at(static_cast<std::size_t>(index));
}

/// Host and PCI address.
std::string place(const VisibleDevices& rank, int index) {
  return fmt::format("{} {}", rank.host.data(),
                     rank.buses.at(static_cast<std::size_t>(index)).data());
}

Error none_left(std::size_t rank, const VisibleDevices& seen, int ranks_of_host) {
  if (seen.first >= seen.count) {
    return usage_error("NCCL_TESTS_DEVICE={}: rank {} sees {}; give 0 to {}", seen.first, rank,
                       counted(seen.count, "GPU"), seen.count - 1);
  }
  const int usable = seen.count - seen.first;
  return usage_error(
      "rank {} has no GPU of its own: {} on its host, which shows it {}; start {} a host, or let "
      "ranks share GPUs by --share-gpus",
      rank, counted(ranks_of_host, "rank"), counted(usable, "GPU"), counted(usable, "rank"));
}

}  // namespace

std::vector<Device> assign_devices(std::span<const VisibleDevices> ranks) {
  std::map<std::array<char, 40>, int> on_device;  // ranks by UUID
  std::map<std::string, int> on_gpu;              // by host and PCI address
  std::map<std::array<char, 40>, int> so_far;     // by host
  std::vector<Device> result;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const VisibleDevices& seen = ranks[rank];
    int index = seen.wanted >= 0 ? seen.wanted : seen.first;
    while (seen.wanted < 0 && index < seen.count && on_device.contains(uuid(seen, index))) ++index;
    const int earlier = so_far[seen.host]++;
    if (index >= seen.count) {
      if (seen.shares == 0 || seen.first >= seen.count) {
        const auto same = [&](const VisibleDevices& other) { return other.host == seen.host; };
        throw none_left(rank, seen, static_cast<int>(std::ranges::count_if(ranks, same)));
      }
      index = seen.first + earlier % (seen.count - seen.first);
    }
    ++on_device[uuid(seen, index)];
    ++on_gpu[place(seen, index)];
    result.push_back({.index = index});
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    Device& mine = result[rank];
    mine.ranks_on_device = on_device[uuid(ranks[rank], mine.index)];
    mine.ranks_on_gpu = on_gpu[place(ranks[rank], mine.index)];
  }
  return result;
}

std::optional<std::string> no_device() {
  if (const std::string problem = cuda_problem(); !problem.empty()) {
    return fmt::format("no CUDA device: {}", problem);
  }
  int count = 0;
  const cudaError_t result = cuda().get_device_count(&count);
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string mask =
      visible == nullptr ? "" : fmt::format(" (CUDA_VISIBLE_DEVICES={})", visible);
  if (result != cudaSuccess) {
    (void)cuda().take_last_error();
    return fmt::format("no CUDA device: {}{}", cuda().error_text(result), mask);
  }
  if (count == 0) return fmt::format("no CUDA device is visible{}", mask);
  return std::nullopt;
}

std::vector<Device> visible_cuda_devices() {
  int count = 0;
  check_cuda(cuda().get_device_count(&count));
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) devices.push_back(describe(i));
  return devices;
}

Device take_cuda_device(Bootstrap& world, const DeviceRequest& request) {
  const std::vector<VisibleDevices> seen = world.gather_at_root(look(request));
  std::vector<Device> all(static_cast<std::size_t>(world.size()));
  agree_on(world, [&] {
    if (world.rank() == 0) all = assign_devices(seen);
  });
  world.broadcast_bytes(std::as_writable_bytes(std::span{all}), 0);
  const Device& mine = all[static_cast<std::size_t>(world.rank())];
  check_cuda(cuda().set_device(mine.index));
  Device device = describe(mine.index);
  device.ranks_on_device = mine.ranks_on_device;
  device.ranks_on_gpu = mine.ranks_on_gpu;
  return device;
}

}  // namespace busbar
