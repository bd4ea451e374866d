// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/devices.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include <fmt/format.h>

#include "backends/nccl/libraries.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

using Uuid = std::array<char, 16>;

std::string hex_of(const Uuid& uuid) {
  std::string text;
  for (const char byte : uuid) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// How cudaDeviceProp begins in every version of CUDA; its length differs.
struct Properties {
  std::array<char, 256> name{};
  Uuid uuid{};
  std::array<char, 8192> rest{};
};

Properties properties_of(int index) {
  Properties properties;
  check_cuda(cuda().get_properties(&properties, index));
  return properties;
}

int device_count() {
  int count = 0;
  check_cuda(cuda().get_device_count(&count));
  return count;
}

VisibleDevices look(const DeviceRequest& request) {
  VisibleDevices seen{.first = request.first, .shares = request.share ? 1 : 0};
  copy_text(first_line_of("/proc/sys/kernel/random/boot_id"), seen.host);
  seen.count = std::min(device_count(), static_cast<int>(VisibleDevices::kMost));
  const std::string_view wanted = request.uuid.data();
  for (int i = 0; i < seen.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    seen.uuids.at(at) = properties_of(i).uuid;
    auto& bus = seen.buses.at(at);
    check_cuda(cuda().get_bus(bus.data(), static_cast<int>(bus.size()), i));
    if (!wanted.empty() && hex_of(seen.uuids.at(at)) == wanted) seen.wanted = i;
  }
  return seen;
}

Device describe(int index) {
  const Properties properties = properties_of(index);
  Device device{.index = index};
  copy_text(properties.name.data(), device.name);
  copy_text(hex_of(properties.uuid), device.uuid);
  check_cuda(cuda().get_bus(device.bus.data(), static_cast<int>(device.bus.size()), index));
  return device;
}

using Takers = std::map<Uuid, int>;  // ranks on each device

const Uuid& uuid(const VisibleDevices& rank, int index) {
  return rank.uuids.at(static_cast<std::size_t>(index));
}

/// Host and PCI address.
std::string place(const VisibleDevices& rank, int index) {
  return fmt::format("{} {}", rank.host.data(),
                     rank.buses.at(static_cast<std::size_t>(index)).data());
}

/// The first device that no rank has, or -1.
int first_free(const VisibleDevices& rank, const Takers& takers) {
  for (int index = rank.first; index < rank.count; ++index) {
    if (!takers.contains(uuid(rank, index))) return index;
  }
  return -1;
}

Error none_left(std::size_t rank, const VisibleDevices& seen, int ranks_of_host) {
  if (seen.first >= seen.count) {
    return usage_error(
        fmt::format("NCCL_TESTS_DEVICE={}: rank {} sees {}; give 0 to {}", seen.first, rank,
                    counted(static_cast<std::size_t>(seen.count), "GPU"), seen.count - 1));
  }
  const int usable = seen.count - seen.first;
  return usage_error(fmt::format(
      "rank {} has no GPU of its own: {} on its host, which shows it {}; start {} a host, or let "
      "ranks share GPUs by --share-gpus",
      rank, counted(static_cast<std::size_t>(ranks_of_host), "rank"),
      counted(static_cast<std::size_t>(usable), "GPU"),
      counted(static_cast<std::size_t>(usable), "rank")));
}

}  // namespace

std::vector<Assignment> assign_devices(std::span<const VisibleDevices> ranks) {
  Takers takers;
  std::map<std::array<char, 40>, int> so_far;
  std::vector<Assignment> result;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const VisibleDevices& seen = ranks[rank];
    int index = seen.wanted >= 0 ? seen.wanted : first_free(seen, takers);
    const int earlier = so_far[seen.host]++;
    if (index < 0 && (seen.shares == 0 || seen.first >= seen.count)) {
      const auto same = [&](const VisibleDevices& other) { return other.host == seen.host; };
      throw none_left(rank, seen,
                      static_cast<int>(std::count_if(ranks.begin(), ranks.end(), same)));
    }
    if (index < 0) index = seen.first + earlier % (seen.count - seen.first);
    ++takers[uuid(seen, index)];
    result.push_back({.index = index});
  }
  std::map<std::string, int> on_bus;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    ++on_bus[place(ranks[rank], result[rank].index)];
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    result[rank].ranks_on_device = takers[uuid(ranks[rank], result[rank].index)];
    result[rank].ranks_on_gpu = on_bus[place(ranks[rank], result[rank].index)];
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
  std::vector<Device> devices;
  const int count = device_count();
  for (int i = 0; i < count; ++i) devices.push_back(describe(i));
  return devices;
}

Device take_cuda_device(Bootstrap& world, const DeviceRequest& request) {
  const std::vector<VisibleDevices> seen = world.gather(look(request));
  const Assignment mine = assign_devices(seen)[static_cast<std::size_t>(world.rank())];
  check_cuda(cuda().set_device(mine.index));
  Device device = describe(mine.index);
  device.ranks_on_device = mine.ranks_on_device;
  device.ranks_on_gpu = mine.ranks_on_gpu;
  return device;
}

}  // namespace busbar
