// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/constants.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace busbar::topo {
namespace {

constexpr std::string_view kNcclSource = "NCCL: src/graph/topo.h";

// The first whose words are in the name counts, so the longer names come first.
constexpr std::array kModels{
    GpuModel{.words = "p100-sxm",
             .nvlink_generation = 1,
             .links = 4,
             .pcie_generation = 3,
             .always_linked = true},
    GpuModel{.words = "v100-sxm",
             .nvlink_generation = 2,
             .links = 6,
             .pcie_generation = 3,
             .always_linked = true},
    GpuModel{.words = "v100-pcie", .pcie_generation = 3},
    GpuModel{.words = "p100-pcie", .pcie_generation = 3},
    GpuModel{.words = "a100-sxm",
             .nvlink_generation = 3,
             .links = 12,
             .pcie_generation = 4,
             .always_linked = true},
    GpuModel{.words = "a100", .nvlink_generation = 3, .links = 12, .pcie_generation = 4},
    GpuModel{.words = "a800-sxm",
             .nvlink_generation = 3,
             .links = 8,
             .pcie_generation = 4,
             .always_linked = true},
    GpuModel{.words = "a800", .nvlink_generation = 3, .links = 8, .pcie_generation = 4},
    GpuModel{.words = "a30", .nvlink_generation = 3, .links = 4, .pcie_generation = 4},
    GpuModel{.words = "h800", .nvlink_generation = 4, .links = 8, .pcie_generation = 5},
    GpuModel{.words = "h100 pcie", .nvlink_generation = 4, .links = 12, .pcie_generation = 5},
    GpuModel{.words = "h100 nvl", .nvlink_generation = 4, .links = 12, .pcie_generation = 5},
    GpuModel{.words = "h100",
             .nvlink_generation = 4,
             .links = 18,
             .pcie_generation = 5,
             .always_linked = true},
    GpuModel{.words = "h200 nvl", .nvlink_generation = 4, .links = 18, .pcie_generation = 5},
    GpuModel{.words = "gh200", .nvlink_generation = 4, .links = 18, .pcie_generation = 5},
    GpuModel{.words = "h200",
             .nvlink_generation = 4,
             .links = 18,
             .pcie_generation = 5,
             .always_linked = true},
    GpuModel{.words = "h20",
             .nvlink_generation = 4,
             .links = 18,
             .pcie_generation = 5,
             .always_linked = true},
    GpuModel{.words = "gb200",
             .nvlink_generation = 5,
             .links = 18,
             .pcie_generation = 5,
             .always_linked = true},
    GpuModel{.words = "gb300",
             .nvlink_generation = 5,
             .links = 18,
             .pcie_generation = 5,
             .always_linked = true},
    GpuModel{.words = "b200",
             .nvlink_generation = 5,
             .links = 18,
             .pcie_generation = 5,
             .always_linked = true},
    GpuModel{.words = "b300",
             .nvlink_generation = 5,
             .links = 18,
             .pcie_generation = 5,
             .always_linked = true},
    GpuModel{.words = "rtx 3090",
             .nvlink_generation = 3,
             .links = 4,
             .pcie_generation = 4,
             .small_links = true,
             .pcie_p2p = false},
    GpuModel{.words = "rtx a6000",
             .nvlink_generation = 3,
             .links = 4,
             .pcie_generation = 4,
             .small_links = true},
    GpuModel{.words = "rtx a5000",
             .nvlink_generation = 3,
             .links = 4,
             .pcie_generation = 4,
             .small_links = true},
    GpuModel{.words = "a40",
             .nvlink_generation = 3,
             .links = 4,
             .pcie_generation = 4,
             .small_links = true},
    GpuModel{.words = "rtx 2080 ti",
             .nvlink_generation = 2,
             .links = 2,
             .pcie_generation = 3,
             .pcie_p2p = false},
    GpuModel{.words = "rtx 2080",
             .nvlink_generation = 2,
             .links = 1,
             .pcie_generation = 3,
             .pcie_p2p = false},
    GpuModel{.words = "quadro rtx", .nvlink_generation = 2, .links = 2, .pcie_generation = 3},
    GpuModel{.words = "titan rtx", .nvlink_generation = 2, .links = 2, .pcie_generation = 3},
    GpuModel{.words = "geforce rtx 50", .pcie_generation = 5, .pcie_p2p = false},
    GpuModel{.words = "geforce rtx 40", .pcie_generation = 4, .pcie_p2p = false},
    GpuModel{.words = "geforce rtx 30", .pcie_generation = 4, .pcie_p2p = false},
    GpuModel{.words = "geforce", .pcie_generation = 3},
    GpuModel{.words = "rtx pro 6000", .pcie_generation = 5},
    GpuModel{.words = "l40", .pcie_generation = 4},
    GpuModel{.words = "nvidia l4", .pcie_generation = 4},
    GpuModel{.words = "a10", .pcie_generation = 4},
    GpuModel{.words = "a16", .pcie_generation = 4},
    GpuModel{.words = "t4", .pcie_generation = 3},
    GpuModel{.words = "p40", .pcie_generation = 3},
    GpuModel{.words = "k80", .pcie_generation = 3},
};

struct Generation {
  double nominal_GBps;
  double nccl_GBps;
};
constexpr std::array<Generation, 6> kNvlink{
    {{25, 20}, {20, 18}, {25, 20}, {25, 20}, {25, 20.6}, {50, 40.1}}};
// PCIe per lane: after 8b/10b or 128b/130b; NCCL counts in units of 100 Mb/s over 80.
constexpr std::array<Generation, 7> kPcie{{{0, 0},
                                           {0.25, 15.0 / 80},
                                           {0.5, 30.0 / 80},
                                           {15.75 / 16, 60.0 / 80},
                                           {31.5 / 16, 120.0 / 80},
                                           {63.0 / 16, 240.0 / 80},
                                           {121.0 / 16, 480.0 / 80}}};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

Medium intel_medium(int model) {
  constexpr int kSkylake = 0x55;
  constexpr int kSapphireRapids = 0x8F;
  constexpr int kEmeraldRapids = 0xCF;
  if (model >= kEmeraldRapids) {
    return {
        .name = "UPI (Emerald Rapids)", .kind = LinkKind::Smp, .nominal_GBps = 96, .nccl_GBps = 40};
  }
  if (model >= kSapphireRapids) {
    return {.name = "UPI (Sapphire Rapids)",
            .kind = LinkKind::Smp,
            .nominal_GBps = 96,
            .nccl_GBps = 22};
  }
  if (model >= kSkylake) {
    return {.name = "UPI", .kind = LinkKind::Smp, .nominal_GBps = 41.6, .nccl_GBps = 10};
  }
  return {.name = "QPI", .kind = LinkKind::Smp, .nominal_GBps = 38.4, .nccl_GBps = 6};
}

}  // namespace

