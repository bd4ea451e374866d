// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// What identifies a machine: facts that any of its tools reports. Empty: unknown.
struct MachineIdentity {
  std::vector<std::string> gpus{};  ///< full names, one for each GPU of a host; each may be empty
  /// NVLinks (or xGMI links) between each two GPUs, ascending: 28 times 18 for eight behind
  /// NVSwitches.
  std::optional<std::vector<double>> gpu_links{};
  LinkKind link_kind = LinkKind::NvLink;
  std::size_t switch_pairs = 0;  ///< of GPUs without links, behind one PCIe switch; 0: or unknown
  std::optional<std::size_t> nics{};  ///< of a host; none where none is shown
  std::string vendor{};               ///< of the machine, by DMI: "NVIDIA"
  std::string product{};              ///< by DMI, or a cloud's name of the instance: "p5.48xlarge"
  bool product_given = false;         ///< by the user: no tool reports it
  int nodes = 1;                      ///< that measured together
};

[[nodiscard]] MachineIdentity identity_of(const Graph& graph);  ///< its first host's
/// Adds what the firmware reports: the files sys_vendor and product_name of a folder.
void add_dmi(MachineIdentity& identity, const std::string& folder = "/sys/class/dmi/id");

/// "8 NVIDIA H100 80GB HBM3, NV18 between any two; Supermicro SYS-821GE".
[[nodiscard]] std::string to_text(const MachineIdentity& identity);

/// Whether no source has the name of any GPU, or generic ones only (is_generic_gpu).
[[nodiscard]] bool is_unnamed(const MachineIdentity& identity);

/// Whether two tools mean one GPU: whole names, upper and lower case alike, but for "NVIDIA" or
/// "AMD" before them, which some drivers leave out.
[[nodiscard]] bool same_gpu(std::string_view one, std::string_view other);
/// Whether a GPU's name is the other, or its beginning in whole words: some drivers report "NVIDIA
/// H100" for "NVIDIA H100 80GB HBM3". The whole name of another built-in system's GPU is none.
[[nodiscard]] bool begins_gpu(std::string_view name, std::string_view whole);

/// A built-in system, and where a machine differs from it.
struct SystemMatch {
  std::string system{};
  std::string reason{};                    ///< "by its product name", "by its GPUs and links"
  std::vector<std::string> differences{};  ///< "8 GPUs, here 7"; empty: the machine may be this one
  std::string gpu{};                       ///< the first name of its GPUs
  bool by_product = false;                 ///< by its name or an alias
  bool fewer_nics = false;                 ///< what holds of several hosts may not hold of it
  std::vector<double> gpu_links{};         ///< of the system, as of MachineIdentity
  /// Systems that the machine may be as well; of recognize(). Without `system` it is one of these.
  std::vector<std::string> alternatives{};
};

/// "it may also be a3-megagpu-8g or p5 (the same GPUs, ...)"; empty if it can be no other.
[[nodiscard]] std::string alternatives_text(const SystemMatch& match);

/// "8 GPUs without a name, NV18 between any two: one of dgx-h100, hgx-h200 (by links alone)" of a
/// machine without names: of the systems that it may be, one for each GPU.
[[nodiscard]] std::string candidates_text(const MachineIdentity& identity);

/// The built-in systems that share the machine's product name or GPU, or nearly so, and of GPUs
/// without a name those with as many; the most alike first. Of systems that differ in their network
/// only, the one that others are based on, unless the product's name decides; then those that have
/// no more NICs.
[[nodiscard]] std::vector<SystemMatch> match_systems(const MachineIdentity& identity);

using SystemFilter = std::function<bool(const std::string& system)>;

/// The built-in system that the machine is, of several the one that is the most alike and serves;
/// without a filter any does. Of GPUs without a name there is no one, but those with such links are
/// `alternatives`. Throws Error (Unavailable) that begins with `option` where it is none, and
/// explains the nearest; and where it is one of several with other links between their GPUs.
[[nodiscard]] SystemMatch recognize(const MachineIdentity& identity, std::string_view option,
                                    const SystemFilter& serves = {});

/// The name that stands for the system that this machine is.
inline constexpr std::string_view kAutoSystem = "auto";

/// A system for load_system, and for people why it was taken.
struct WantedSystem {
  std::string name{};
  /// "auto: dgx-h100, by its GPUs: 8 ...", of several nodes with the alternatives; empty where it
  /// was named.
  std::string note{};
};
/// The one that a machine is. Throws as recognize.
[[nodiscard]] WantedSystem wanted_system(const MachineIdentity& identity,
                                         const SystemFilter& serves = {});
/// The system of this name; of kAutoSystem the one that this machine is. Throws as recognize.
[[nodiscard]] WantedSystem wanted_system(const std::string& name,
                                         const std::string& nvidia_smi = "nvidia-smi",
                                         const SystemFilter& serves = {});

}  // namespace busbar::topo
