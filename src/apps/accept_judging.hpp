// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/accept_options.hpp"
#include "base/error.hpp"
#include "judge/judge.hpp"
#include "judge/spec/lint.hpp"

namespace busbar {

/// A specification with all that judging needs beside measurements: the same for a run and for
/// files.
class AcceptJudging {
 public:
  /// Reads the baseline where a rule compares with one.
  AcceptJudging(judge::Specification specification, std::map<std::string, std::string> assumed);

  [[nodiscard]] const judge::Specification& specification() const { return specification_; }
  /// `nodes` are all that must be accounted for; none: those of the specification or of the files.
  [[nodiscard]] judge::Acceptance judge(std::span<const judge::Observation> observations,
                                        const std::vector<std::string>& nodes) const;

 private:
  judge::Specification specification_;
  std::map<std::string, std::string> assumed_;
  std::optional<judge::Baseline> baseline_{};
};

/// Prints the verdicts, writes the outputs that are wanted, and says how to exit.
[[nodiscard]] Status conclude(judge::Acceptance acceptance, const std::string& seed,
                              const AcceptOptions& options, const AcceptOutputs& outputs,
                              const judge::Specification& specification);

/// "2026-11-21": this day, local.
[[nodiscard]] std::string this_day();

/// The specification that words on the command line mean.
struct SpecificationSource {
  std::string path{};  ///< for messages; relative paths begin at its folder
  std::string text{};
};
/// A file, or a ready-made specification by its name. Throws Error (Usage).
[[nodiscard]] SpecificationSource find_specification(const std::string& name);
/// Reads it; what cannot mean what it says is refused as `accept lint` does. `rules` are the ids of
/// the only ones that count; empty: all of the profile.
[[nodiscard]] judge::Specification read_specification(const SpecificationSource& source,
                                                      const std::string& profile,
                                                      const std::vector<std::string>& rules);
/// What `accept lint` says of it.
[[nodiscard]] std::vector<judge::LintFinding> lint_findings(
    const judge::Specification& specification);

}  // namespace busbar
