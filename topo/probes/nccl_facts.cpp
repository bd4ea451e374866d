// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/nccl_facts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "topo/locality.hpp"

namespace busbar::topo {
namespace {

/// Less than any slot of a GPU carries, PCIe 2.0 x4: such a speed is a hypervisor's invention. In
/// GB/s.
constexpr double kNonsenseSpeed = 1.0;

struct Speed {
  std::string_view gigatransfers;
  double lane_GBps;  ///< after line coding, per direction
  int nccl;          ///< kvDictPciGen of src/graph/topo.cc: units of 100 Mb/s
};
/// Generations 1 to 6. 8b/10b to 5 GT/s, 128b/130b to 32 GT/s, 242/256 of the flits at 64 GT/s.
constexpr std::array<Speed, 6> kSpeeds{{{"2.5", 0.25, 15},
                                        {"5", 0.5, 30},
                                        {"8", 8.0 / 8 * 128 / 130, 60},
                                        {"16", 16.0 / 8 * 128 / 130, 120},
                                        {"32", 32.0 / 8 * 128 / 130, 240},
                                        {"64", 64.0 / 8 * 242 / 256, 480}}};
constexpr int kDefaultGeneration = 3;
constexpr int kDefaultWidth = 16;

const GpuFact* find_gpu(const HostTree& tree, const std::string& bus_id) {
  const auto found = std::find_if(tree.gpus.begin(), tree.gpus.end(),
                                  [&](const GpuFact& gpu) { return gpu.bus_id == bus_id; });
  return found == tree.gpus.end() ? nullptr : &*found;
}

/// Links that a GPU tells to another; -1 where it tells of no NVLink at all.
int told_links(const HostTree& tree, const std::string& from, const std::string& to) {
  int links = -1;
  for (const NvlinkEnd& end : tree.nvlinks) {
    if (end.from != from) continue;
    links = std::max(links, 0);
    if (end.to == to) links = end.count;
  }
  return links;
}

void check_ends(HostTree& tree) {
  for (const NvlinkEnd& end : tree.nvlinks) {
    if (end.kind != NvlinkKind::Gpu || end.from >= end.to) continue;
    const int back = told_links(tree, end.to, end.from);
    if (find_gpu(tree, end.to) == nullptr || back < 0 || back == end.count) continue;
    tree.warnings.push_back(fmt::format("{} tells {} to {}, which tells {} back", end.from,
                                        counted(static_cast<std::size_t>(end.count), "NVLink"),
                                        end.to, back));
  }
}

void mark_endless(HostTree& tree) {
  for (NvlinkEnd& end : tree.nvlinks) {
    const bool itself = end.to == end.from;
    if (!itself && end.to != "0000:00:00.0") continue;
    end.kind = NvlinkKind::Unknown;
    tree.warnings.push_back(fmt::format("{} of {} end at {}: where they lead is not known",
                                        counted(static_cast<std::size_t>(end.count), "NVLink"),
                                        end.from, itself ? "itself" : end.to));
  }
}

/// Cloud providers invent switches with addresses that no hardware has; hypervisors, slow links.
void look_for_hypervisor(HostTree& tree) {
  const auto invented = [](const PciObject& pci) {
    return pci.kind == PciKind::Switch && pci.bus_id.starts_with("ffff:ff:");
  };
  const auto nonsense = [](const PciObject& pci) {
    return pci.kind == PciKind::Gpu && pci.parent < 0 && pci.link_GBps > 0 &&
           pci.link_GBps < kNonsenseSpeed;
  };
  const bool has_invented = std::any_of(tree.pci.begin(), tree.pci.end(), invented);
  if (!has_invented && std::none_of(tree.pci.begin(), tree.pci.end(), nonsense)) return;
  tree.virtual_machine = true;
  tree.warnings.emplace_back(
      has_invented
          ? "a virtual machine: its PCIe switches are what the provider wrote, not what was probed"
          : "a virtual machine: PCIe paths may be flattened, and the links' speeds are invented");
}

/// Skeletons of some providers say nothing of a device but its address.
void count_classless(HostTree& tree) {
  const auto classless = [](const PciObject& pci) {
    return pci.kind == PciKind::Other && pci.class_code == 0;
  };
  const auto number = std::count_if(tree.pci.begin(), tree.pci.end(), classless);
  if (number == 0) return;
  const auto first = std::find_if(tree.pci.begin(), tree.pci.end(), classless);
  tree.warnings.push_back(
      fmt::format("{} without a class, {} first: what they are, only NCCL on that machine knows",
                  counted(static_cast<std::size_t>(number), "device"), first->bus_id));
}

}  // namespace

std::optional<std::string> cpus_of_mask(std::string_view mask) {
  if (mask.empty()) return std::string{};
  constexpr int kBits = 32;
  constexpr std::size_t kMostWords = 2048;  // more than any machine has processors
  const std::vector<std::string> words = split(mask, ',');
  if (words.size() > kMostWords) return std::nullopt;
  std::vector<int> cpus;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[words.size() - 1 - i];  // the highest word comes first
    std::string_view digits = word;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    unsigned value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    const bool number = error == std::errc{} && end == digits.data() + digits.size();
    if (!number && !word.empty()) return std::nullopt;
    for (int bit = 0; bit < kBits; ++bit) {
      if (((value >> static_cast<unsigned>(bit)) & 1U) != 0) {
        cpus.push_back(kBits * static_cast<int>(i) + bit);
      }
    }
  }
  return format_ranges(cpus);
}

