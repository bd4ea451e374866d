// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace busbar {

/// A fact of a run: a line "# key: value" in the head of a file, a member of the JSON's context, a
/// key of a fingerprint. It has one key in all of them.
enum class Fact : std::size_t {
  Busbar,
  Configuration,
  Started,
  Command,
  Hosts,
  Machine,
  Processor,
  Kernel,
  Library,
  LibraryFiles,
  Mpi,
  Bootstrap,
  Compiler,
  LibraryEnvironment,
  TimerCost,
  DeviceSet,
  BoundKind,
  BoundLimit,
  GpusPerNode,
  NicsPerNode,
  Driver,
  Nvls,
  GpudirectRdma,
  Links,
  Channels,
  Simulated,
  System,
  SystemTitle,
  SystemSource,
  Algorithm,
  Flows,
  ProtocolSource,
  Label,
  ImportedFrom,
  Tool,
  Devices,
  Settings,
  Matrix,
  CollectiveFrom,
  Gpu,
  RanksPerNode,
  Count
};

struct FactInfo {
  std::string_view key;
  std::string_view meaning;
};

/// All facts, in the order of the enum. A head also has "rank_0", "rank_1", ...: see RankFact.
[[nodiscard]] const std::array<FactInfo, static_cast<std::size_t>(Fact::Count)>& fact_table();

[[nodiscard]] std::string key(Fact fact);

/// The key of a text that names a fact: "gpus_per_node" of "gpus-per-node", as files of older
/// versions have it; "library" of "nccl" and "ranks_per_node" of "ngpus", as their specifications
/// do.
[[nodiscard]] std::string fact_key(std::string_view text);

}  // namespace busbar
