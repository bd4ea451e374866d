// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "study/import/log_reader.hpp"
#include "study/import/log_records.hpp"

namespace busbar {

/// What `busbar import` was asked for; values only.
struct ImportOptions {
  bool help = false;
  std::vector<std::string> logs{};
  std::string out{};
  std::string system{};  ///< for the head: a label for people
  study::LogHints hints{};
  study::LogReading reading{};
};

/// Reads what follows `busbar import`. Throws a usage error of one line.
[[nodiscard]] ImportOptions parse_import_options(std::span<char* const> arguments);

}  // namespace busbar
