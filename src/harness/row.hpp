// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/chunk.hpp"
#include "harness/load.hpp"
#include "harness/memory_plan.hpp"
#include "harness/run.hpp"
#include "harness/sampler.hpp"
#include "harness/soak.hpp"
#include "harness/verifier.hpp"
#include "model/flag.hpp"
#include "model/row_key.hpp"

namespace busbar {

/// The memory of one size: a large area, which serves in place too, and where the plan goes out of
/// place a small one; each has a part for every slot. "Large" is the larger of what is sent and
/// received.
class RowBuffers {
 public:
  /// Bytes that the buffers of a plan take: the argument of Communicator::reserve.
  [[nodiscard]] static Bytes bytes_of(const SizePlan& plan, Bytes offset);

  /// Data begins `offset` bytes after the parts' page boundaries (-u). Throws Error where there is
  /// not enough memory.
  RowBuffers(Communicator& communicator, const SizePlan& plan, Bytes offset);

  /// Makes the memory known to the library, once every rank has it. Collective.
  void register_buffers();
  /// Communicator::huge_page_share of each area, where it is known.
  [[nodiscard]] std::vector<double> huge_page_shares() const;
  /// The calls of one placement, one per slot, all alike but for their buffers.
  [[nodiscard]] std::vector<Call> calls(Call like, bool in_place) const;
  /// Poisons what these calls receive and do not send.
  void poison_results(bool in_place);

 private:
  /// Where the data of a slot begin in the large (0) or the small (1) area; null without that area.
  [[nodiscard]] std::byte* part(std::size_t area, std::uint64_t slot) const;

  Communicator& communicator_;
  SizePlan plan_;
  Bytes offset_;
  std::array<Bytes, 2> strides_;  // from slot to slot
  std::vector<Buffer> areas_;
};

/// What all sizes of one sweep have in common.
struct SweepKey {
  std::uint64_t cycle = 0;
  std::uint64_t visit = 0;
  std::size_t round = 0;  ///< of the plan
  std::size_t part = 0;   ///< of the table, counted in sweeps
  DataType type = DataType::Float;
  ReduceOp op = ReduceOp::None;
  int root = 0;
  std::optional<Pair> pair{};  ///< of the group's ranks
  std::size_t variant = 0;     ///< number of the value of --vary
  SetBound bound{};
};

/// The sweeps of one cycle in their order: types, operations, roots of that many ranks; of pairs of
/// ranks there, and back.
[[nodiscard]] std::vector<SweepKey> sweeps_of(const Options& options, const Collective& collective,
                                              int ranks);

/// Whether rows are in place, of each that --placement wants.
[[nodiscard]] std::vector<bool> placements_of(Placement placement);

/// The record of a row before anything is measured; `wanted` is the size that was asked for.
[[nodiscard]] Record blank_record(const Collective& collective, const SweepKey& key,
                                  const Footprint& footprint, Bytes wanted, bool in_place);

/// When a row has enough samples.
[[nodiscard]] stats::StopLimits limits_of(const Options& options);

/// Adds a row's statistics to its record: times, interval, bandwidths. `size` of the record is
/// already there; `bus_factor` is of bus_factor_of.
void add_statistics(Record& record, const Samples& samples, double bus_factor);

/// Adds the bandwidths of the record's time, where it has one.
void add_bandwidths(Record& record, double bus_factor);

/// Adds the share of its bound that the record's bus bandwidth is, where it has both.
void add_efficiency(Record& record);

/// Adds the bound of the row's set and the share of it that the row reached, where there is one.
void add_bound(Record& record, const SetBound& bound, const BoundRow& row);

/// Whether issuing an operation takes the host nearly as long as the row's time.
[[nodiscard]] bool is_launch_bound(const Record& record);

/// Runs an operation once, untimed: a library connects, allocates and loads its code at the first
/// operation of a kind. Returns why it refused, or empty; the same on every rank. Throws Error
/// where some ranks of a row refuse what others have begun, which then never ends. Collective.
[[nodiscard]] std::string prime(const RoundGroup& round_group, Communicator& communicator,
                                const Call& call);

/// What the rows of one size are measured with.
struct RowSetup {
  const Run& run;
  SweepKey key;
  const Call& like;  ///< every call of the rows but for its buffers
  const SizePlan& plan;
  std::size_t size = 0;  ///< its number in the sweep
  Verifier& verifier;
  RankLoad& load;
  /// Of a soak, on the rank that writes its row; else empty.
  IntervalReport report_interval{};

  /// Those of the row's variant.
  [[nodiscard]] const Options& options() const {
    return run.variants.empty() ? run.options : run.variants[key.variant];
  }
  /// The same on every rank, idle ones too.
  [[nodiscard]] bool checks(const Record& record) const {
    return run.options.checks > 0 && !has_flag(record, Flag::NotChecked);
  }
  [[nodiscard]] std::uint64_t sent_elements() const {
    return plan.footprint.send / info(like.type).size;
  }
};

/// Measures and checks a row. Its record is of a skipped row, without samples, where a device's
/// library refuses the row's first operation. Collective over the job.
void measure_row(const RowSetup& setup, RowBuffers& buffers, Row& row,
                 const ProgressReport& report);

/// Names who holds up the others in a row: a host of several, and a rank, each where it is last so
/// often that chance does not explain it (find_last). Samples in which the ranks are less
/// than a hundredth of the row's time apart are left out. Pure.
void name_last(Row& row, const RunContext& context);

/// Finds the one that is last far more often than by chance. `last` has the number of the one
/// that was last, sample by sample in their order; `chances` what each one's share would be if none
/// were late, at least one above 0. Its share must be beyond its chance by a binomial test that
/// allows for the number of those tested at once, and beyond the runner-up's by another; both count
/// independent samples only (their autocorrelation). Nothing where none stands out.
[[nodiscard]] std::optional<int> find_last(std::span<const int> last,
                                           std::span<const double> chances);

}  // namespace busbar
