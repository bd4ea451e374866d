// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/mix_spec.hpp"
#include "harness/outputs.hpp"
#include "harness/row.hpp"
#include "harness/run.hpp"
#include "harness/verifier.hpp"

namespace busbar {

/// --mix: at each visit a window of each group alone and one of all groups together; a row of each
/// group in each state.
class MixRunner {
 public:
  /// Keeps what it connects until it goes: after a device's failure giving it back may block.
  explicit MixRunner(const std::vector<MixGroup>& groups) {
    for (const MixGroup& group : groups) groups_.push_back({group});
  }

  /// Throws on all ranks where one cannot take part. `run` is of all ranks as one group.
  /// Collective.
  void connect(const Run& run);
  /// Once they are connected. Collective.
  void run(const Run& run, Outputs& outputs);

 private:
  enum State : std::size_t { Alone, Together };

  /// What a group measured in a state; the same on every rank.
  struct GroupState {
    double time_us = 0;  ///< median of the last window
    std::vector<std::vector<double>> visits_us{};
    std::optional<DataCheck> check{};
    bool fault_injected = false;
  };
  struct Group : MixGroup {
    /// @name The same on every rank
    /// @{
    Footprint footprint{};
    int nodes = 1;
    std::string hosts{};
    double connect_s = 0;
    std::array<GroupState, 2> states{};
    GroupPace pace{};  ///< of the window; no operations of a group that is not at work
    /// @}

    /// @name As this rank is in it: what was made last goes first
    /// @{
    std::unique_ptr<Bootstrap> members{};          ///< of this rank's set
    std::unique_ptr<Communicator> communicator{};  ///< null: this rank is not in the group
    std::optional<RowBuffers> buffers{};
    std::optional<Verifier> verifier{};
    Call call{};
    std::size_t set = 0;
    /// @}

    /// @name Within a window
    /// @{
    GroupTimes times{};  ///< of this rank, then of all
    bool running = false;
    std::uint64_t operation = 0;  ///< the last that began
    Clock::time_point began{};    ///< it
    Clock::time_point due{};      ///< the next
    /// @}
  };
  /// Which groups are at work.
  using Window = std::vector<Group*>;

  void connect(const Run& run, Group& group);
  /// This rank's buffers and call; why there are none, or empty.
  [[nodiscard]] std::string prepare(const Run& run, Group& group);
  /// Times of the groups of a window while all of them were at work. Collective.
  std::vector<std::vector<double>> measure(const Run& run, const Window& window, State state,
                                           const std::string& what);
  void measure_visit(const Run& run, const Window& window, State state, std::uint64_t visit);
  void issue(const Run& run);
  /// Notes the times of what is complete. Returns whether anything ran.
  bool end_complete(Clock::time_point begin);
  void check_results(const Run& run, State state);
  [[nodiscard]] static Row row_of(const Run& run, const Group& group, State state);
  void write(const Run& run, Outputs& outputs) const;

  std::vector<Group> groups_{};
};

}  // namespace busbar
