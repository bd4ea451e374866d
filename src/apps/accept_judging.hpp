// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/accept.hpp"
#include "judge/observation.hpp"
#include "judge/spec/lint.hpp"
#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar {

/// The specification, profile and rules of the options.
[[nodiscard]] judge::Specification parse_specification(
    const AcceptOptions& options, std::vector<std::string>* all_faults = nullptr);
/// The same, and refuses what `accept lint` refuses.
[[nodiscard]] judge::Specification read_specification(const AcceptOptions& options);
/// The findings of `accept lint`.
[[nodiscard]] std::vector<judge::LintFinding> lint_findings(
    const judge::Specification& specification);

/// Judges observations of these nodes, which all must be accounted for; none: the nodes of the
/// specification or of the files.
using Judge = std::function<judge::Acceptance(std::span<const judge::Observation>,
                                              const std::vector<std::string>& nodes)>;
/// Reads the baseline if a rule compares with one. The specification must outlive the result.
[[nodiscard]] Judge judge_by(const judge::Specification& specification,
                             const AcceptOptions& options);

/// Throws Error (Usage) if a file of an output exists already (except Prometheus', which is
/// replaced), or two outputs have one name.
void check_outputs(const AcceptOptions& options);

/// Prints the verdicts, writes the outputs, those without a name into `folder` unless that is
/// empty, and returns the exit status.
[[nodiscard]] Status conclude(judge::Acceptance acceptance, const std::string& seed,
                              const AcceptOptions& options, const std::string& folder,
                              const judge::Specification& specification);

/// "2026-11-21": this day, local.
[[nodiscard]] std::string this_day();

}  // namespace busbar
