// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "machine/machine_fact.hpp"

namespace busbar::machine {

/// A fact's name and the instance: "net.speed", "eth0"; "" for the whole machine.
using FactKey = std::pair<std::string, std::string>;

/// A value as text; without one the reason: "Permission denied".
struct FactValue {
  std::string text{};
  std::string reason{};
  [[nodiscard]] bool operator==(const FactValue&) const = default;
};

/// What one host reports at one moment.
struct HostReading {
  std::string host{};
  std::string at{};  ///< "2026-11-26 02:14:05.042": readings differ in it
  std::map<FactKey, FactValue> values{};

  /// The text of a value, or empty.
  [[nodiscard]] std::string text(const FactKey& key) const;
};

/// Reads all facts below `root`: empty, or a folder with a captured tree, which without a host's
/// name has its path as name. `nvidia_smi` is a program; empty: it is not asked. What a machine
/// does not have is left out; what cannot be read has a reason.
[[nodiscard]] HostReading read_host(const std::string& root, const std::string& nvidia_smi);

/// Whether an interface leads at most to this host's own containers and virtual machines.
[[nodiscard]] bool is_virtual_interface(std::string_view name);

/// The columns of nvidia-smi --query-gpu that facts are, as one list.
[[nodiscard]] Words smi_columns();
/// Adds the values of nvidia-smi's CSV (noheader, nounits; the GPU's number first) to a reading.
void add_smi_query(std::string_view csv, const Words& columns, HostReading& reading);
/// Adds "Link 0: Replay Errors: 0" of nvidia-smi nvlink -e, as sums of a GPU's links.
void add_nvlink_errors(std::string_view text, HostReading& reading);
/// Adds "nvidia-smi nvlink -s". Throws Error (Usage) where the text is damaged.
void add_nvlink_status(std::string_view text, HostReading& reading);
/// Adds the lines of the kernel's log ("6,1234,5678901,-;mlx5_core ...") that are about devices,
/// the last 50 of them. The instance is the line's number.
void add_kernel_log(std::string_view text, HostReading& reading);

}  // namespace busbar::machine
