// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/accept.hpp"
#include "base/error.hpp"
#include "judge/judge.hpp"
#include "judge/observation.hpp"
#include "judge/spec/lint.hpp"
#include "judge/spec/source.hpp"
#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar {

/// Files of `accept judge` and `accept baseline`.
struct AcceptFiles {
  std::vector<std::string> journals{};
  std::vector<std::string> csvs{};
};
/// Sorts journals, folders with a journal, and CSVs. Throws Error (Usage) for a missing one.
[[nodiscard]] AcceptFiles sort_files(std::span<const std::string> paths);

/// The profile that the journals were measured by; empty if it is unknown or there is none.
[[nodiscard]] std::string profile_of(const AcceptFiles& files);

/// The only rules that the journals were measured for; empty if one was for all.
[[nodiscard]] std::vector<std::string> rules_of(const AcceptFiles& files);

/// What was measured.
struct AcceptMeasurements {
  std::vector<judge::Observation> observations{};
  std::vector<std::string> nodes{};  ///< of the journals
  std::vector<std::string> seeds{};
  std::vector<std::string> notes{};
};
[[nodiscard]] AcceptMeasurements read_files(const AcceptFiles& files,
                                            const judge::Specification& specification);

/// Puts those that are not named into a folder.
[[nodiscard]] AcceptOutputs outputs_in(const std::string& folder, AcceptOutputs named);

/// Throws Error (Usage) if a file exists already (except Prometheus', which is replaced), or two
/// outputs have one name.
void check_outputs(const AcceptOutputs& outputs);

/// A specification with what judging needs in addition to measurements; the same for a run and for
/// files.
class AcceptJudging {
 public:
  /// Reads the baseline if a rule compares with one.
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

/// Prints the verdicts, writes the outputs and returns the exit status.
[[nodiscard]] Status conclude(judge::Acceptance acceptance, const std::string& seed,
                              const AcceptOptions& options, const AcceptOutputs& outputs,
                              const judge::Specification& specification);

/// "2026-11-21": this day, local.
[[nodiscard]] std::string this_day();

/// Reads it, and refuses what `accept lint` refuses. `rules` are the ids of
/// the only ones that count; empty: all of the profile.
[[nodiscard]] judge::Specification read_specification(const judge::SpecificationSource& source,
                                                      const std::string& profile,
                                                      const std::vector<std::string>& rules);
/// The findings of `accept lint`.
[[nodiscard]] std::vector<judge::LintFinding> lint_findings(
    const judge::Specification& specification);

}  // namespace busbar
