// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "judge/judge.hpp"
#include "judge/run/journal.hpp"
#include "judge/run/launch_queue.hpp"

namespace busbar::judge {

struct CampaignRequest {
  const Specification& specification;
  std::vector<std::string> nodes{};
  LaunchSetup setup{};
  std::size_t at_once = 1;  ///< at most this many launches at the same time
  /// Who cannot be reached at first is contacted again after so long, and then once more.
  std::array<Seconds, 2> contact_again{Seconds{2}, Seconds{5}};
  std::uint64_t seed = 0;
  std::optional<double> soak_s{};  ///< in place of the plan turns for so long, of all together
  std::function<bool()> stop{};
  /// What launches so far are judged by.
  std::function<JudgeInput(std::span<const Observation>)> input{};
  /// "3/12 pairs h1+h2 alltoall, launch 2" before a launch begins, and with its result afterwards.
  std::function<void(const std::string& launch, const LaunchResult* result)> note{};
  std::function<void(const std::string& line)> warn{};
  std::function<void()> after_turn{};  ///< of a soak
};

/// Makes all launches of a specification: every node is touched, up to three times, and measured
/// alone before they meet; then reruns, and suspects once more. At last nodes are touched again:
/// each time they report their facts.
class Campaign {
 public:
  Campaign(CampaignRequest request, RunFolder& folder);

  /// False where it was interrupted, or something could not be started. Throws Error (Usage) where
  /// no launch could succeed: every node refuses bad usage, or has a name that is not resolved.
  [[nodiscard]] bool run();
  /// What could not be started, if that ended it.
  [[nodiscard]] const std::optional<std::string>& start_failure() const { return start_failure_; }
  /// Why it ended after its first launches though all went well; empty: it did not.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  [[nodiscard]] bool is_stopped() const;
  [[nodiscard]] const std::vector<Observation>& seen() const { return folder_.journal().lines; }
  void launch(std::span<const LaunchCommands> launches, double timeout_s,
              const LaunchEvents& events);
  void reach();
  void touch(const std::vector<std::string>& nodes) { static_cast<void>(contact(nodes)); }
  /// Records what a contact returned; false where the node does not answer. An interrupted contact
  /// leaves the node as it was.
  bool has_answered(const std::string& node, const LaunchResult& result);
  /// Returns who could not be reached, but may be later.
  [[nodiscard]] std::vector<std::string> contact(const std::vector<std::string>& nodes);
  [[nodiscard]] LaunchResult silence(const std::string& node) const;
  [[nodiscard]] std::vector<std::string> answering(const std::vector<std::string>& nodes) const;
  void run_units(const std::vector<Unit>& units);
  void run_unit(const Unit& unit);
  [[nodiscard]] std::vector<std::string> left() const;
  [[nodiscard]] bool is_broken(const LaunchJob& job);
  void run_pairs(LaunchJob job,
                 const std::function<std::vector<NumberedRound>(const LaunchJob&)>& draw);
  [[nodiscard]] std::vector<NumberedRound> draw(const LaunchJob& job) const;
  void add_silent(LaunchJob job);
  void confirm(const DeviceSetRule& set);
  void announce(const Screening& screening, std::size_t rounds) const;
  void ask();
  /// Without what an earlier run has made, and without nodes that do not answer, which is recorded.
  [[nodiscard]] Unit possible(const Unit& unit);
  void rerun();
  void soak();
  void take_turn(Unit& unit, int round, double seconds);
  void note(std::size_t number, const LaunchJob& job, const LaunchResult* result) const;
  void note_banner(const std::string& nodes, const std::string& line);
  void end(std::size_t number, const LaunchJob& job, LaunchResult result);

  CampaignRequest request_;
  const Specification& specification_;
  RunFolder& folder_;
  std::map<std::string, std::string> silent_{};  ///< nodes that do not answer, and why
  std::set<std::string> breaking_{};             ///< nodes that launches of all hang or crash with
  std::set<std::string> banners_{};              ///< that were reported
  std::optional<std::string> start_failure_{};
  std::string refusal_{};
  bool asked_ = false;  ///< the first launches with rows were seen
  std::size_t begun_ = 0;
  std::size_t planned_ = 0;
};

}  // namespace busbar::judge
