// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"
#include "machine/host_window.hpp"
#include "model/host_levels.hpp"

namespace busbar::judge {

struct RunJournal;

struct JudgeInput {
  const Specification& specification;
  std::span<const Observation> observations;
  const RunJournal* baseline = nullptr;  ///< the earlier run; none where no rule compares with one
  std::string today{};                   ///< "2026-11-21": known issues
  std::vector<std::string> nodes{};      ///< all that must be accounted for
  const HostLevels* levels = nullptr;    ///< where they are in the fabric; none: nothing is known
  bool soak = false;                     ///< launches are turns of a soak, and judged as such
  const machine::HostWindows* machines = nullptr;  ///< facts of nodes; none were read
  Facts assumed{};  ///< facts of the fingerprint that files do not report

  /// Where these hosts are in the fabric, as far as it is known.
  [[nodiscard]] std::vector<NodePath> paths_of(const std::vector<std::string>& hosts) const {
    return levels != nullptr ? levels->paths_of(hosts) : std::vector<NodePath>(hosts.size());
  }
};

/// Results in the order: wrong data FAIL; no data or timeout ERROR; too few launches or noise
/// INCONCLUSIVE; oversubscribed, simulated or fake INCONCLUSIVE; bounds FAIL, WARN, PASS; not
/// applicable SKIP. A rule's instance without observations is an ERROR, never left out.
[[nodiscard]] Acceptance judge_all(const JudgeInput& given);

/// @name Parts of it
/// @{
/// A result of every rule of facts and node. What no reading has is an ERROR; without any a SKIP.
[[nodiscard]] std::vector<CheckResult> judge_facts(const JudgeInput& input);
/// Adds to suspects what their nodes' facts report: "h2: eth0: carrier changes +2; PCIe ...".
void add_fact_evidence(std::vector<Suspect>& suspects, const machine::HostWindows& machines);
/// A result for each limit of [soak], instance and collective, whose turns are one timeline, of
/// `soak-wrong` and `soak-launches` always; INCONCLUSIVE where a run is too short for a method.
/// What happened without a limit is in the notes and the picture, of the worst.
void judge_soak(const JudgeInput& input, Acceptance& acceptance);
/// @}

}  // namespace busbar::judge
