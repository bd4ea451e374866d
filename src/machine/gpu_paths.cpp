// SPDX-License-Identifier: BSD-3-Clause
#include "machine/gpu_paths.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::machine {
namespace {

namespace fs = std::filesystem;

/// A number of a configuration space, the lowest byte first; 0 beyond its end.
unsigned number_at(View bytes, std::size_t at, std::size_t size) {
  unsigned number = 0;
  for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
    number |= static_cast<unsigned>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return number;
}

/// Where a capability begins, or 0: of PCI in the first 256 bytes, extended ones behind them.
std::size_t find_capability(View bytes, unsigned id, bool extended) {
  std::size_t at = extended ? 0x100 : number_at(bytes, 0x34, 1);
  for (int i = 0; i < 1000 && at != 0; ++i) {
    const unsigned head = number_at(bytes, at, extended ? 4 : 2);
    if ((head & (extended ? 0xffffU : 0xffU)) == id) return at;
    at = extended ? head >> 20U : head >> 8U;
  }
  return 0;
}

/// The kind of a port whose ACS sends up what devices below could send each other; else empty.
std::string redirecting_port(View configuration) {
  constexpr unsigned kRedirects = 0x04 | 0x08 | 0x10;  // requests, completions, all upwards
  constexpr unsigned kDownstream = 6;
  const std::size_t acs = find_capability(configuration, 0x0d, true);
  if (acs == 0 || (number_at(configuration, acs + 6, 2) & kRedirects) == 0) return {};
  const std::size_t express = find_capability(configuration, 0x10, false);
  const unsigned kind = number_at(configuration, express + 2, 2) >> 4U & 0xfU;
  return kind == kDownstream ? "switch port" : "root port";
}

bool is_gpu(const fs::path& device) {
  const std::string kind = first_line_of((device / "class").string());
  return first_line_of((device / "vendor").string()) == "0x10de" &&
         (kind.starts_with("0x0300") || kind.starts_with("0x0302"));
}

/// Whether a device is a bridge to the bus of a GPU, both by their addresses: "0000:17:00.0".
bool is_above(const std::string& device, View configuration, const std::string& gpu) {
  const bool is_bridge = (number_at(configuration, 0x0e, 1) & 0x7fU) == 1;
  const std::vector<std::string> parts = split(gpu, ':');
  const unsigned bus = parts.size() < 2 ? 0 : to_number<unsigned>(parts[1], 16).value_or(0);
  return is_bridge && device.starts_with(parts[0] + ":") &&
         number_at(configuration, 0x19, 1) <= bus && bus <= number_at(configuration, 0x1a, 1);
}

void add_bridge(const fs::path& device, const std::vector<std::string>& gpus,
                HostReading& reading) {
  const std::string name = device.filename().string();
  const std::string bytes = read_file((device / "config").string()).value_or("");
  FactValue& all = reading.values[{"pcie.acs", ""}];
  if (bytes.size() <= 64) all = {.reason = "root may read it"};
  if (all.reason.empty() && all.text.empty()) all.text = "off";
  const std::string kind = redirecting_port(bytes);
  const auto is_above_it = [&](const auto& gpu) { return is_above(name, bytes, gpu); };
  if (kind.empty() || std::ranges::none_of(gpus, is_above_it)) return;
  all.text = "on";
  reading.values[{"pcie.acs", name}].text = kind;
}

}  // namespace

void add_gpu_paths(const std::string& root, HostReading& reading) {
  std::vector<std::string> gpus;
  std::vector<fs::path> devices;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root + "/sys/bus/pci/devices", none)) {
    devices.push_back(entry.path());
    if (is_gpu(entry.path())) gpus.push_back(entry.path().filename().string());
  }
  if (gpus.empty()) return;
  reading.values[{"pcie.gpus", ""}].text = fmt::format("{}", gpus.size());
  for (const std::string& gpu : gpus) {
    const std::string domain =
        first_line_of(fmt::format("{}/sys/bus/pci/devices/{}/iommu_group/type", root, gpu));
    if (!domain.empty()) reading.values[{"pcie.iommu", gpu}].text = domain;
  }
  for (const fs::path& device : devices) {
    if (first_line_of((device / "class").string()).starts_with("0x0604")) {
      add_bridge(device, gpus, reading);
    }
  }
}

}  // namespace busbar::machine