std::optional<GpuModel> gpu_model(std::string_view name) {
  const std::string wanted = lower(name);
  const auto* const found = std::find_if(
      kModels.begin(), kModels.end(),
      [&](const GpuModel& model) { return wanted.find(model.words) != std::string::npos; });
  if (found == kModels.end()) return std::nullopt;
  return *found;
}

Medium nvlink_medium(int generation, bool small_links) {
  if (small_links) {
    return {.name = "NVLink 3 (GA102)",
            .kind = LinkKind::NvLink,
            .nominal_GBps = 14.06,
            .nccl_GBps = 12,
            .source = fmt::format("nvidia-smi nvlink -s of GA102 boards: 14.062 GB/s a link; {}",
                                  kNcclSource)};
  }
  const Generation& figures = kNvlink.at(static_cast<std::size_t>(generation));
  return {.name = generation == 0 ? "NVLink" : fmt::format("NVLink {}", generation),
          .kind = LinkKind::NvLink,
          .nominal_GBps = figures.nominal_GBps,
          .nccl_GBps = figures.nccl_GBps,
          .source = fmt::format(
              "{}: {:g} GB/s a link and direction; {}",
              generation == 0 ? "generation unknown, reckoned as 2 to 4" : "NVIDIA's figure",
              figures.nominal_GBps, kNcclSource)};
}

double nominal_nvlink_GBps(double reported_GBps) {
  constexpr double kMost = 1.08;
  for (const Generation& figures : kNvlink) {
    const double ratio = reported_GBps / figures.nominal_GBps;
    if (ratio <= kMost && ratio >= 1 / kMost) return figures.nominal_GBps;
  }
  return reported_GBps;
}

Medium pcie_medium(int generation, int lanes) {
  const Generation& lane = kPcie.at(static_cast<std::size_t>(generation));
  return {.name = fmt::format("PCIe {}.0 x{}", generation, lanes),
          .kind = LinkKind::Pcie,
          .nominal_GBps = lane.nominal_GBps * lanes,
          .nccl_GBps = lane.nccl_GBps * lanes,
          .source = fmt::format("PCI-SIG after line coding; {}", kNcclSource)};
}

Medium smp_medium(std::string_view vendor, int model) {
  if (vendor == "intel") {
    Medium medium = intel_medium(model);
    medium.source = fmt::format(
        "Intel: two to three links of 19.2 (QPI), 20.8 or 32 GB/s (UPI); {}", kNcclSource);
    return medium;
  }
  if (vendor == "amd") {
    return {.name = "xGMI",
            .kind = LinkKind::Smp,
            .nominal_GBps = 108,
            .nccl_GBps = 16,
            .source = fmt::format("AMD: three links of 36 GB/s; {}", kNcclSource)};
  }
  if (vendor == "ibm") {
    return {.name = "X-Bus",
            .kind = LinkKind::Smp,
            .nominal_GBps = 32,
            .nccl_GBps = 32,
            .source = fmt::format("IBM: 4 bytes at 16 GT/s, half of it each way; {}", kNcclSource)};
  }
  if (vendor == "arm") {
    return {.name = "socket link",
            .kind = LinkKind::Smp,
            .nccl_GBps = 6,
            .source = fmt::format("no public figure, so no limit; {}", kNcclSource)};
  }
  return {.name = "socket link", .kind = LinkKind::Smp, .source = "unknown processor, so no limit"};
}

Medium memory_medium() {
  return {.name = "memory", .kind = LinkKind::Memory, .source = "within one processor: no limit"};
}

}  // namespace busbar::topo
