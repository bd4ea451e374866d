// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"

namespace busbar {

/// What the files of `accept judge` and `accept baseline` are: journals, folders with one, or CSVs.
struct AcceptFiles {
  std::vector<std::string> journals{};
  std::vector<std::string> csvs{};
};
/// Throws Error (Usage) where one is not there.
[[nodiscard]] AcceptFiles sort_files(std::span<const std::string> paths);

/// The profile that the journals were measured by; empty where they do not tell or there is none.
[[nodiscard]] std::string profile_of(const AcceptFiles& files);

/// The only rules that the journals were measured for; empty where one was for all.
[[nodiscard]] std::vector<std::string> rules_of(const AcceptFiles& files);

/// What was measured, and what the files say of it.
struct AcceptMeasurements {
  std::vector<judge::Observation> observations{};
  std::vector<std::string> nodes{};  ///< of the journals
  std::vector<std::string> seeds{};
  std::vector<std::string> notes{};
};
[[nodiscard]] AcceptMeasurements read_files(const AcceptFiles& files,
                                            const judge::Specification& specification);

}  // namespace busbar