std::optional<int> pcie_generation(std::string_view speed) {
  std::string_view number = trim(speed);
  if (number.empty() || number.starts_with("Unknown")) return 0;
  const std::size_t blank = number.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const std::string_view unit = number.substr(blank + 1);
  if (unit != "GT/s" && unit != "GT/s PCIe") return std::nullopt;
  number = number.substr(0, blank);
  if (number.ends_with(".0")) number.remove_suffix(2);
  for (std::size_t i = 0; i < kSpeeds.size(); ++i) {
    if (kSpeeds.at(i).gigatransfers == number) return static_cast<int>(i) + 1;
  }
  return std::nullopt;
}

void set_link_speeds(PciObject& pci) {
  const int generation = pci.generation == 0 ? kDefaultGeneration : pci.generation;
  const int width = pci.width == 0 ? kDefaultWidth : pci.width;
  const Speed& speed = kSpeeds.at(static_cast<std::size_t>(generation) - 1);
  pci.nccl_GBps = width * speed.nccl / 80.0;
  if (pci.generation > 0 && pci.width > 0) pci.link_GBps = width * speed.lane_GBps;
}

PciKind nccl_kind(const PciObject& pci, const Inside& inside) {
  constexpr unsigned kNvidia = 0x10de;
  const bool nvidia = pci.vendor_id == 0 || pci.vendor_id == kNvidia;
  if (inside.gpu) return PciKind::Gpu;
  if (inside.pci || pci.class_code == 0x0604) return PciKind::Switch;
  if (inside.nic || pci.class_code >> 8U == 0x02) return PciKind::Nic;
  if (nvidia && (pci.class_code == 0x0302 || pci.class_code == 0x0300)) return PciKind::Gpu;
  if (nvidia && pci.class_code == 0x0680) return PciKind::NvSwitch;
  return PciKind::Other;
}

NvlinkKind nvlink_kind(unsigned target_class) {
  if (target_class >> 8U == 0x0302 || target_class >> 8U == 0x0300) return NvlinkKind::Gpu;
  if (target_class == 0x068000) return NvlinkKind::NvSwitch;
  if (target_class == 0x068001) return NvlinkKind::PowerBridge;
  return NvlinkKind::Unknown;
}

void finish_nccl_tree(HostTree& tree) {
  count_classless(tree);
  mark_endless(tree);
  check_ends(tree);
  look_for_hypervisor(tree);
}

}  // namespace busbar::topo
