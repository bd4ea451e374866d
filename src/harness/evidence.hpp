// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/host.hpp"
#include "harness/group_plan.hpp"
#include "harness/verifier.hpp"
#include "model/communicator.hpp"
#include "model/row_key.hpp"
#include "stats/stop_rule.hpp"
#include "stats/summary.hpp"

namespace busbar {

/// An exact 95 % interval of a value, and the value.
struct Tail {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// What was measured of a row in one turn, alone and together with others.
struct Turn {
  double alone_us = 0;  ///< mean time of an operation
  double alone_p99_us = 0;
  double together_us = 0;
  double together_p99_us = 0;
  /// @name Passes per second of --load beside, all ranks; 0: it came to a halt, or there is none
  /// @{
  double load_alone = 0;
  double load_together = 0;
  /// @}
};

/// What the ranks of a row found when they measured it, once: its record is made of this and of
/// what was planned. The same on every rank of its group, but for rank_times_us.
struct Evidence {
  /// @name Samples, in the order of time
  /// @{
  std::vector<double> times_us{};
  std::vector<Arrival> arrivals{};                   ///< as ChunkResult's
  std::vector<std::vector<double>> rank_times_us{};  ///< the same
  std::vector<double> start_skews_us{};
  std::vector<double> loads_us{};       ///< per operation of a chunk
  std::vector<double> enqueue_us{};     ///< host time of issuing, per operation of a chunk
  std::vector<double> host_times_us{};  ///< per operation of a whole chunk by the host's clock
  std::vector<Turn> turns{};            ///< of a row together with others
  std::uint64_t operations = 0;
  std::uint64_t warmup_operations = 0;
  std::uint64_t batch = 1;
  bool steady = true;  ///< the last two warm-up windows agreed (or there was no time for two)
  stats::StopReason stop = stats::StopReason::None;
  Disturbances disturbances{};  ///< of all operations, worst rank
  /// @}

  /// @name Results
  /// @{
  std::string skipped{};                 ///< why nothing was measured, else empty
  std::string failed{};                  ///< what ended it early, else empty
  std::optional<double> predicted_us{};  ///< in place of samples; never sent
  std::optional<DataCheck> check{};
  bool checkable = true;        ///< what is received overwrites nothing that is still to be sent
  bool fault_injected = false;  ///< before the check
  LibraryChoice choice{};       ///< on the group's first rank, with --nccl-choice
  std::string finished_at{};
  /// @}

  /// @name What it ran with
  /// @{
  int nodes = 1;
  double connect_s = 0;                ///< that connecting the group took
  Bytes segment_bytes = 0;             ///< of a library call; 0: one call
  bool in_cache = false;               ///< buffers that rotate do not leave the cache
  std::optional<bool> registered{};    ///< on every rank; nothing where there were no buffers
  std::string pages{};                 ///< of the buffers
  std::string device_set{};            ///< SetBound's
  std::string bound_kind{};            ///< the same
  std::optional<double> bound_GBps{};  ///< of this row
  /// @}

  /// @name Of a soak, which is one row on one rank: never sent
  /// @{
  std::optional<stats::Summary> summary{};  ///< of all times; times_us has its intervals' medians
  std::optional<Tail> p999_us{};
  std::vector<std::string> findings{};  ///< what happened, in sentences
  /// @}
};

/// As one text without a line end, and back: every digit is kept.
[[nodiscard]] std::string to_text(const Evidence& evidence);
[[nodiscard]] Evidence parse_evidence(std::string_view text);

/// Of all groups of a round, in their order, on rank 0 of the job; on others nothing that counts.
/// Collective.
[[nodiscard]] std::vector<Evidence> gather_evidence(Bootstrap& world, const GroupPlan& plan,
                                                    std::size_t round, const Evidence& mine);

/// Why a row needs no visit more than these, of which there is one at least; None: it does.
[[nodiscard]] stats::StopReason stop_of(const Options& options, std::span<const Evidence> visits);

}  // namespace busbar
