// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

#include "harness/options.hpp"

namespace busbar {

/// One option of the command line: how it is spelled, and how its value becomes part of Options.
struct OptionSpec {
  std::string_view names;  ///< "-b,--minbytes": the first is used in messages
  bool takes_value;
  /// Throws a usage error for a value that it does not understand.
  void (*apply)(Options& options, std::string_view name, std::string_view value);
};

/// All options but -h and --version.
[[nodiscard]] std::span<const OptionSpec> option_specs();

/// Why an option of nccl-tests is not one of ours, or empty for one that nobody knows.
[[nodiscard]] std::string_view foreign_option_hint(std::string_view option);

}  // namespace busbar
