// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace busbar {

/// A fact of a run: a line "# key: value" in the head of a file, a member of the JSON's context, a
/// key of a fingerprint. A head also has "rank_0", "rank_1", ...: see RankFact.
struct Fact {
  std::string_view key;
  std::string_view meaning;
};

namespace fact {
inline constexpr Fact kBusbar{"busbar", "version"};
inline constexpr Fact kConfiguration{"configuration",
                                     "settings that rows depend on; `--resume` needs the same"};
inline constexpr Fact kStarted{"started", "local time"};
inline constexpr Fact kCommand{"command", "as it was typed"};
inline constexpr Fact kHosts{"hosts", "names"};
inline constexpr Fact kMachine{"machine", "as its firmware names it"};
inline constexpr Fact kProcessor{"processor", "model"};
inline constexpr Fact kKernel{"kernel", "release"};
inline constexpr Fact kLibrary{"library", "and its version"};
inline constexpr Fact kLibraryFiles{"library_files", "that were opened"};
inline constexpr Fact kMpi{"mpi", "library that joined the ranks"};
inline constexpr Fact kBootstrap{"bootstrap", "how they were joined without MPI"};
inline constexpr Fact kCompiler{"compiler", "of the program"};
inline constexpr Fact kLibraryEnvironment{"environment", "variables that libraries read"};
inline constexpr Fact kTimerCost{"timer_cost_ns", "of reading the clock"};
inline constexpr Fact kConnectTime{"connect_s", "seconds that connecting took on the slowest rank"};
inline constexpr Fact kDeviceSet{"device_set", "devices or cores"};
inline constexpr Fact kBoundKind{"bound_kind", "kind of links of the bound"};
inline constexpr Fact kBoundLimit{"bound_limit", "its bottleneck"};
inline constexpr Fact kGpusPerNode{"gpus_per_node", "of the host, not of the run"};
inline constexpr Fact kNicsPerNode{"nics_per_node", "that carry RDMA"};
inline constexpr Fact kDriver{"driver", "version of NVIDIA's"};
inline constexpr Fact kNvls{"nccl_nvls", "yes, no or unknown"};
inline constexpr Fact kGpudirectRdma{
    "nccl_gpudirect_rdma",
    "the same; of imported logs, whether all connections over a network use it, and how many do"};
inline constexpr Fact kLinks{"nccl_links", "transports that NCCL took"};
inline constexpr Fact kChannels{"nccl_channels", "their numbers"};
inline constexpr Fact kNetwork{"nccl_network", "NCCL's network and its adapters, or its plugin"};
inline constexpr Fact kNcclInit{"nccl_init", "seconds of NCCL's own start, of its slowest rank"};
inline constexpr Fact kSimulated{"simulated", "yes: predicted, not measured"};
inline constexpr Fact kSystem{"system", "name of its file"};
inline constexpr Fact kSystemTitle{"system_title", "for people"};
inline constexpr Fact kSystemSource{"system_source", "of its figures"};
inline constexpr Fact kAlgorithm{"algorithm", "of a prediction"};
inline constexpr Fact kFlows{"flows", "between two hosts"};
inline constexpr Fact kProtocolSource{"protocol_source", "of the constants"};
inline constexpr Fact kLabel{"label", "for plots"};
inline constexpr Fact kImportedFrom{"imported_from", "the log"};
inline constexpr Fact kTool{"tool", "that wrote it"};
inline constexpr Fact kDevices{"devices", "as the log lists them"};
inline constexpr Fact kSettings{"settings", "of the log's run"};
inline constexpr Fact kMatrix{"matrix", "of pairs"};
inline constexpr Fact kCollectiveFrom{"collective_from", "how it was recognized"};
inline constexpr Fact kGpu{"gpu", "names, of the ranks or the log"};
}  // namespace fact

/// All of them, for documents.
[[nodiscard]] std::span<const Fact> fact_table();

/// The key of a text that names a fact, also as files and specifications of older versions do:
/// "gpus_per_node" of "gpus-per-node", "library" of "nccl" and "nccl_links" of "transport".
[[nodiscard]] std::string fact_key(std::string_view text);

[[nodiscard]] inline std::string key(const Fact& fact) { return std::string(fact.key); }

/// The GPU of a rank, as a run's header names it.
struct RankGpu {
  int index = 0;
  std::string bus{};   ///< "0000:07:00.0"
  std::string uuid{};  ///< "GPU-..."
  std::string name{};  ///< "NVIDIA H200"
};

/// What a run's header reports of one rank, in the line "# rank-0: ...".
struct RankFact {
  std::string host{};
  int node = 0;
  int numa = -1;  ///< -1: unknown
  int core = -1;  ///< -1: not bound to one
  int processors = 0;
  std::optional<int> group{};
  std::optional<RankGpu> gpu{};
};

/// "host h1 node 0 numa 0 core 3 processors 8 device 0 bus 0000:07:00.0 uuid GPU-1 name NVIDIA
/// H200".
[[nodiscard]] std::string rank_fact_text(const RankFact& fact);
/// Reads that text; what is missing keeps its default.
[[nodiscard]] RankFact parse_rank_fact(std::string_view text);

}  // namespace busbar
