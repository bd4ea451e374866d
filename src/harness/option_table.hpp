// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "harness/options.hpp"

namespace busbar {

/// All options of *_perf.
[[nodiscard]] const CommandLineTable<Options>& perf_options();

/// Sets the option of this long name, without its dashes, to a value; throws a usage error. False
/// where it is none that each row can have a value of its own of.
[[nodiscard]] bool vary_option(Options& options, std::string_view name, std::string_view value);

/// What only some runs have a use for; an option may be of several.
inline constexpr unsigned kSimulated = 1;
inline constexpr unsigned kMeasured = 2;
inline constexpr unsigned kDevice = 4;
inline constexpr unsigned kHost = 8;

/// Refuses the first option of these scopes that was given; throws a usage error: "-G" and the
/// problem.
void refuse_options(const Options& options, unsigned scope, std::string_view problem);

/// A setting of a run that rows or ranks depend on.
struct Setting {
  std::string_view key{};  ///< in the configuration of files; empty: no row depends on it
  std::string value{};
  std::string words{};  ///< as on a command line, "-n 5" or "no -T"; empty: ranks may differ in it
};

/// All of them, in the order of the table.
[[nodiscard]] std::vector<Setting> settings_of(const Options& options);

}  // namespace busbar
