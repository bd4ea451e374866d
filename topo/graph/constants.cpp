// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/constants.hpp"

#include <limits>

namespace busbar::topo {
namespace {

constexpr int kAnyModel = std::numeric_limits<int>::min();
constexpr std::string_view kNcclSource = "NCCL: src/graph/topo.h";

constexpr GpuModel linked(std::string_view name, int nvlink, int links, int pcie) {
  return {.name = name, .nvlink_generation = nvlink, .links = links, .pcie_generation = pcie};
}
constexpr GpuModel card(std::string_view name, int pcie) { return linked(name, 0, 0, pcie); }
constexpr GpuModel sxm(std::string_view name, int nvlink, int links, int pcie) {
  GpuModel model = linked(name, nvlink, links, pcie);
  model.always_linked = true;
  return model;
}
/// GPUs of AMD on a board that joins them (OAM).
constexpr GpuModel oam(std::string_view name, XgmiGeneration xgmi, int links, int pcie,
                       int peer_links = 1) {
  GpuModel model = sxm(name, 0, links, pcie);
  model.xgmi = xgmi;
  model.peer_links = peer_links;
  return model;
}
constexpr GpuModel ga102(std::string_view name) {
  GpuModel model = linked(name, 3, 4, 4);
  model.small_links = true;
  return model;
}

// The first whose name is in a GPU's counts, so the longer ones come first.
constexpr std::array kModels{
    sxm("p100-sxm", 1, 4, 3),
    sxm("v100-sxm", 2, 6, 3),
    card("v100-pcie", 3),
    card("p100-pcie", 3),
    sxm("a100-sxm", 3, 12, 4),
    linked("a100", 3, 12, 4),
    sxm("a800-sxm", 3, 8, 4),
    linked("a800", 3, 8, 4),
    linked("a30", 3, 4, 4),
    linked("h800", 4, 8, 5),
    linked("h100 pcie", 4, 12, 5),
    linked("h100 nvl", 4, 12, 5),
    sxm("h100", 4, 18, 5),
    linked("h200 nvl", 4, 18, 5),
    linked("gh200", 4, 18, 5),
    sxm("h200", 4, 18, 5),
    sxm("h20", 4, 18, 5),
    sxm("gb200", 5, 18, 5),
    sxm("gb300", 5, 18, 5),
    sxm("b200", 5, 18, 5),
    sxm("b300", 5, 18, 5),
    ga102("rtx 3090"),
    ga102("rtx a6000"),
    ga102("rtx a5000"),
    ga102("a40"),
    linked("rtx 2080 ti", 2, 2, 3),
    linked("rtx 2080", 2, 1, 3),
    linked("quadro rtx", 2, 2, 3),
    linked("titan rtx", 2, 2, 3),
    card("geforce rtx 50", 5),
    card("geforce rtx 40", 4),
    card("geforce rtx 30", 4),
    card("geforce", 3),
    card("rtx pro 6000", 5),
    card("l40", 4),
    card("nvidia l4", 4),
    card("a10", 4),
    card("a16", 4),
    card("t4", 3),
    card("p40", 3),
    card("k80", 3),
    // Bridges join up to four, an option; of MI300A two links side by side join each two of four.
    GpuModel{
        .name = "instinct mi210", .xgmi = XgmiGeneration::Mi200, .links = 3, .pcie_generation = 4},
    oam("instinct mi300a", XgmiGeneration::Mi300, 6, 5, 2),
    oam("instinct mi250", XgmiGeneration::Mi200, 8, 4),  // MI250X too
    oam("instinct mi200", XgmiGeneration::Mi200, 8, 4),  // what the board calls itself
    oam("instinct mi300x", XgmiGeneration::Mi300, 7, 5),
    oam("instinct mi325x", XgmiGeneration::Mi300, 7, 5),
    oam("instinct mi350x", XgmiGeneration::Mi350, 7, 5),
    oam("instinct mi355x", XgmiGeneration::Mi350, 7, 5),
};

struct PciName {
  unsigned device_id;
  std::string_view name;
};
constexpr std::array kAmdNames{
    PciName{0x7408, "AMD Instinct MI250X"}, PciName{0x740c, "AMD Instinct MI250"},
    PciName{0x740f, "AMD Instinct MI210"},  PciName{0x74a0, "AMD Instinct MI300A"},
    PciName{0x74a1, "AMD Instinct MI300X"}, PciName{0x74b5, "AMD Instinct MI300X VF"},
    PciName{0x75a0, "AMD Instinct MI350X"}, PciName{0x75a3, "AMD Instinct MI355X"}};

struct LinkRate {
  double nominal_GBps;
  double nccl_GBps;
};
constexpr std::array<LinkRate, 6> kNvlink{
    {{25, 20}, {20, 18}, {25, 20}, {25, 20}, {25, 20.6}, {50, 40.1}}};

/// What is known of one link, lane bundle or bus.
struct KnownLink {
  std::string_view name;
  double nominal_GBps;
  double nccl_GBps;  ///< of xGMI RCCL's
  std::string_view source;
};
// By XgmiGeneration; sixteen lanes each.
constexpr std::array<KnownLink, 4> kXgmi{
    {{"GPU xGMI", 50, 36, "generation unknown, taken as MI200's"},
     {"xGMI (MI200)", 50, 36, "AMD, by OLCF's guide to Frontier: 25 GT/s, 50 GB/s a link"},
     {"xGMI (MI300)", 64, 48, "AMD, by Azure's page of ND MI300X v5: 128 GB/s a link both ways"},
     {"xGMI (MI350)", 76.8, 48, "AMD, by OLCF's page of Lux: 153.6 GB/s a link both ways"}}};
// PCIe per lane: after 8b/10b or 128b/130b; NCCL counts in units of 100 Mb/s over 80.
constexpr std::array<LinkRate, 7> kPcie{{{0, 0},
                                         {0.25, 15.0 / 80},
                                         {0.5, 30.0 / 80},
                                         {15.75 / 16, 60.0 / 80},
                                         {31.5 / 16, 120.0 / 80},
                                         {63.0 / 16, 240.0 / 80},
                                         {121.0 / 16, 480.0 / 80}}};

struct Processor {
  std::string_view vendor;
  int model;  ///< the CPUID's, or later
  KnownLink link;
};
constexpr std::string_view kIntel =
    "Intel: two to three links of 19.2 (QPI), 20.8 or 32 GB/s (UPI)";
// Of one vendor the later models come first: Emerald and Sapphire Rapids, Skylake.
constexpr std::array kProcessors{
    Processor{"intel", 0xCF, {"UPI (Emerald Rapids)", 96, 40, kIntel}},
    Processor{"intel", 0x8F, {"UPI (Sapphire Rapids)", 96, 22, kIntel}},
    Processor{"intel", 0x55, {"UPI", 41.6, 10, kIntel}},
    Processor{"intel", kAnyModel, {"QPI", 38.4, 6, kIntel}},
    Processor{"amd", kAnyModel, {"xGMI", 108, 16, "AMD: three links of 36 GB/s"}},
    Processor{"ibm", kAnyModel, {"X-Bus", 32, 32, "IBM: 4 bytes at 16 GT/s, half of it each way"}},
    Processor{"arm", kAnyModel, {"socket link", 0, 6, "no public figure, so no limit"}}};

Medium known_medium(LinkKind kind, const KnownLink& link,
                    std::string_view nccl_source = kNcclSource) {
  return {.name = std::string(link.name),
          .kind = kind,
          .nominal_GBps = link.nominal_GBps,
          .nccl_GBps = link.nccl_GBps,
          .source = fmt::format("{}; {}", link.source, nccl_source)};
}

}  // namespace

std::optional<GpuModel> gpu_model(std::string_view name) {
  const std::string wanted = lower(name);
  for (const GpuModel& model : kModels) {
    if (wanted.find(model.name) != std::string::npos) return model;
  }
  return std::nullopt;
}

bool is_generic_gpu(std::string_view name) {
  constexpr std::array<std::string_view, 10> kVendors{
      "nvidia",   "amd",  "corporation", "advanced", "micro",
      "devices,", "inc.", "[amd/ati]",   "ati",      "(tm)"};
  constexpr std::array<std::string_view, 7> kGeneric{"graphics", "radeon",  "radeon(tm)", "device",
                                                     "gpu",      "unknown", "n/a"};
  const auto is_in = [](const auto& words, const std::string& word) {
    return std::ranges::find(words, word) != words.end();
  };
  std::vector<std::string> words = split_words(lower(name));
  std::erase_if(words, [&](const std::string& word) { return is_in(kVendors, word); });
  if (words.size() == 2 && words[0] == "device") {  // and a PCI device id
    std::string_view id = words[1];
    if (id.starts_with("0x")) id.remove_prefix(2);
    return id.size() == 4 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  }
  return std::ranges::all_of(words, [&](const std::string& word) { return is_in(kGeneric, word); });
}

std::string_view amd_gpu_name(unsigned device_id) {
  const auto* const found = std::ranges::find(kAmdNames, device_id, &PciName::device_id);
  return found == kAmdNames.end() ? std::string_view{} : found->name;
}

Medium xgmi_medium(XgmiGeneration generation) {
  return known_medium(LinkKind::Xgmi, kXgmi.at(static_cast<std::size_t>(generation)),
                      "RCCL: src/graph/topo.h");
}

Medium nvlink_medium(int generation, bool small_links) {
  if (small_links) {
    return known_medium(LinkKind::NvLink,
                        {"NVLink 3 (GA102)", 14.06, 12,
                         "nvidia-smi nvlink -s of GA102 boards: 14.062 GB/s a link"});
  }
  const auto [nominal, nccl] = kNvlink.at(to_size(generation));
  const std::string name = generation == 0 ? "NVLink" : fmt::format("NVLink {}", generation);
  const std::string source = fmt::format(
      "{}: {:g} GB/s a link and direction",
      generation == 0 ? "generation unknown, taken as 2 to 4" : "NVIDIA's figure", nominal);
  return known_medium(LinkKind::NvLink, {name, nominal, nccl, source});
}

double nominal_nvlink_GBps(double reported_GBps) {
  constexpr double kMost = 1.08;
  for (const LinkRate& figures : kNvlink) {
    const double ratio = reported_GBps / figures.nominal_GBps;
    if (ratio <= kMost && ratio >= 1 / kMost) return figures.nominal_GBps;
  }
  return reported_GBps;
}

Medium pcie_medium(int generation, int lanes) {
  const auto [nominal, nccl] = kPcie.at(to_size(generation));
  const std::string name = fmt::format("PCIe {}.0 x{}", generation, lanes);
  return known_medium(LinkKind::Pcie,
                      {name, nominal * lanes, nccl * lanes, "PCI-SIG after line coding"});
}

Medium smp_medium(std::string_view vendor, int model) {
  for (const Processor& processor : kProcessors) {
    if (processor.vendor != vendor || model < processor.model) continue;
    return known_medium(LinkKind::Smp, processor.link);
  }
  return {.name = "socket link", .kind = LinkKind::Smp, .source = "unknown processor, so no limit"};
}

Medium memory_medium() {
  return {.name = "memory", .kind = LinkKind::Memory, .source = "within one processor: no limit"};
}

}  // namespace busbar::topo
