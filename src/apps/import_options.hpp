// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "study/import/log_reader.hpp"
#include "study/import/log_records.hpp"

namespace busbar {

/// Logs that become one CSV.
struct ImportTarget {
  std::string file{};
  std::string system{};  ///< for the head: a label for people
  std::vector<std::string> logs{};
};

/// What `busbar import` was asked for; values only.
struct ImportOptions {
  bool help = false;
  std::vector<ImportTarget> targets{};
  std::string folder{};  ///< of all targets, where -o names one
  study::LogHints hints{};
  study::LogReading reading{};
};

/// Reads what follows `busbar import`. Throws a usage error of one line.
[[nodiscard]] ImportOptions parse_import_options(std::span<char* const> arguments);

}  // namespace busbar
